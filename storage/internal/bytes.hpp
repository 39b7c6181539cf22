#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weir/storage/internal/codec.hpp>
#include <weir/storage/internal/varint.hpp>

namespace weir::storage::internal {

/// The first bytes of `from`, which has enough of them.
template <class Number>
Number read_big_endian(std::string_view from) noexcept {
  Number number{};
  (void)take_big_endian(from, number);
  return number;
}

/// Takes numbers and texts from the front of stored bytes. What is not there, or not in its
/// shortest form, makes it fail for good: `is_ok` is asked once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : rest_(bytes) {}

  std::uint64_t varint() noexcept {
    std::uint64_t number = 0;
    if (!take_varint(rest_, ~std::uint64_t{0}, number)) fail();
    return is_ok_ ? number : 0;
  }
  std::uint8_t byte() noexcept {
    const std::string_view taken = bytes(1);
    return taken.empty() ? 0 : static_cast<std::uint8_t>(taken.front());
  }
  std::string_view bytes(std::uint64_t count) noexcept {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view text() noexcept { return bytes(varint()); }

  bool is_ok() const noexcept { return is_ok_; }
  bool is_at_end() const noexcept { return rest_.empty(); }
  std::string_view rest() const noexcept { return rest_; }

 private:
  void fail() noexcept {
    is_ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool is_ok_ = true;
};

}  // namespace weir::storage::internal
