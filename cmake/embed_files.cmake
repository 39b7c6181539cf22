# Run by `cmake -P`: writes a C++ source with the bytes of files, so that a library needs no files
# beside it.
#
#   cmake -DOUT=<file.cpp> -DHEADER=<include> -DNAMESPACE=<a::b> -DFUNCTION=<name> -P embed_files.cmake
#         -- <file>...
#
# The function is declared in the header: `std::span<const EmbeddedFile> name() noexcept`, where an
# EmbeddedFile is made of a name, a tag that changes with what is in the file, and the bytes.

set(files "")
set(is_file OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(is_file)
    list(APPEND files "${CMAKE_ARGV${index}}")
  elseif("${CMAKE_ARGV${index}}" STREQUAL "--")
    set(is_file ON)
  endif()
endforeach()

set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  file(SHA256 "${file}" hash)
  string(SUBSTRING "${hash}" 0 16 tag)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n"
                       bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char file_${number}[] = {\n${bytes}};\n")
  string(APPEND entries "    {\"${name}\", \"\\\"${tag}\\\"\", file_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[
#include <@HEADER@>

namespace @NAMESPACE@ {
namespace {

@arrays@
constexpr EmbeddedFile files[] = {
@entries@};

}  // namespace

std::span<const EmbeddedFile> @FUNCTION@() noexcept { return files; }

}  // namespace @NAMESPACE@
]])
