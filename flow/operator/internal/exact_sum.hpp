#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::flow::operators::internal {

/// The sum of floating-point numbers, kept exactly: it does not depend on their order, and taking
/// one away leaves what was there before it came. Rounded only when it is read.
///
/// One fixed-point number, wide enough for any sum of doubles, in limbs of 32 bits. The lowest bit
/// is that of the least double:
///
///     limb 0: 2^-1074 ... 2^-1043 | limb 1: 2^-1042 ... | ... | limb 71
///
/// Limbs are signed and have room for carries, which are only passed on by `normalize`.
class ExactSum {
 public:
  /// Zero again.
  void clear() noexcept;
  /// `weight` times the number; a negative weight takes it away. Takes it any number of times, up
  /// to 2^63 in all.
  void add(double number, std::int64_t weight) noexcept;
  /// Passes on carries. To be called before the sum is looked at.
  void normalize() noexcept;

  /// Whether it is the sum of no numbers, or of numbers that make zero.
  bool is_zero() const noexcept { return begin_ == end_ && !has_specials(); }
  /// Whether no infinity and no NaN was taken away more often than it came.
  bool is_valid() const noexcept { return nans_ >= 0 && positive_ >= 0 && negative_ >= 0; }

  /// The nearest double, the even one of two. Zero has no sign.
  double value() const noexcept;
  /// The sum, rounded to 53 bits, divided by how many numbers it has: also finite where the sum is
  /// not.
  double mean(std::int64_t count) const noexcept;

  // Persisted, in docs/storage_format.md. Equal sums have equal bytes.
  void append_to(std::string& out) const;
  /// The sum whose bytes these begin with, and nothing else. False if there is none.
  bool take(std::string_view& in) noexcept;

 private:
  static constexpr unsigned limbs_max = 72;
  static constexpr std::int64_t limb_mask = 0xFFFFFFFF;
  /// What limbs hold between two `normalize`.
  static constexpr std::uint32_t adds_max = 1u << 30;

  /// The finite part as 53 bits, or fewer, and what the lowest of them stands for: 2^(bit - 1074).
  struct Rounded {
    std::uint64_t digits;
    unsigned bit;
  };

  bool has_specials() const noexcept { return (nans_ | positive_ | negative_) != 0; }
  void add_special(double number, std::int64_t weight) noexcept;
  void add_many(std::uint64_t digits, unsigned bit, std::int64_t weight) noexcept;
  void touch(unsigned begin, unsigned end) noexcept;
  std::uint64_t magnitude(unsigned limb) const noexcept;
  Rounded rounded() const noexcept;
  double special() const noexcept;

  std::array<std::int64_t, limbs_max> limbs_ = {};
  // Those that may not be zero: none if both are the same.
  unsigned begin_ = 0;
  unsigned end_ = 0;
  /// Whether infinitely many bits are set above `end_`.
  bool is_negative_ = false;
  std::uint32_t adds_ = 0;
  // How many of what no sum can undo.
  std::int64_t nans_ = 0;
  std::int64_t positive_ = 0;
  std::int64_t negative_ = 0;
};

}  // namespace weir::flow::operators::internal
