#include <weir/flow/data/int128.hpp>

namespace weir::flow::data {

std::string to_string(Int128 number) {
  char digits[40];  // 39 and a sign
  char* const end = digits + sizeof(digits);
  char* begin = end;
  UInt128 rest = magnitude(number);
  do {
    *--begin = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--begin = '-';
  return std::string(begin, end);
}

}  // namespace weir::flow::data
