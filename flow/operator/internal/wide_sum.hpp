#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/int128.hpp>

namespace weir::flow::operators::internal {

/// The sum of integers of up to 128 bits, kept exactly in 192: `high * 2^64 + low`. Holds 2^63 of
/// them.
class WideSum {
 public:
  /// `weight` times a number.
  template <class T>
    requires(sizeof(T) <= 8)
  void add(T number, data::Weight weight) noexcept {
    low_ += static_cast<data::UInt128>(static_cast<data::Int128>(number) * weight);
  }
  void add(data::Int128 number, data::Weight weight) noexcept {
    high_ += static_cast<data::UInt128>((number >> 64) * weight);
    low_ += static_cast<data::UInt128>(
        static_cast<data::Int128>(static_cast<std::uint64_t>(number)) * weight);
  }

  bool is_zero() const noexcept { return high() == 0 && low() == 0; }
  /// False if it has more than 128 bits.
  bool value(data::Int128& out) const noexcept;
  double to_double() const noexcept;
  /// `sum * factor / divisor`, rounded half away from zero. False if it has more than 128 bits.
  /// Needs a divisor that is not zero.
  bool scaled(std::uint64_t factor, std::uint64_t divisor, data::Int128& out) const noexcept;

  // Persisted, in docs/storage_format.md. Equal sums have equal bytes.
  void append_to(std::string& out) const;
  bool take(std::string_view& in) noexcept;

 private:
  data::Int128 high() const noexcept {
    return static_cast<data::Int128>(high_) + (static_cast<data::Int128>(low_) >> 64);
  }
  std::uint64_t low() const noexcept { return static_cast<std::uint64_t>(low_); }

  // Two's complement, both: `low_` is signed and has room for carries.
  data::UInt128 high_ = 0;
  data::UInt128 low_ = 0;
};

}  // namespace weir::flow::operators::internal
