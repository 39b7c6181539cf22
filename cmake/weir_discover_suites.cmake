# Read by CTest, before it runs anything: registers the tests of a program, one case per suite.

# weir_add_suites(<prefix> <program>)
#
# A suite of which every test is skipped counts as skipped.
function(weir_add_suites prefix program)
  execute_process(
    COMMAND ${program} --gtest_list_tests
    TIMEOUT 60
    OUTPUT_VARIABLE output
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} does not list its tests: ${result}\n${output}")
  endif()
  set(skipped "\\[  SKIPPED \\]")
  # A suite starts its line, a test is indented: `Engines/StoreTest.`, `EngineTest/0.  # TypeParam`.
  string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\. *(#|\n)" lines "${output}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "[^A-Za-z0-9_/]" "" suite "${line}")
    add_test(${prefix}${suite} ${program} --gtest_filter=${suite}.*)
    set_tests_properties(
      ${prefix}${suite}
      PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION
                             "\\[  PASSED  \\] 0 tests\\.\n(${skipped} [^\n]*\n)+$")
  endforeach()
endfunction()
