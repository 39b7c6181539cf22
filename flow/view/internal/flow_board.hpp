#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <weir/flow/view/view_options.hpp>
#include <weir/flow/view/view_status.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

/// What of `ViewCounts` only grows, of several views.
struct ViewTotals {
  std::uint64_t rows_in = 0;
  std::uint64_t rows_out = 0;
  std::uint64_t row_errors = 0;
  std::uint64_t late_rows = 0;
  std::uint64_t failures = 0;
  std::uint64_t backfill_rows = 0;

  void add(const ViewCounts& counts) noexcept {
    rows_in += counts.rows_in;
    rows_out += counts.rows_out;
    row_errors += counts.row_errors;
    late_rows += counts.late_rows;
    failures += counts.failures;
    backfill_rows += counts.backfill_rows;
  }
};

/// What the coordinator tells everyone about views. Usable from any thread.
class FlowBoard {
 public:
  /// None if the coordinator does not know it (yet).
  std::optional<ViewStatus> find(std::uint64_t view) const {
    const std::scoped_lock lock(mutex_);
    const auto at = views_.find(view);
    if (at == views_.end()) return std::nullopt;
    ViewStatus status = at->second;
    if (status.phase == ViewPhase::live) status.position = position_;
    return status;
  }
  void set(std::uint64_t view, ViewStatus status) {
    const std::scoped_lock lock(mutex_);
    views_.insert_or_assign(view, std::move(status));
  }
  /// Of views that are known already, and of all together.
  void count(const std::vector<std::pair<std::uint64_t, ViewCounts>>& counts) {
    const std::scoped_lock lock(mutex_);
    ++cycles_;
    for (const auto& [view, now] : counts) {
      const auto at = views_.find(view);
      if (at != views_.end()) at->second.counts = now;
    }
  }
  /// Of one view, whoever runs it.
  void set_counts(std::uint64_t view, const ViewCounts& now) {
    const std::scoped_lock lock(mutex_);
    const auto at = views_.find(view);
    if (at != views_.end()) at->second.counts = now;
  }
  /// Changes of relations that no flow keeps, by their numbers.
  void count_rows(const std::map<std::uint64_t, std::uint64_t>& rows) {
    if (rows.empty()) return;
    const std::scoped_lock lock(mutex_);
    for (const auto& [relation, count] : rows) rows_[relation] += count;
  }
  std::uint64_t rows_changed(std::uint64_t relation) const {
    const std::scoped_lock lock(mutex_);
    const auto at = rows_.find(relation);
    return at == rows_.end() ? 0 : at->second;
  }
  std::uint64_t cycles() const {
    const std::scoped_lock lock(mutex_);
    return cycles_;
  }
  /// All of them, by number.
  std::map<std::uint64_t, ViewStatus> all() const {
    const std::scoped_lock lock(mutex_);
    return views_;
  }
  void forget_rows(std::uint64_t relation) {
    const std::scoped_lock lock(mutex_);
    rows_.erase(relation);
  }
  void erase(std::uint64_t view) {
    const std::scoped_lock lock(mutex_);
    const auto at = views_.find(view);
    if (at == views_.end()) return;
    gone_.add(at->second.counts);
    views_.erase(at);
  }
  /// What all views have done, also those that are gone: it never becomes less.
  ViewTotals totals() const {
    const std::scoped_lock lock(mutex_);
    ViewTotals totals = gone_;
    for (const auto& [id, status] : views_) totals.add(status.counts);
    return totals;
  }
  /// All deferred views, or all transactional ones, go no further until the store is opened again.
  /// False if that was known.
  bool stop(ViewUpdate views, const Error& error) {
    {
      const std::scoped_lock lock(mutex_);
      if (!stopped_.emplace(views, error).second) return false;
    }
    publish();
    return true;
  }
  std::optional<Error> stopped(ViewUpdate views) const {
    const std::scoped_lock lock(mutex_);
    const auto at = stopped_.find(views);
    return at == stopped_.end() ? std::nullopt : std::optional(at->second);
  }
  storage::Version position() const {
    const std::scoped_lock lock(mutex_);
    return position_;
  }
  /// Waits until the coordinator has dealt with everything up to `version`.
  Task<Result<>> reach(storage::Version version) {
    while (position() < version) {
      const std::uint64_t seen = changes_.published();
      if (position() >= version) break;
      if (const auto reason = stopped(ViewUpdate::deferred)) co_return *reason;
      WEIR_CO_TRY_VOID(co_await changes_.wait_until(seen + 1));
    }
    co_return {};
  }
  /// Where all live views are.
  void set_position(storage::Version position) {
    const std::scoped_lock lock(mutex_);
    position_ = position;
  }

  /// Grows whenever something has changed here, also when views have stopped: publish after all
  /// else. Closed with the database.
  SequenceBarrier& changes() noexcept { return changes_; }
  void publish() noexcept { changes_.publish(changes_.published() + 1); }

 private:
  mutable std::mutex mutex_;
  // Guarded by `mutex_`.
  std::map<std::uint64_t, ViewStatus> views_;
  ViewTotals gone_;  // of those that were dropped
  std::map<std::uint64_t, std::uint64_t> rows_;
  std::map<ViewUpdate, Error> stopped_;
  storage::Version position_;
  std::uint64_t cycles_ = 0;

  SequenceBarrier changes_;
};

}  // namespace weir::flow::view::internal
