# What only Weir's own developers build: tests, samples and benchmarks, and how to build them fast.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Paths in messages and debug information are relative to the source root, whether the compiler sees
# them absolute or, through ccache, relative to the build tree. Where headers are precompiled, ccache
# serves a clone only with what it compiled itself: they hold the paths that they were found by. The
# presets that build everything anew do without, and share what any clone compiled.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR}
           OUTPUT_VARIABLE source_from_build)
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}=.
  -ffile-prefix-map=${WEIR_INCLUDE_DIR}/weir/= -ffile-prefix-map=${source_from_build}/=
  -ffile-prefix-map=include/weir/=)

find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros ${WEIR_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without it every precompiled header differs, and ccache never hits.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)

if(WEIR_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  # CTest begins with what costs most: otherwise one core would wait for the other in the end.
  set(WEIR_COST_LONG 100)
endif()

# weir_precompile(<target>... [LIKE <target>] [HEADERS <header>...])
#
# Compiles the headers once for all sources of each target, or takes what was compiled for the
# target LIKE, which must have the same flags. Sources include what they use all the same: only the
# preset `release` precompiles, and a project that adds Weir as a subdirectory does not.
function(weir_precompile)
  cmake_parse_arguments(PARSE_ARGV 0 precompile "" "LIKE" "HEADERS")
  foreach(target IN LISTS precompile_UNPARSED_ARGUMENTS)
    if(precompile_LIKE)
      target_precompile_headers(${target} REUSE_FROM ${precompile_LIKE})
    elseif(precompile_HEADERS)
      target_precompile_headers(${target} PRIVATE ${precompile_HEADERS})
    endif()
  endforeach()
endfunction()

# weir_compile_tests(<target> [PRECOMPILE <header>...])
#
# How tests are compiled: most of that is headers, and little of their run depends on optimisation.
# The presets that build everything anew do without it, which takes half the time.
function(weir_compile_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "" "PRECOMPILE")
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # see weir_join_tests()
  target_precompile_headers(${target} PRIVATE <gtest/gtest.h> ${tests_PRECOMPILE})
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# weir_optimise_tests(<target>...)
#
# For tests that compute for long: they would take longer than the compiler saves.
function(weir_optimise_tests)
  if(CMAKE_UNITY_BUILD)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O1)
    endforeach()
  endif()
endfunction()

