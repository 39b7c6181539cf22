#include <weir/flow/view/internal/coordinator.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::view::internal {
namespace {

constexpr std::size_t step_rows_first = 64;

}  // namespace

Coordinator::Coordinator(std::shared_ptr<const Catalog> catalog, std::shared_ptr<FlowBoard> board,
                         std::shared_ptr<SequenceBarrier> gone, CoordinatorOptions options)
    : departure_(std::move(gone)),
      catalog_(std::move(catalog)),
      store_(catalog_->store()),
      board_(std::move(board)),
      options_(std::move(options)),
      step_rows_(std::min(options_.backfill_rows, step_rows_first)) {}

Task<Result<bool>> Coordinator::on(Start) {
  WEIR_CO_TRY_VOID(co_await load_catalog());
  WEIR_CO_TRY_VOID(co_await recover());
  publish_all();
  static_cast<void>(self().send<Wake>());
  co_return true;
}

Task<bool> Coordinator::on(Close) {
  is_closing_ = true;
  tasks_.cancel_all();
  if (pool_) static_cast<void>(co_await pool_.ask<Drain>());
  co_return true;
}

Task<> Coordinator::on_stop() {
  tasks_.cancel_all();
  co_await tasks_.join();
  board_->changes().close(Error(weir::Errc::stopped, "the database is closed"));
}

/// One cycle, then whoever else has sent something.
Task<> Coordinator::on(Wake) {
  if (is_closing_ || now() < read_due_) co_return;
  auto advanced = co_await advance_log(std::nullopt);
  bool has_more = advanced && *advanced;
  Result<> outcome = advanced ? Result<>() : Result<>(advanced.error());
  const bool may_move = outcome && read_failures_ == 0 && !unsettled_.empty();
  if (may_move && now() >= (has_more ? others_due_ : rested_at_)) {
    auto moved = co_await advance_others();
    has_more = has_more || (moved && *moved);
    if (!moved) outcome = moved.error();
  } else if (may_move && !has_more) {
    rest();
  }
  if (fails(outcome)) co_return;
  if (is_closing_ || read_failures_ > 0) co_return;
  if (has_more) {
    static_cast<void>(self().send<Wake>());
  } else if (!is_watching_) {
    is_watching_ = true;
    tasks_.spawn(watch_log(position_));
  }
}

/// Between steps, if someone follows changes: whoever comes then finds the cores free.
void Coordinator::rest() {
  rest_timer_.cancel();
  rest_timer_ = schedule_once<Wake>(std::max<Duration>(rested_at_ - now(), Duration::zero()));
}

/// Views that are not live yet move when there is nothing else to do, for half of the time if
/// someone follows changes, and under load for a fifth of it.
Task<Result<bool>> Coordinator::advance_others() {
  const TimePoint began = now();
  WEIR_CO_TRY(caught_up, co_await advance_behind());
  WEIR_CO_TRY(filled, co_await advance_backfill());
  const Duration took = now() - began;
  others_due_ = now() + 4 * took;
  rested_at_ = is_busy() ? now() + took : now();
  co_return caught_up || filled;
}

void Coordinator::note_settled(std::uint64_t id) {
  const Progress& progress = flows_.at(id).progress;
  const bool is_settled =
      progress.phase == ViewPhase::live && !progress.behind && !progress.is_wiping;
  if (is_settled) {
    unsettled_.erase(id);
  } else {
    unsettled_.insert(id);
  }
}

Task<> Coordinator::watch_log(storage::Version seen) {
  auto newest = co_await store_->log().wait_past(seen);
  is_watching_ = false;
  if (newest && !is_closing_) static_cast<void>(self().send<Wake>());
}

/// A log that could not be read may be there again in a moment. False if it was tried often enough.
bool Coordinator::reads_later() {
  if (++read_failures_ >= options_.failures_max) return false;
  const Duration wait = options_.retry_backoff * (1u << std::min(read_failures_ - 1, 20u));
  read_due_ = now() + wait;
  schedule_once<Wake>(wait);
  return true;
}

/// The store cannot be read or written any more: nothing can be done until it is opened again.
bool Coordinator::fails(const Result<>& result) {
  if (result) return false;
  if (phase() != Phase::idle) enter<Phase::idle>();
  telemetry::Telemetry* telemetry = system().options().telemetry;
  if (board_->stop(ViewUpdate::deferred, result.error()) && telemetry != nullptr)
    telemetry->logger().error("views have stopped", {{"error", result.error().message()}});
  return true;
}

}  // namespace weir::flow::view::internal
