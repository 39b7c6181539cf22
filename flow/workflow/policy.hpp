#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <weir/flow/workflow/state.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

/// By the clock of the store.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

/// How long to wait before an attempt after one that failed.
struct RetryPolicy {
  /// Attempts after the first one.
  std::uint32_t retries_max = 3;
  /// Before the first of them; before each further one `multiplier` times as long.
  Duration backoff = std::chrono::seconds(1);
  std::uint32_t multiplier = 2;
  Duration backoff_max = std::chrono::minutes(1);
  /// Draws the time evenly from half of it up to all of it, so that those who failed together do
  /// not come again together.
  bool has_jitter = false;
  /// Failures of which categories are tried again; of all if there are none here.
  std::vector<std::string> categories = {};

  /// The same time before each.
  static RetryPolicy fixed(Duration backoff, std::uint32_t retries_max = 3) {
    return {
        .retries_max = retries_max, .backoff = backoff, .multiplier = 1, .backoff_max = backoff};
  }

  static auto weir_fields(auto& self) {
    return std::tie(self.retries_max, self.backoff, self.multiplier, self.backoff_max,
                    self.has_jitter, self.categories);
  }
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

/// Before retry number `retry`, from 1 on. `random` decides the jitter.
Duration backoff_before(const RetryPolicy& policy, std::uint32_t retry, std::uint64_t random);

/// What becomes of those who would only have added to what is decided.
enum class OnSatisfied : std::uint8_t { let_run = 1, cancel_remaining };
template <>
inline constexpr std::array words<OnSatisfied> = {"let_run", "cancel_remaining"};

/// When the dependencies of an execution are satisfied.
struct EdgePolicy {
  enum class Kind : std::uint8_t { all_of = 1, any_of, quorum };

  Kind kind = Kind::all_of;
  /// Of a quorum: how many have to succeed.
  std::uint32_t k = 0;
  OnSatisfied on_satisfied = OnSatisfied::let_run;

  static EdgePolicy all_of() { return {}; }
  static EdgePolicy any_of(OnSatisfied on_satisfied) { return {Kind::any_of, 0, on_satisfied}; }
  static EdgePolicy quorum(std::uint32_t k, OnSatisfied on_satisfied) {
    return {Kind::quorum, k, on_satisfied};
  }

  /// How many of `edges` have to succeed.
  std::uint32_t needed(std::uint32_t edges) const noexcept {
    if (kind == Kind::all_of) return edges;
    return kind == Kind::any_of ? 1 : k;
  }

  static auto weir_fields(auto& self) { return std::tie(self.kind, self.k, self.on_satisfied); }
  friend bool operator==(const EdgePolicy&, const EdgePolicy&) = default;
};
template <>
inline constexpr std::array words<EdgePolicy::Kind> = {"all_of", "any_of", "quorum"};

/// `invalid_argument` for a quorum of none, `unsupported_policy` for what is not known here.
Result<> validate(const EdgePolicy& policy);
/// `quorum(3, cancel_remaining)`.
std::string to_string(const EdgePolicy& policy);

/// What the failure of one execution means for the others of its workflow.
enum class FailurePolicy : std::uint8_t {
  /// Those that depend on it are skipped, others go on; the workflow fails in the end.
  isolate = 1,
  /// All that have not ended are cancelled, and the workflow fails.
  fail_fast,
  /// As `isolate`, but the workflow completes: failures are results to look at.
  collect,
};
template <>
inline constexpr std::array words<FailurePolicy> = {"isolate", "fail_fast", "collect"};

/// Which executions of a workflow are cancelled with it.
enum class CancelPolicy : std::uint8_t {
  cancel_workflow_only = 1,
  cancel_all,
  /// Those that have not been begun.
  cancel_pending,
};
template <>
inline constexpr std::array words<CancelPolicy> = {"cancel_workflow_only", "cancel_all",
                                                   "cancel_pending"};

using Tags = std::map<std::string, std::string>;

/// Keys are two or more words with dots between them: `team.name`. `invalid_argument`, `too_large`.
Result<> validate_tag(std::string_view key, std::string_view value);
Result<> validate(const Tags& tags);

// Limits of what is stored.
inline constexpr std::size_t payload_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t name_bytes_max = 256;
inline constexpr std::size_t tag_bytes_max = 1024;
inline constexpr std::size_t tags_max = 64;
inline constexpr std::size_t capabilities_max = 256;
inline constexpr std::size_t capabilities_bytes_max = 4096;
inline constexpr std::int32_t priority_max = 9000;

}  // namespace weir::flow::workflow
