// Uses each part of the installed package once, in the forms that GCC 12 compiles correctly.

#include <weir/runtime/check.hpp>
#include <weir/runtime/result.hpp>

#include <cstdio>

namespace {

weir::Result<int> parse_digit(char character) {
  if (character < '0' || character > '9') {
    return weir::Error(weir::Errc::invalid_argument, "parse_digit: not a digit");
  }
  return character - '0';
}

void use_results() {
  const auto digit = parse_digit('7');
  const auto letter = parse_digit('x');
  weir::check(digit && *digit == 7, "a success holds its value");
  weir::check(!letter && letter.error() == weir::Errc::invalid_argument, "a failure its error");
}

}  // namespace

int main() {
  use_results();
  std::puts("consumer: ok");
}
