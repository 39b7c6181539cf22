#pragma once

#include <memory>
#include <optional>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/change_log.hpp>
#include <weir/storage/version.hpp>
#include <weir/telemetry/trace_context.hpp>

namespace weir::flow::view {

struct SubscribeOptions {
  /// Goes on behind this one: the `resume` of the last delta that was dealt with. Without it, from
  /// now on.
  std::optional<storage::Version> after = {};
  /// First all rows that are there. Not together with `after`.
  bool with_snapshot = false;
  /// What is read ahead at most.
  storage::ReadLimits limits = {};
};

/// What one commit did to a table or view, or rows of a snapshot.
struct Delta {
  data::ChangeBatch changes;
  /// Where to go on after this one. None within a snapshot: that is begun again.
  std::optional<storage::Version> resume;
  /// Where in a trace the commit was made; not valid if it was not recorded, and within a snapshot.
  telemetry::TraceContext trace = {};
};

/// Every change of a table or view, commit by commit, for who asks:
///
///     auto subscription = database.subscribe(revenue, {.with_snapshot = true}).value();
///     for (;;) {
///       WEIR_CO_TRY(delta, co_await subscription.next());
///       ...
///     }
///
/// A view that is not ready where this begins has rows in the log that are only parts of what it
/// will be: nobody is given those. Then this begins with the first commit after the one that makes
/// it ready; a snapshot is refused with `not_ready`.
///
/// Nothing is kept for a subscriber that is slow: it reads the log where it left off. One that is
/// slower than the log is kept is told so, with `storage::Errc::overtaken`. Confined to one actor.
class Subscription {
 public:
  /// Waits for the next one. `not_ready` if it is a view that failed or is built again, and
  /// `stale_relation` if it was altered or dropped: then subscribe again.
  Task<Result<Delta>> next();
  /// The same without waiting for commits to come: nothing if there are no more changes yet.
  Task<Result<std::optional<Delta>>> next_if_any();
  /// How far it has come: what is up to here has been given, or is of others. Goes on with `after`,
  /// unless it is within a snapshot.
  storage::Version seen() const noexcept;

 private:
  friend class Database;
  struct Following;
  explicit Subscription(std::shared_ptr<Following> following) noexcept
      : following_(std::move(following)) {}

  std::shared_ptr<Following> following_;
};

}  // namespace weir::flow::view
