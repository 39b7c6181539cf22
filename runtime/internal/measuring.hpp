#pragma once

#include <cstdint>
#include <unordered_map>

#include <weir/runtime/internal/cell.hpp>
#include <weir/telemetry/instrument.hpp>

namespace weir::telemetry {
class Meter;
}

// How long messages wait and handlers take, measured for messages that `MessageSampler` chooses
// when they are sent. A chosen message carries a mark in its word for the trace, or in its trail if
// it has one:
//
//     when it was sent, in nanoseconds: 58 bits | exponent of its weight: 4 | 1 | undecided: 1
//
// A pointer has neither of the last two bits.
namespace weir::internal {

struct Core;

struct Mark {
  std::int64_t sent_ns;
  std::uint8_t exponent;  // of its weight, to the base of two
};

inline constexpr std::uintptr_t mark_bit = 2;

constexpr std::uintptr_t to_word(const Mark& mark) noexcept {
  return static_cast<std::uintptr_t>(mark.sent_ns) << 6 | std::uintptr_t{mark.exponent} << 2 |
         mark_bit;
}

/// How long ago the mark was made. Right even when the clock needs more than its 58 bits.
constexpr std::int64_t since(std::uintptr_t word, std::int64_t now_ns) noexcept {
  const auto passed = static_cast<std::int64_t>((static_cast<std::uint64_t>(now_ns) << 6) -
                                                (word & ~std::uintptr_t{63})) >>
                      6;
  return passed > 0 ? passed : 0;
}

constexpr std::uint64_t weight_of(std::uintptr_t word) noexcept {
  return std::uint64_t{1} << (word >> 2 & 15);
}

/// The durations of one worker, by type of actor.
class ActorDurations {
 public:
  explicit ActorDurations(telemetry::Meter& meter);

  /// A message with this mark is handled from `begin_ns` on.
  void record_wait(const ActorType& type, std::uintptr_t mark, std::int64_t begin_ns);
  /// One whose handler began when this mark was made has been handled.
  void record_handling(const ActorType& type, std::uintptr_t mark, std::int64_t end_ns);

 private:
  struct Series {
    telemetry::Histogram::Series wait;
    telemetry::Histogram::Series handling;
  };
  Series& of(const ActorType& type);

  telemetry::Histogram wait_;
  telemetry::Histogram handling_;
  std::unordered_map<const ActorType*, Series> series_;
};

/// A handler that had suspended, and began when `mark` was made, has ended.
void record_handling(const Cell& cell, std::uintptr_t mark) noexcept;

/// A timer's message enters the mailbox.
void count_timer(Core& core, Node* node) noexcept;

}  // namespace weir::internal
