#include <weir/flow/operator/internal/wide_sum.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace weir::flow::operators::internal {

using data::Int128;
using data::UInt128;

namespace {

constexpr std::size_t bytes_max = 24;

/// An absolute value of up to 256 bits, the lowest first.
using Limbs = std::array<std::uint64_t, 4>;

void multiply(Limbs& limbs, std::uint64_t factor) noexcept {
  UInt128 carry = 0;
  for (std::uint64_t& limb : limbs) {
    carry += static_cast<UInt128>(limb) * factor;
    limb = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

void add(Limbs& limbs, std::uint64_t number) noexcept {
  for (std::uint64_t& limb : limbs) {
    limb += number;
    if (limb >= number) return;
    number = 1;
  }
}

void divide(Limbs& limbs, std::uint64_t divisor) noexcept {
  UInt128 rest = 0;
  for (std::size_t at = limbs.size(); at-- > 0;) {
    rest = rest << 64 | limbs[at];
    limbs[at] = static_cast<std::uint64_t>(rest / divisor);
    rest %= divisor;
  }
  if (rest >= divisor - rest) add(limbs, 1);
}

/// Most sums are small: the same bytes without a loop for each.
void append_small(std::uint64_t number, std::string& out) {
  const std::uint64_t sign = number >> 63 != 0 ? ~std::uint64_t{0} : 0;
  const auto bits = static_cast<unsigned>(std::bit_width(number ^ sign));
  const std::size_t size = number == 0 ? 0 : bits / 8 + 1;
  std::array<char, 9> bytes;
  bytes[0] = static_cast<char>(size);
  for (unsigned at = 0; at < 8; ++at) bytes[1 + at] = static_cast<char>(number >> 8 * at);
  out.append(bytes.data(), 1 + size);
}

/// Up to eight bytes, the lowest first, without what tells their number.
std::uint64_t take_small(std::string_view bytes, bool is_negative) noexcept {
  std::uint64_t number = is_negative ? ~std::uint64_t{0} : 0;
  for (std::size_t at = bytes.size(); at-- > 0;)
    number = number << 8 | static_cast<std::uint8_t>(bytes[at]);
  return number;
}

}  // namespace

bool WideSum::value(Int128& out) const noexcept {
  const Int128 high = this->high();
  if (high != static_cast<std::int64_t>(high)) return false;
  out = static_cast<Int128>(static_cast<UInt128>(high) << 64 | low());
  return true;
}

double WideSum::to_double() const noexcept {
  if (Int128 small = 0; value(small)) return static_cast<double>(small);
  return std::ldexp(static_cast<double>(high()), 64) + static_cast<double>(low());
}

bool WideSum::scaled(std::uint64_t factor, std::uint64_t divisor, Int128& out) const noexcept {
  const bool is_negative = high() < 0;
  UInt128 upper = static_cast<UInt128>(high());
  std::uint64_t lower = low();
  if (is_negative) {
    upper = ~upper + (lower == 0 ? 1 : 0);
    lower = ~lower + 1;
  }
  Limbs limbs = {lower, static_cast<std::uint64_t>(upper), static_cast<std::uint64_t>(upper >> 64),
                 0};
  multiply(limbs, factor);
  divide(limbs, divisor);
  if ((limbs[3] | limbs[2]) != 0 || limbs[1] >> 63 != 0) return false;
  const auto magnitude = static_cast<Int128>(static_cast<UInt128>(limbs[1]) << 64 | limbs[0]);
  out = is_negative ? -magnitude : magnitude;
  return true;
}

void WideSum::append_to(std::string& out) const {
  const Int128 high = this->high();
  if (high == static_cast<std::int64_t>(low()) >> 63) return append_small(low(), out);
  std::array<char, 1 + bytes_max> bytes;
  for (unsigned at = 0; at < 8; ++at) bytes[1 + at] = static_cast<char>(low() >> 8 * at);
  for (unsigned at = 0; at < 16; ++at) bytes[9 + at] = static_cast<char>(high >> 8 * at);
  // As few as tell the sign.
  const char sign = high < 0 ? '\xFF' : '\0';
  std::size_t size = bytes_max;
  while (size > 0 && bytes[size] == sign &&
         (size == 1 ? sign == 0 : (bytes[size - 1] < 0) == (sign < 0)))
    --size;
  bytes[0] = static_cast<char>(size);
  out.append(bytes.data(), 1 + size);
}

bool WideSum::take(std::string_view& in) noexcept {
  if (in.empty()) return false;
  const auto size = static_cast<std::uint8_t>(in[0]);
  if (size > bytes_max || in.size() <= size) return false;
  const bool is_negative = size != 0 && static_cast<std::uint8_t>(in[size]) >= 0x80;
  high_ = is_negative ? ~UInt128{0} : 0;
  low_ = take_small(in.substr(1, std::min<std::size_t>(size, 8)), is_negative);
  for (unsigned at = 8; at < size; ++at) {
    const std::uint64_t byte = static_cast<std::uint8_t>(in[1 + at]);
    const unsigned shift = 8 * (at - 8);
    high_ = (high_ & ~(UInt128{0xFF} << shift)) | UInt128{byte} << shift;
  }
  in.remove_prefix(1 + std::size_t{size});
  return true;
}

}  // namespace weir::flow::operators::internal
