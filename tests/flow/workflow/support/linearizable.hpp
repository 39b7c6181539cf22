#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::flow::workflow::testing {

/// What was asked of one execution.
enum class Asked : std::uint8_t { claim, complete, fail, cancel, revoke, describe };

/// A question with its answer, and when it was asked and answered: numbers that all clients draw
/// from one row.
struct Call {
  Asked asked = Asked::describe;
  std::uint64_t begin = 0;
  /// None if there was no answer: it may have been done at any time since, or never.
  std::optional<std::uint64_t> end = {};
  /// Whether it did what was asked; of `describe`, whether the execution has ended.
  bool is_done = false;
  /// Of the handle, if one was used; of `claim` and `describe`, what was given.
  std::uint64_t epoch = 0;
  /// Of `describe`: whether somebody has a lease.
  bool is_held = false;
};

std::string to_string(const Call& call);

/// Whether there is an order in which the calls, done one after the other, would all have had the
/// answers that they had, and in which each is after those that were answered before it was asked
/// (Wing and Gong). They are of one execution whose attempts may be repeated for ever and whose
/// leases do not expire; at most 64.
bool is_linearizable(const std::vector<Call>& calls);

}  // namespace weir::flow::workflow::testing
