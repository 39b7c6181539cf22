#pragma once

#include <system_error>

namespace weir::flow::workflow {

/// Why the engine refused something.
enum class Errc {
  /// A value outside of what is accepted; it is named.
  invalid_argument = 1,
  /// No such execution, workflow, edge, lane or waitpoint.
  not_found,
  /// The id or the idempotency key belongs to something else.
  already_exists,
  /// The idempotency key was used for another request; what differs is named.
  idempotency_mismatch,
  /// A payload, tag or list above its limit.
  too_large,
  /// What was asked for does not fit the state; both are named.
  wrong_state,

  // Of who has, or had, a lease; the first that applies, in this order.
  execution_not_active,
  lease_revoked,
  lease_expired,
  stale_lease,

  /// A token that was not made for this waitpoint, or whose key is gone.
  invalid_token,
  /// The handle is of another store.
  foreign_handle,
  /// The workflow has ended, or was cancelled: nothing is added to it.
  workflow_sealed,
  /// The graph has changed since it was looked at.
  stale_revision,
  /// The edge would close a cycle, which is printed.
  cycle,
  /// Edges have been staged for the group under another policy.
  policy_fixed,
  /// The group has fired: no edge is added to it.
  group_fired,
  /// A policy of a newer version of Weir; never taken for another one.
  unsupported_policy,
  /// An execution was given up or replayed too often.
  limit_reached,

  /// Others were faster, as often as was tried.
  retry_exhausted,
  /// The store does not answer.
  unavailable,
  /// Stored rows are not what was written; table and column are named.
  corruption,
  closed,

  /// A step of a durable coroutine, for good. A step that gives this itself is not tried again.
  step_failed,
  /// A durable coroutine does not do what its journal says it did; both are named.
  code_changed,
  /// Notices that were asked for have been removed; the first that is there is named.
  overtaken,
};

const std::error_category& workflow_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), workflow_category()};
}

}  // namespace weir::flow::workflow

template <>
struct std::is_error_code_enum<weir::flow::workflow::Errc> : std::true_type {};
