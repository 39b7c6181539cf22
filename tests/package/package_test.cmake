# Installs Weir into the build tree and builds the consumer in this folder against it, once with the
# compiler that built Weir and once with the system's g++.

set(prefix ${PROJECT_BINARY_DIR}/package/prefix)

add_test(NAME package.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}
                                      --prefix ${prefix})
set_tests_properties(package.install PROPERTIES COST ${WEIR_COST_LONG} FIXTURES_SETUP weir_package)

# weir_package_test(<name> <compiler> [<cmake argument>...])
function(weir_package_test name compiler)
  set(build_dir ${PROJECT_BINARY_DIR}/package/${name})
  set(consumer consumer)
  if(name STREQUAL "exporting")
    set(consumer exporting_consumer)
  elseif(name MATCHES "^storing")
    set(consumer storing_consumer)
  elseif(name MATCHES "^querying")
    set(consumer querying_consumer)
  endif()
  add_test(
    NAME package.${name}
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/tests/package ${build_dir}
      --build-generator Ninja --build-options -DCMAKE_CXX_COMPILER=${compiler}
      -DCMAKE_PREFIX_PATH=${prefix} ${ARGN} --test-command ${build_dir}/${consumer})
  set_tests_properties(package.${name} PROPERTIES COST ${WEIR_COST_LONG} TIMEOUT 300
                                                  FIXTURES_REQUIRED weir_package)
endfunction()

# Who asks for the runtime alone needs nothing of OpenTelemetry, RocksDB or libpq on the machine.
weir_package_test(same_compiler ${CMAKE_CXX_COMPILER}
                  -DCMAKE_DISABLE_FIND_PACKAGE_opentelemetry-cpp=ON
                  -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON -DCMAKE_DISABLE_FIND_PACKAGE_RocksDB=ON
                  -DCMAKE_DISABLE_FIND_PACKAGE_PostgreSQL=ON)

find_program(WEIR_SYSTEM_GXX g++ REQUIRED)
weir_package_test(system_gcc ${WEIR_SYSTEM_GXX})

weir_package_test(exporting ${CMAKE_CXX_COMPILER} -DCONSUMER_EXPORTS=ON)

weir_package_test(storing ${CMAKE_CXX_COMPILER} -DCONSUMER_STORES=ON)
weir_package_test(storing_gcc ${WEIR_SYSTEM_GXX} -DCONSUMER_STORES=ON)

weir_package_test(querying ${CMAKE_CXX_COMPILER} -DCONSUMER_QUERIES=ON)
weir_package_test(querying_gcc ${WEIR_SYSTEM_GXX} -DCONSUMER_QUERIES=ON)

weir_package_test(unknown_component ${CMAKE_CXX_COMPILER} -DCONSUMER_COMPONENTS=nonsense)
set_tests_properties(
  package.unknown_component PROPERTIES PASS_REGULAR_EXPRESSION "Weir has no component 'nonsense'")
