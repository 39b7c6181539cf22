#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

// Arithmetic as it is done on paper, on digits: an oracle that shares nothing with machine words.
namespace weir::flow::data::testing {

/// Natural numbers, as digits without zeros in front.
inline std::string trimmed(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

inline bool is_less(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

inline std::string plus(std::string left, std::string right) {
  const std::size_t size = std::max(left.size(), right.size()) + 1;
  left.insert(0, size - left.size(), '0');
  right.insert(0, size - right.size(), '0');
  int carry = 0;
  for (std::size_t i = size; i-- > 0;) {
    const int digit = left[i] - '0' + right[i] - '0' + carry;
    left[i] = static_cast<char>('0' + digit % 10);
    carry = digit / 10;
  }
  return trimmed(left);
}

/// Needs `left >= right`.
inline std::string minus(std::string left, std::string right) {
  right.insert(0, left.size() - right.size(), '0');
  int borrow = 0;
  for (std::size_t i = left.size(); i-- > 0;) {
    const int digit = left[i] - right[i] - borrow;
    left[i] = static_cast<char>('0' + (digit + 10) % 10);
    borrow = digit < 0 ? 1 : 0;
  }
  return trimmed(left);
}

inline std::string times(const std::string& left, const std::string& right) {
  std::string product = "0";
  for (const char digit : right) {
    product.push_back('0');
    product = trimmed(product);
    for (int i = digit - '0'; i > 0; --i) product = plus(product, left);
  }
  return product;
}

/// Quotient and remainder.
inline std::pair<std::string, std::string> divided(std::string_view left,
                                                   const std::string& right) {
  std::string quotient;
  std::string rest = "0";
  for (const char digit : left) {
    rest.push_back(digit);
    rest = trimmed(rest);
    char count = '0';
    for (; !is_less(rest, right); ++count) rest = minus(rest, right);
    quotient.push_back(count);
  }
  return {trimmed(quotient), rest};
}

/// The quotient, rounded half up.
inline std::string divided_rounded(std::string_view left, const std::string& right) {
  const auto [quotient, rest] = divided(left, right);
  return is_less(plus(rest, rest), right) ? quotient : plus(quotient, "1");
}

/// `digits * 10^exponent`.
inline std::string scaled(const std::string& digits, std::size_t exponent) {
  return trimmed(digits + std::string(exponent, '0'));
}

}  // namespace weir::flow::data::testing
