# Read by CTest, before it runs anything: registers the tests of a program, one case per suite.

cmake_minimum_required(VERSION 3.25)

# A case of which every test is skipped counts as skipped.
function(weir_add_case name program filter cost)
  set(skipped "\\[  SKIPPED \\]")
  add_test(${name} ${program} --gtest_filter=${filter})
  set_tests_properties(
    ${name} PROPERTIES COST ${cost} TIMEOUT 600
                       SKIP_REGULAR_EXPRESSION
                       "\\[  PASSED  \\] 0 tests\\.\n(${skipped} [^\n]*\n)+$")
endfunction()

# weir_add_suites(<prefix> <program> <cost> [<long suite>...])
#
# Of the suites that take long each test is a case, of that cost.
function(weir_add_suites prefix program cost)
  execute_process(
    COMMAND ${program} --gtest_list_tests
    TIMEOUT 60
    OUTPUT_VARIABLE output
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} does not list its tests: ${result}\n${output}")
  endif()
  # A suite starts its line, a test is indented; behind a # are the types and values of both.
  string(REGEX REPLACE " *#[^\n]*" "" output "${output}")
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([A-Za-z0-9_/]+)\\.$")
      set(suite ${CMAKE_MATCH_1})
      if(NOT suite IN_LIST ARGN)
        weir_add_case(${prefix}${suite} ${program} ${suite}.* 0)
      endif()
    elseif(line MATCHES "^  ([^ ]+)$" AND suite IN_LIST ARGN)
      set(test ${suite}.${CMAKE_MATCH_1})
      weir_add_case(${prefix}${test} ${program} ${test} ${cost})
    endif()
  endforeach()
endfunction()
