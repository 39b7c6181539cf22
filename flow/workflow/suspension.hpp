#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/flow/workflow/records.hpp>

// What an execution waits for when it is suspended, and what comes in for it. Persisted: fields are
// only added, at the end, and numbers never change.
namespace weir::flow::workflow {

/// Which signals end a suspension. A waitpoint is a name that signals are sent to; those that came
/// before count as well, the oldest first. As many are taken as are needed; the rest is kept.
struct WaitCondition {
  enum class Kind : std::uint8_t { all_of = 1, count };
  /// Of what so many different ones are needed.
  enum class Distinct : std::uint8_t { waitpoints = 1, signals, sources };

  Kind kind = Kind::all_of;
  /// None: only an operator or time ends it.
  std::vector<std::string> waitpoints = {};
  std::uint32_t k = 0;  // of a count
  Distinct distinct = Distinct::waitpoints;

  /// One signal at each of them.
  static WaitCondition all_of(std::vector<std::string> waitpoints) {
    return {Kind::all_of, std::move(waitpoints), 0, Distinct::waitpoints};
  }
  static WaitCondition any_of(std::vector<std::string> waitpoints) {
    return {Kind::count, std::move(waitpoints), 1, Distinct::waitpoints};
  }
  /// Signals at `k` of them, or `k` signals, or signals from `k` different sources, at any of them.
  static WaitCondition count_of(std::uint32_t k, Distinct distinct,
                                std::vector<std::string> waitpoints) {
    return {Kind::count, std::move(waitpoints), k, distinct};
  }

  static auto weir_fields(auto& self) {
    return std::tie(self.kind, self.waitpoints, self.k, self.distinct);
  }
  friend bool operator==(const WaitCondition&, const WaitCondition&) = default;
};
template <>
inline constexpr std::array words<WaitCondition::Kind> = {"all_of", "count"};
template <>
inline constexpr std::array words<WaitCondition::Distinct> = {"waitpoints", "signals", "sources"};

/// What becomes of an execution whose suspension has taken too long.
enum class OnTimeout : std::uint8_t {
  /// Its attempt fails, with category `timeout`: it is tried again if its policy says so.
  fail = 1,
  cancel,
  expire,
  /// It goes on, and is told that time has passed.
  resume,
  /// It stays suspended, without a limit, and waits for an approval.
  escalate,
};
template <>
inline constexpr std::array words<OnTimeout> = {"fail", "cancel", "expire", "resume", "escalate"};

enum class SuspensionState : std::uint8_t { waiting = 1, satisfied, timed_out, overruled };
template <>
inline constexpr std::array words<SuspensionState> = {"waiting", "satisfied", "timed_out",
                                                      "overruled"};

/// The newest suspension of an execution, until it ends: how it waits, or why it went on.
struct Suspension {
  std::string key = {};
  WaitCondition condition = {};
  OnTimeout on_timeout = OnTimeout::fail;
  Duration resume_delay = {};
  SuspensionState state = SuspensionState::waiting;
  Time suspended_at = {};
  std::optional<Time> ended_at = {};
  std::string ended_by = {};                // who overruled it
  std::vector<std::uint32_t> signals = {};  // that satisfied it, by their numbers

  static auto weir_fields(auto& self) {
    return std::tie(self.key, self.condition, self.on_timeout, self.resume_delay, self.state,
                    self.suspended_at, self.ended_at, self.ended_by, self.signals);
  }
};

/// Something that was sent to an execution. It never changes.
struct Signal {
  std::string waitpoint = {};
  std::string payload = {};
  /// The same id at the same waitpoint is the same signal; none is different from all others.
  std::string id = {};
  std::string source = {};
  bool is_approval = false;  // by an operator, without a token
  Time at = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.waitpoint, self.payload, self.id, self.source, self.is_approval, self.at);
  }
  friend bool operator==(const Signal&, const Signal&) = default;
};

