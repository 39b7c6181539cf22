#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <weir/flow/workflow/policy.hpp>

// How much may be done at once, and how fast. Persisted: fields are only added, at the end.
namespace weir::flow::workflow {

/// At most `count` in a time of `per`, evenly, and up to `burst` at once after a pause.
struct Rate {
  std::uint32_t count = 1;
  Duration per = std::chrono::seconds(1);
  std::uint32_t burst = 1;

  /// From one to the next; rounded up, so that there are never more.
  Duration interval() const noexcept {
    return Duration((per.count() + count - 1) / static_cast<Duration::rep>(count));
  }

  static auto weir_fields(auto& self) { return std::tie(self.count, self.per, self.burst); }
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// What has been used of a rate. One time says it all: if the next came then, everything before
/// it would have been even; it may come earlier by as much as the burst allows.
struct RateUse {
  std::chrono::sys_time<Duration> next = {};

  /// How many may come at `now`.
  std::uint32_t room(const Rate& rate, Time now) const noexcept;
  /// When the next may come.
  Time room_at(const Rate& rate) const noexcept;
  void take(const Rate& rate, Time now) noexcept;

  static auto weir_fields(auto& self) { return std::tie(self.next); }
};

/// A limit that grows evenly from one number to another, and is none after that.
struct Ramp {
  Time begin = {};
  Time end = {};
  std::uint32_t from = 1;
  std::uint32_t to = 1;

  std::optional<std::uint32_t> at(Time now) const noexcept;
  /// When it lets more than `active` be.
  Time exceeds_at(std::uint64_t active) const noexcept;

  static auto weir_fields(auto& self) { return std::tie(self.begin, self.end, self.from, self.to); }
};

/// Why something that is ready is not claimed.
enum class Refusal : std::uint8_t {
  none = 1,
  lane_paused,
  lane_full,
  lane_ramp,
  lane_rate,
  key_full,
  key_rate,
};
template <>
inline constexpr std::array words<Refusal> = {"none",      "lane_paused", "lane_full", "lane_ramp",
                                              "lane_rate", "key_full",    "key_rate"};

struct Admission {
  Refusal refusal = Refusal::none;
  /// When time alone may change that.
  std::optional<Time> until = {};
  std::string key = {};  // of the limit

  bool is_given() const noexcept { return refusal == Refusal::none; }
};

// Persisted: never renumber.
enum class LaneState : std::uint8_t { active = 1, paused, draining, disabled };
template <>
inline constexpr std::array words<LaneState> = {"active", "paused", "draining", "disabled"};

/// A queue of executions.
struct Lane {
  LaneState state = LaneState::active;
  std::optional<std::uint32_t> concurrency_max = {};
  std::uint64_t active = 0;  // executions that hold a lease
  std::optional<Rate> rate = {};
  RateUse rate_use = {};
  std::optional<Ramp> ramp = {};

  /// Whether one more may be claimed as soon as time lets it be.
  bool has_room() const noexcept {
    return (state == LaneState::active || state == LaneState::draining) &&
           (!concurrency_max || active < *concurrency_max);
  }
  /// Whether one more may be claimed.
  Admission admission(Time now) const;
  /// How many more may be claimed.
  std::uint64_t room(Time now) const;

  static auto weir_fields(auto& self) {
    return std::tie(self.state, self.concurrency_max, self.active, self.rate, self.rate_use,
                    self.ramp);
  }
};

/// What executions that name the same key may do together, in whichever lanes they are. One for
/// `customer:*` holds for each key that begins with `customer:` and has none of its own.
struct Limit {
  std::optional<std::uint32_t> concurrency_max = {};
  std::optional<Rate> rate = {};
  std::uint64_t active = 0;  // executions that hold a lease
  RateUse rate_use = {};

  bool is_set() const noexcept { return concurrency_max || rate; }

  static auto weir_fields(auto& self) {
    return std::tie(self.concurrency_max, self.rate, self.active, self.rate_use);
  }
};

inline constexpr std::size_t limit_keys_max = 8;

/// `invalid_argument`, with the value.
Result<> validate(const Rate& rate);

}  // namespace weir::flow::workflow
