#include <weir/flow/view/internal/coordinator.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

Coordinator::Coordinator(const storage::Store* store, std::shared_ptr<const Catalog> catalog,
                         std::shared_ptr<FlowBoard> board, std::shared_ptr<SequenceBarrier> gone,
                         CoordinatorOptions options)
    : store_(store),
      catalog_(std::move(catalog)),
      board_(std::move(board)),
      gone_(std::move(gone)),
      options_(std::move(options)) {}

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
  if (is_closing_) co_return;
  auto consuming = span("flow.coordinator.consume");
  auto advanced = co_await advance_log(std::nullopt);
  bool has_more = advanced && *advanced;
  Result<> outcome = advanced ? Result<>() : Result<>(advanced.error());
  if (outcome && !has_more) {
    auto filled = co_await advance_backfill();
    has_more = filled && *filled;
    if (!filled) outcome = filled.error();
  }
  if (fails(outcome)) co_return;
  if (is_closing_) co_return;
  if (has_more) {
    static_cast<void>(self().send<Wake>());
  } else if (!is_watching_) {
    is_watching_ = true;
    tasks_.spawn(watch_log(position_));
  }
}

Task<> Coordinator::watch_log(storage::Version seen) {
  auto newest = co_await store_->log().wait_past(seen);
  is_watching_ = false;
  if (newest && !is_closing_) static_cast<void>(self().send<Wake>());
}

/// The store cannot be read or written any more: nothing can be done until it is opened again.
bool Coordinator::fails(const Result<>& result) {
  if (result) return false;
  if (phase() != Phase::idle) enter<Phase::idle>();
  board_->changes().close(result.error());
  return true;
}

void Coordinator::publish(std::uint64_t id) {
  const Progress& progress = flows_.at(id).progress;
  board_->set(id, {.phase = progress.phase,
                   .position = position_,
                   .rows_taken = progress.rows_taken,
                   .error = progress.error,
                   .failures = progress.failures});
}

void Coordinator::publish_all() {
  board_->set_position(position_);
  for (const auto& [id, flow] : flows_) publish(id);
  board_->publish();
}

}  // namespace weir::flow::view::internal