/// Signals are numbered from 0 as they come.
struct SignalKey {
  ExecutionId execution = {};
  std::uint32_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.number); }
  friend bool operator==(const SignalKey&, const SignalKey&) = default;
  friend auto operator<=>(const SignalKey&, const SignalKey&) = default;
};

/// An id of a signal that was used.
struct SignalUse {
  std::uint32_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.number); }
};

struct SignalUseKey {
  ExecutionId execution = {};
  std::string waitpoint = {};
  std::string id = {};

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.waitpoint, self.id); }
  friend bool operator==(const SignalUseKey&, const SignalUseKey&) = default;
  friend auto operator<=>(const SignalUseKey&, const SignalUseKey&) = default;
};

/// The signals of an execution that nothing has taken yet, in the order in which they came.
struct Mailbox {
  struct Entry {
    std::uint32_t number = 0;
    std::string waitpoint = {};
    std::string source = {};

    static auto weir_fields(auto& self) {
      return std::tie(self.number, self.waitpoint, self.source);
    }
  };
  std::vector<Entry> entries = {};

  static auto weir_fields(auto& self) { return std::tie(self.entries); }
};

/// A secret by which tokens of waitpoints are signed.
struct SigningKey {
  std::string id = {};
  std::string secret = {};
  Time added_at = {};

  static auto weir_fields(auto& self) { return std::tie(self.id, self.secret, self.added_at); }
};

/// The newest, which is the last one, signs; all of them verify.
struct Keyring {
  std::vector<SigningKey> keys = {};

  static auto weir_fields(auto& self) { return std::tie(self.keys); }
};

// Limits of what is stored.
inline constexpr std::size_t signal_bytes_max = std::size_t{1} << 16;
inline constexpr std::uint32_t signals_max = 10'000;       // for an execution, in its whole life
inline constexpr std::size_t mailbox_entries_max = 1'000;  // that nothing has taken
inline constexpr std::size_t waitpoints_max = 64;          // in a condition
inline constexpr std::size_t signing_keys_max = 16;
inline constexpr std::size_t secret_bytes_min = 16;

/// How a worker lets its execution wait.
struct SuspendRequest {
  WaitCondition condition;
  /// With a key, the same one again is the same suspension: one that is over answers as it did,
  /// also to the next attempt. So a worker that dies after it was resumed misses nothing.
  std::string key = {};
  /// What people are told: one of the reasons to wait for something from outside.
  BlockingReason reason = BlockingReason::waiting_for_signal;
  std::optional<Duration> timeout = {};
  OnTimeout on_timeout = OnTimeout::fail;
  /// How long after its end it is claimed again.
  Duration resume_delay = {};
};

/// Why an execution went on after a suspension.
struct Resumption {
  std::string key;
  /// `satisfied`, `timed_out` or `overruled`.
  SuspensionState state = SuspensionState::satisfied;
  std::string by;               // who overruled it
  std::vector<Signal> signals;  // those that satisfied it
};

struct WaitpointToken {
  std::string waitpoint;
  std::string token;
};

struct SuspendResult {
  /// Given if there was nothing to wait for: the lease is kept, and the attempt goes on.
  std::optional<Resumption> resumed = {};
  /// For each waitpoint of the condition; whoever has one may send a signal to it.
  std::vector<WaitpointToken> tokens = {};
};

/// A signal to be sent.
struct NewSignal {
  ExecutionId execution;
  std::string waitpoint;
  std::string payload = {};
  /// The same id at the same waitpoint counts once; without one each call does.
  std::string id = {};
  /// Who sends it; different ones may be needed.
  std::string source = {};
};

/// What a signal did.
enum class SignalEffect : std::uint8_t { kept = 1, resumed, duplicate };
template <>
inline constexpr std::array words<SignalEffect> = {"kept", "resumed", "duplicate"};

/// `invalid_argument`, `too_large` or `unsupported_policy`, with the value.
Result<> validate(const WaitCondition& condition);

}  // namespace weir::flow::workflow
