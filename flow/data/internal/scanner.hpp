#pragma once

#include <cstddef>
#include <string_view>

namespace weir::flow::data::internal {

/// Takes a text apart from its front. What is not there is not taken.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : rest_(text) {}

  bool is_at_end() const noexcept { return rest_.empty(); }
  /// The next character, NUL at the end.
  char next() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }

  bool take(char expected) noexcept {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// As many digits as there are.
  std::string_view take_digits() noexcept {
    const std::size_t size = rest_.find_first_not_of("0123456789");
    const std::string_view digits = rest_.substr(0, size);
    rest_.remove_prefix(digits.size());
    return digits;
  }

  /// A number of exactly `size` digits, at most nine.
  bool take_number(std::size_t size, int& out) noexcept {
    const std::string_view digits = take_digits();
    if (digits.size() != size) return false;
    out = 0;
    for (const char digit : digits) out = out * 10 + (digit - '0');
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace weir::flow::data::internal
