#include <weir/flow/operator/internal/exact_sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <weir/flow/data/int128.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators::internal {

using data::UInt128;

void ExactSum::clear() noexcept {
  std::fill(limbs_.begin() + begin_, limbs_.begin() + end_, 0);
  begin_ = end_ = 0;
  is_negative_ = false;
  adds_ = 0;
  nans_ = positive_ = negative_ = 0;
}

void ExactSum::touch(unsigned begin, unsigned end) noexcept {
  if (begin_ == end_) {
    begin_ = begin;
    end_ = end;
  } else {
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, end);
  }
}

void ExactSum::add(double number, std::int64_t weight) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto exponent = static_cast<unsigned>(bits >> 52 & 0x7FF);
  std::uint64_t digits = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0x7FF) return add_special(number, weight);
  if (exponent != 0) digits |= std::uint64_t{1} << 52;
  const unsigned bit = exponent != 0 ? exponent - 1 : 0;
  if (bits >> 63 != 0) weight = -weight;
  if (++adds_ == adds_max) normalize();
  if (is_negative_) {
    // The bits above become one limb to count on with.
    touch(begin_, end_ + 1);
    limbs_[end_ - 1] = -1;
    is_negative_ = false;
  }
  if (weight != 1 && weight != -1) return add_many(digits, bit, weight);

  const unsigned limb = bit / 32;
  const UInt128 shifted = static_cast<UInt128>(digits) << bit % 32;
  touch(limb, limb + 3);
  limbs_[limb] += weight * (static_cast<std::int64_t>(shifted) & limb_mask);
  limbs_[limb + 1] += weight * (static_cast<std::int64_t>(shifted >> 32) & limb_mask);
  limbs_[limb + 2] += weight * static_cast<std::int64_t>(shifted >> 64);
}

void ExactSum::add_many(std::uint64_t digits, unsigned bit, std::int64_t weight) noexcept {
  const std::int64_t sign = weight < 0 ? -1 : 1;
  UInt128 product = static_cast<UInt128>(digits) *
                    static_cast<std::uint64_t>(weight < 0 ? -static_cast<UInt128>(weight)
                                                          : static_cast<UInt128>(weight));
  touch(bit / 32, bit / 32 + 5);
  for (unsigned limb = bit / 32; product != 0; ++limb, product >>= 32) {
    const std::uint64_t shifted = static_cast<std::uint64_t>(product & limb_mask) << bit % 32;
    limbs_[limb] += sign * static_cast<std::int64_t>(shifted & limb_mask);
    limbs_[limb + 1] += sign * static_cast<std::int64_t>(shifted >> 32);
  }
}

void ExactSum::add_special(double number, std::int64_t weight) noexcept {
  if (std::isnan(number)) {
    nans_ += weight;
  } else {
    (number > 0 ? positive_ : negative_) += weight;
  }
}

void ExactSum::normalize() noexcept {
  adds_ = 0;
  if (is_negative_) return;  // nothing was added since
  std::int64_t carry = 0;
  for (unsigned limb = begin_; limb < end_; ++limb) {
    carry += limbs_[limb];
    limbs_[limb] = carry & limb_mask;
    carry >>= 32;
  }
  for (; carry != 0 && carry != -1; carry >>= 32) limbs_[end_++] = carry & limb_mask;
  is_negative_ = carry != 0;
  while (begin_ < end_ && limbs_[begin_] == 0) ++begin_;
  // Where there are only ones above the zeros, one limb of them says where they begin.
  if (begin_ == end_ && is_negative_) limbs_[end_++] = limb_mask;
  const std::int64_t redundant = is_negative_ ? limb_mask : 0;
  const unsigned least = is_negative_ ? begin_ + 1 : begin_;
  while (end_ > least && limbs_[end_ - 1] == redundant) limbs_[--end_] = 0;
  if (begin_ == end_) begin_ = end_ = 0;
}

/// Of the absolute value: the lowest limb is not zero, so that no carry comes to those above it.
std::uint64_t ExactSum::magnitude(unsigned limb) const noexcept {
  const std::int64_t digits = limbs_[limb];
  if (!is_negative_) return static_cast<std::uint64_t>(digits);
  return static_cast<std::uint64_t>(limb == begin_ ? -digits & limb_mask : digits ^ limb_mask);
}

