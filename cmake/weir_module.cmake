# Modules: one folder, one namespace, one target; and the package they are installed as.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# `#include <weir/runtime/actor.hpp>` names the same file in the tree and when installed: the build
# tree holds one link to the source root.
set(WEIR_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${WEIR_INCLUDE_DIR})
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${WEIR_INCLUDE_DIR}/weir SYMBOLIC)

set(WEIR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/weir)

# weir_find_package(<package> [<argument>...] PROVIDES <target>...)
#
# Finds a third-party package. The installed package finds it again, with the same arguments, for
# those components that link to one of the targets.
macro(weir_find_package package)
  cmake_parse_arguments(_weir "" "" "PROVIDES" ${ARGN})
  find_package(${package} ${_weir_UNPARSED_ARGUMENTS} REQUIRED)
  set(_weir_package ${package} ${_weir_UNPARSED_ARGUMENTS})
  list(JOIN _weir_package " " _weir_package)
  foreach(_weir_target IN LISTS _weir_PROVIDES)
    set_property(GLOBAL PROPERTY WEIR_PACKAGE_OF_${_weir_target} "${_weir_package}")
  endforeach()
endmacro()

# weir_module(<name> [SOURCES <file>...] [HEADERS <file>...] [DEPENDS <target>...]
#             [PRIVATE_DEPENDS <target>...] [PRECOMPILE <header>...] [PRECOMPILE_LIKE <target>])
#
# Adds the module in this folder: `runtime` becomes the target `weir_runtime`, also known as
# `weir::runtime`, and the component `runtime` of the installed package; `flow/view` becomes
# `weir_flow_view`. HEADERS are installed, and each must compile alone; list those in `internal/`
# that public headers include. PRECOMPILE names the headers that most of the sources spend their
# compilation on, PRECOMPILE_LIKE a module whose precompiled header serves as well; see
# weir_precompile().
function(weir_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "PRECOMPILE_LIKE"
                        "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS;PRECOMPILE")
  if(module_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_module(${name}): unknown argument '${module_UNPARSED_ARGUMENTS}'")
  endif()
  string(REPLACE "/" "_" component ${name})
  set(target weir_${component})
  set(scope PUBLIC)
  if(module_SOURCES)
    add_library(${target} ${module_SOURCES})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(weir::${component} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component}
                                             VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} ${scope} cxx_std_20)

  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  list(TRANSFORM module_HEADERS PREPEND ${WEIR_INCLUDE_DIR}/weir/${folder}/)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${WEIR_INCLUDE_DIR}
                                    FILES ${module_HEADERS})

  target_link_libraries(${target} ${scope} ${module_DEPENDS})
  if(module_PRIVATE_DEPENDS)
    target_link_libraries(${target} PRIVATE ${module_PRIVATE_DEPENDS})
  endif()
  if(PROJECT_IS_TOP_LEVEL)
    weir_precompile(${target} LIKE "${module_PRECOMPILE_LIKE}" HEADERS ${module_PRECOMPILE})
  endif()
  weir_install_module(${component} ${module_DEPENDS} ${module_PRIVATE_DEPENDS})
endfunction()

# weir_program(<name> SOURCES <file>... [DEPENDS <target>...] [PRECOMPILE <header>...])
#
# Adds the program in this folder, and installs it.
function(weir_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;DEPENDS;PRECOMPILE")
  if(program_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_program(${name}): unknown argument '${program_UNPARSED_ARGUMENTS}'")
  endif()
  add_executable(${name} ${program_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${program_DEPENDS})
  weir_precompile(${name} HEADERS ${program_PRECOMPILE})
  install(TARGETS ${name} RUNTIME COMPONENT weir_program)
endfunction()

# Installs the module's target and headers, and a file that finds its dependencies first.
function(weir_install_module component)
  set(dependencies "")
  foreach(dependency IN LISTS ARGN)
    get_property(package GLOBAL PROPERTY WEIR_PACKAGE_OF_${dependency})
    if(dependency MATCHES "^weir::(.+)$")
      string(APPEND dependencies
             "include(\"\${CMAKE_CURRENT_LIST_DIR}/weir_${CMAKE_MATCH_1}.cmake\")\n")
    elseif(package)
      # Once, however many of its targets the module links to.
      string(FIND "${dependencies}" "find_dependency(${package})\n" position)
      if(position EQUAL -1)
        string(APPEND dependencies "find_dependency(${package})\n")
      endif()
    else()
      message(FATAL_ERROR "weir_module: '${dependency}' of weir::${component} is neither a module "
                          "nor provided by a weir_find_package()")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT weir_${component}.cmake @ONLY CONTENT [[
include_guard()
@dependencies@include("${CMAKE_CURRENT_LIST_DIR}/weir_@component@_targets.cmake")
]])
  set(install_component COMPONENT weir_${component})
  install(
    TARGETS weir_${component}
    EXPORT weir_${component}
    ARCHIVE ${install_component}
    LIBRARY ${install_component}
    RUNTIME ${install_component}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${install_component})
  install(
    EXPORT weir_${component}
    NAMESPACE weir::
    FILE weir_${component}_targets.cmake
    DESTINATION ${WEIR_PACKAGE_DIR} ${install_component})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weir_${component}.cmake
          DESTINATION ${WEIR_PACKAGE_DIR} ${install_component})
  set_property(GLOBAL APPEND PROPERTY WEIR_COMPONENTS ${component})
endfunction()

# Installs the package file that offers every module added so far as a component.
function(weir_install_package)
  get_property(WEIR_COMPONENTS GLOBAL PROPERTY WEIR_COMPONENTS)
  configure_package_config_file(cmake/weirConfig.cmake.in weirConfig.cmake
                                INSTALL_DESTINATION ${WEIR_PACKAGE_DIR})
  write_basic_package_version_file(weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(
    FILES ${PROJECT_BINARY_DIR}/weirConfig.cmake ${PROJECT_BINARY_DIR}/weirConfigVersion.cmake
    DESTINATION ${WEIR_PACKAGE_DIR}
    COMPONENT weir_package)
endfunction()