# weir_compile_briefly(<target>... [SANITIZED])
#
# For what waits more than it computes: the presets that build everything anew do not optimise it,
# or only those with sanitizers. The optimiser takes more than half of its compilation, and two
# thirds with the instrumentation of the address sanitizer.
function(weir_compile_briefly)
  cmake_parse_arguments(PARSE_ARGV 0 brief "SANITIZED" "" "")
  if(NOT CMAKE_UNITY_BUILD OR (brief_SANITIZED AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug"))
    return()
  endif()
  foreach(target IN LISTS brief_UNPARSED_ARGUMENTS)
    target_compile_options(${target} PRIVATE -O0)
  endforeach()
endfunction()

# weir_compile_program(<target>)
#
# How samples and benchmarks are compiled: with what all of them include compiled once.
function(weir_compile_program target)
  if(NOT TARGET weir_program_headers)
    file(CONFIGURE OUTPUT program_headers.cpp CONTENT "")
    add_library(weir_program_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/program_headers.cpp)
    target_link_libraries(weir_program_headers PRIVATE weir::runtime)
    weir_compile_briefly(weir_program_headers)
    weir_precompile(weir_program_headers HEADERS <algorithm> <weir/runtime/actor_system.hpp>)
  endif()
  weir_compile_briefly(${target})
  weir_precompile(${target} LIKE weir_program_headers)
endfunction()

# weir_join_tests(<out> <source>...)
#
# Sets <out> to sources that together contain those given, several in each: what a unity build does,
# but the tests may define the same names.
function(weir_join_tests out)
  set(sources ${ARGN})
  set(joined "")
  set(script ${PROJECT_SOURCE_DIR}/scripts/join_tests.py)
  while(sources)
    list(SUBLIST sources 0 ${CMAKE_UNITY_BUILD_BATCH_SIZE} batch)
    list(GET batch 0 first)
    cmake_path(GET first FILENAME first)
    list(REMOVE_ITEM sources ${batch})
    list(TRANSFORM batch PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/joined_${first})
    add_custom_command(
      OUTPUT ${output}
      COMMAND Python3::Interpreter ${script} ${output} ${batch}
      DEPENDS ${script} ${batch}
      VERBATIM)
    list(APPEND joined ${output})
  endwhile()
  set(${out} ${joined} PARENT_SCOPE)
endfunction()

# weir_discover_tests(<target> PREFIX <prefix> [LONG <suite>...])
#
# Each TEST of the target becomes one CTest case, with a process of its own. Where CTest runs with
# WEIR_TEST_BY_SUITE in its environment, each suite is one instead: under the sanitizers most tests
# take less time than a process does to begin and to end. But for LONG suites.
function(weir_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "PREFIX" "LONG")
  list(JOIN tests_LONG " " long)
  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${tests_PREFIX}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300)
  get_property(included DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(POP_BACK included by_test)
  set(chosen ${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake)
  set(script ${PROJECT_SOURCE_DIR}/cmake/weir_discover_suites.cmake)
  file(GENERATE OUTPUT ${chosen} CONTENT "\
if(DEFINED ENV{WEIR_TEST_BY_SUITE} AND EXISTS \"$<TARGET_FILE:${target}>\")
  include(\"${script}\")
  weir_add_suites(\"${tests_PREFIX}\" \"$<TARGET_FILE:${target}>\" ${WEIR_COST_LONG} ${long})
else()
  include(\"${by_test}\")
endif()
")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${included} ${chosen})
endfunction()

# weir_test(<module> UNITS <unit>... [ALONE <unit>...] [DEPENDS <target>...]
#           [PRECOMPILE <header>...] [LONG <suite>...])
#
# Adds one executable with the tests of a module, from <unit>_test.cpp in this folder; see
# weir_discover_tests(). A unity build joins the UNITS, but not those that are to be compiled ALONE.
function(weir_test module)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "UNITS;ALONE;DEPENDS;PRECOMPILE;LONG")
  if(test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_test(${module}): unknown argument '${test_UNPARSED_ARGUMENTS}'")
  endif()
  string(REPLACE "/" "_" component ${module})
  set(target weir_${component}_test)
  list(TRANSFORM test_UNITS APPEND _test.cpp)
  list(TRANSFORM test_ALONE APPEND _test.cpp)
  if(CMAKE_UNITY_BUILD)
    weir_join_tests(test_UNITS ${test_UNITS})
  endif()
  add_executable(${target} ${test_UNITS} ${test_ALONE})
  target_link_libraries(${target} PRIVATE weir::${component} ${test_DEPENDS} GTest::gtest_main)
  weir_compile_tests(${target} PRECOMPILE ${test_PRECOMPILE})
  weir_discover_tests(${target} PREFIX ${component}. LONG ${test_LONG})
endfunction()

# weir_compile_fail_test(<name> FILE <file> EXPECT <regex> [ERRORS_MAX <count>]
#                        [DEPENDS <target>...])
#
# Adds a test that passes if the file does not compile, the compiler's output matches the regular
# expression, and there are at most ERRORS_MAX (2) errors in it.
function(weir_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "FILE;EXPECT;ERRORS_MAX" "DEPENDS")
  if(NOT WEIR_TEST_REPOSITORY)
    return()
  endif()
  if(NOT DEFINED test_ERRORS_MAX)
    set(test_ERRORS_MAX 2)
  endif()
  set(target weir_compile_fail_${name})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${test_DEPENDS})
  set(directories $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  set(include_flags "$<$<BOOL:${directories}>:-I$<JOIN:${directories},$<SEMICOLON>-I>>")
  add_test(
    NAME compile_fail.${name}
    COMMAND
      Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/compile_fail.py --expect ${test_EXPECT}
      --errors-max ${test_ERRORS_MAX} -- ${CMAKE_CXX_COMPILER} -std=c++20 ${include_flags}
      ${CMAKE_CURRENT_SOURCE_DIR}/${test_FILE}
    COMMAND_EXPAND_LISTS)
endfunction()

# weir_sample(<name> [SOURCES <file>...] [DEPENDS <target>...] [NO_TEST])
#
# Adds the sample `weir_sample_<name>`, from <name>.cpp or <name>/main.cpp unless SOURCES are given,
# linked with weir::runtime. A test runs it to its end, unless NO_TEST says that it has none.
function(weir_sample name)
  cmake_parse_arguments(PARSE_ARGV 1 sample "NO_TEST" "" "SOURCES;DEPENDS")
  if(NOT sample_SOURCES)
    set(sample_SOURCES ${name}.cpp)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
      set(sample_SOURCES ${name}/main.cpp)
    endif()
  endif()
  set(target weir_sample_${name})
  add_executable(${target} ${sample_SOURCES})
  target_link_libraries(${target} PRIVATE weir::runtime ${sample_DEPENDS})
  weir_compile_program(${target})
  if(WEIR_BUILD_TESTS AND NOT sample_NO_TEST)
    add_test(NAME sample.${name} COMMAND ${target})
    set_tests_properties(sample.${name} PROPERTIES TIMEOUT 60)
  endif()
endfunction()

# weir_bench(<name> [SOURCES <file>...] [ALONE <file>...] [DEPENDS <target>...])
#
# Adds the benchmark `weir_bench_<name>`, from <name>_bench.cpp unless SOURCES are given, linked
# with weir::runtime. The target `weir_benches` builds all of them. A unity build joins the SOURCES,
# but not those that are to be compiled ALONE, as they define what others do.
function(weir_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 bench "" "" "SOURCES;ALONE;DEPENDS")
  if(NOT bench_SOURCES)
    set(bench_SOURCES ${name}_bench.cpp)
  endif()
  set(target weir_bench_${name})
  add_executable(${target} ${bench_SOURCES} ${bench_ALONE})
  set_source_files_properties(${bench_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${target} PRIVATE weir::runtime ${bench_DEPENDS})
  weir_compile_program(${target})
  add_dependencies(weir_benches ${target})
endfunction()

add_custom_target(weir_benches)