ExactSum::Rounded ExactSum::rounded() const noexcept {
  unsigned top = end_;
  while (top > begin_ && magnitude(top - 1) == 0) --top;
  if (top == begin_) return {0, 0};
  --top;
  const auto limb = [&](unsigned below) {
    return top >= begin_ + below ? magnitude(top - below) : 0;
  };
  const UInt128 digits = static_cast<UInt128>(limb(0)) << 64 | limb(1) << 32 | limb(2);
  const unsigned length = 64 + static_cast<unsigned>(std::bit_width(limb(0)));
  const unsigned highest = 32 * top + length - 65;  // the position of the first bit
  if (highest <= 52) {
    // All of it is there, in two limbs.
    const std::uint64_t lower = begin_ == 0 ? magnitude(0) : 0;
    const std::uint64_t upper = end_ > 1 && begin_ <= 1 ? magnitude(1) : 0;
    return {upper << 32 | lower, 0};
  }
  const unsigned dropped = length - 53;
  auto kept = static_cast<std::uint64_t>(digits >> dropped);
  const UInt128 rest = digits & ((UInt128{1} << dropped) - 1);
  const UInt128 half = UInt128{1} << (dropped - 1);
  const bool is_more = top > begin_ + 2;  // the lowest limb is not zero
  if (rest > half || (rest == half && (is_more || kept % 2 != 0))) ++kept;
  return {kept, highest - 52};
}

double ExactSum::special() const noexcept {
  if (nans_ != 0 || (positive_ != 0 && negative_ != 0))
    return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return positive_ != 0 ? infinity : -infinity;
}

double ExactSum::value() const noexcept {
  if (has_specials()) return special();
  const auto [digits, bit] = rounded();
  // The bits of a double count up from its least, also where the exponent changes.
  constexpr std::uint64_t infinity = std::uint64_t{0x7FF} << 52;
  const std::uint64_t bits = std::min((std::uint64_t{bit} << 52) + digits, infinity);
  const double number = std::bit_cast<double>(bits);
  return is_negative_ ? -number : number;
}

double ExactSum::mean(std::int64_t count) const noexcept {
  if (has_specials()) return special();
  const auto [digits, bit] = rounded();
  const double quotient = static_cast<double>(digits) / static_cast<double>(count);
  const double number = std::ldexp(quotient, static_cast<int>(bit) - 1074);
  return is_negative_ ? -number : number;
}

void ExactSum::append_to(std::string& out) const {
  const unsigned count = end_ - begin_;
  out.push_back(static_cast<char>(count << 1 | (is_negative_ ? 1 : 0)));
  out.push_back(static_cast<char>(begin_ | (has_specials() ? 0x80 : 0)));
  const std::size_t at = out.size();
  out.resize(at + std::size_t{4} * count);
  for (unsigned index = 0; index < count; ++index) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      out[at + std::size_t{4} * index + byte] =
          static_cast<char>(limbs_[begin_ + index] >> 8 * byte);
    }
  }
  if (!has_specials()) return;
  append_weight(nans_, out);
  append_weight(positive_, out);
  append_weight(negative_, out);
}

bool ExactSum::take(std::string_view& in) noexcept {
  clear();
  if (in.size() < 2) return false;
  const auto byte = [&in](std::size_t at) { return static_cast<std::uint8_t>(in[at]); };
  const unsigned count = byte(0) >> 1;
  is_negative_ = byte(0) % 2 != 0;
  const unsigned begin = byte(1) & 0x7F;
  const bool has_specials = byte(1) >= 0x80;
  // Carries still need limbs above.
  if (begin + count > limbs_max - 3 || in.size() < 2 + std::size_t{4} * count) return false;
  if (is_negative_ && count == 0) return false;
  begin_ = begin;
  end_ = begin + count;
  for (unsigned index = 0; index < count; ++index) {
    const std::size_t at = 2 + std::size_t{4} * index;
    limbs_[begin + index] = std::int64_t{byte(at)} | std::int64_t{byte(at + 1)} << 8 |
                            std::int64_t{byte(at + 2)} << 16 | std::int64_t{byte(at + 3)} << 24;
  }
  if (count != 0 && limbs_[begin] == 0) return false;
  in.remove_prefix(2 + std::size_t{4} * count);
  return !has_specials ||
         (take_weight(in, nans_) && take_weight(in, positive_) && take_weight(in, negative_));
}

}  // namespace weir::flow::operators::internal
