// The commit actor and the disk: writing, syncing, collecting and closing.
#include <algorithm>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/commit_actor.hpp>
#include <weir/storage/internal/row_format.hpp>

namespace weir::storage::internal {
namespace {

using engine::Family;
using engine::Wait;
using Mode = Durability::Mode;

Error until_reopened(const Error& cause, std::error_code code) {
  const char* first = cause == Errc::no_space ? "; make room: " : "; ";
  return Error(code, cause.message() + first + "nothing is committed until the store is reopened");
}

/// On a thread that may wait, even when the system is stopping and lends none any more.
template <class F>
Task<Result<>> wait_for_disk(F call) {
  auto done = co_await on_blocking_pool(call);
  if (!done && done.error() == weir::Errc::stopped) done = call();
  co_return done;
}

}  // namespace

Task<> CommitActor::on(Flush) { (void)co_await write_all(); }

/// Writes what has been accepted, if that can be done without waiting for the disk.
Result<> CommitActor::write_now() {
  // What is being written is in no batch any more, and not yet in the engine.
  if (writing_.is_locked()) return Error(Errc::conflict, "the disk is behind");
  if (batch_->is_empty()) return {};
  auto written = core_->engine->write(*batch_, Wait::never);
  if (written) {
    batch_->clear();
    note_written(accepted_);
  } else if (written.error() == Errc::would_block) {
    return Error(Errc::conflict, "the disk is behind");
  } else {
    fail(written.error());
  }
  return written;
}

Task<Result<>> CommitActor::write_all() {
  WEIR_CO_TRY(lock, co_await writing_.lock());
  is_flush_due_ = false;
  while (!batch_->is_empty() && !failure_) {
    std::shared_ptr<engine::Batch> batch = std::exchange(batch_, std::move(spare_));
    const Version last = accepted_;
    auto written = core_->engine->write(*batch, Wait::never);
    if (!written && written.error() == Errc::would_block) {
      written = co_await wait_for_disk(
          [core = core_, batch] { return core->engine->write(*batch, Wait::allowed); });
    }
    batch->clear();
    spare_ = std::move(batch);
    if (!written) {
      fail(written.error());
      co_return written;
    }
    note_written(last);
  }
  co_return {};
}

void CommitActor::note_written(Version last) {
  written_ = last;
  if (core_->options.durability.mode != Mode::durable) core_->published.publish(last.number);
  arrange_sync();
  arrange_tidy();
}

void CommitActor::arrange_sync() {
  if (is_sync_due_ || core_->options.durability.mode == Mode::memory) return;
  is_sync_due_ = true;
  if (core_->options.durability.mode == Mode::durable) {
    self().send<Sync>();
  } else {
    schedule_once<Sync>(core_->options.durability.interval);
  }
}

Task<> CommitActor::on(Sync) { (void)co_await sync_written(); }

Task<Result<>> CommitActor::sync_written() {
  // Who waits here shares the next sync with all that is written meanwhile.
  WEIR_CO_TRY(lock, co_await syncing_.lock());
  is_sync_due_ = false;
  if (failure_) co_return until_reopened(*failure_, Errc::failed);
  if (synced_ == written_ && !is_meta_unsynced_) co_return {};
  const Version target = written_;
  is_meta_unsynced_ = false;
  auto synced = co_await wait_for_disk([core = core_] { return core->engine->sync(); });
  if (!synced) {
    fail(synced.error());
    co_return synced;
  }
  synced_ = target;
  core_->published.publish(synced_.number);
  co_return {};
}

void CommitActor::fail(const Error& cause) {
  if (failure_) return;
  failure_ = cause;
  core_->set_end(until_reopened(cause, Errc::failed));
  core_->published.close(until_reopened(cause, cause.code()));
}

Task<Result<bool>> CommitActor::on(Close) {
  core_->set_end(Error(Errc::closed));
  WEIR_CO_TRY_VOID(co_await finish());
  co_return true;
}

Task<> CommitActor::on_stop() {
  core_->set_end(Error(Errc::closed, "the actor system has stopped"));
  (void)co_await finish();
}

Task<Result<>> CommitActor::finish() {
  auto done = co_await write_all();
  if (done && core_->options.durability.mode != Mode::memory) done = co_await sync_written();
  core_->published.close(Error(Errc::closed));
  co_return done;
}

void CommitActor::on_start() { times_.note(now(), core_->newest()); }

void CommitActor::arrange_tidy() {
  if (std::exchange(is_tidy_due_, true)) return;
  schedule_once<Tidy>(core_->options.collect_interval);
}

Task<> CommitActor::on(Tidy) {
  is_tidy_due_ = false;
  const auto collected = co_await collect();
  // What is kept for a time goes when that time has passed, even if nothing happens until then.
  const Retention& retention = core_->options.retention;
  const bool is_timed = retention.history > Duration::zero() || retention.log > Duration::zero();
  if (!collected) co_return;
  const Version newest = core_->newest();
  const bool is_kept = collected->horizon < newest || collected->log_floor < newest;
  if ((is_timed && is_kept) || !unswept_.empty()) arrange_tidy();
}

Task<Result<Collectable>> CommitActor::on(Collect) { return collect(); }

/// Moves the horizon and the beginning of the change log forward as far as nobody needs what is
/// before. Readers are told first, then the disk, and only then may anything go.
Task<Result<Collectable>> CommitActor::collect() {
  WEIR_CO_TRY(lock, co_await collecting_.lock());
  if (auto end = core_->end()) co_return *end;
  times_.note(now(), core_->newest());
  WEIR_CO_TRY(floor, co_await next_log_floor());
  const Version horizon = core_->pins.raise_horizon(kept_since(core_->options.retention.history));
  const Version first{core_->first_logged.load(std::memory_order_relaxed)};
  const Collectable collectable{horizon, std::max(first, floor)};
  if (horizon > horizon_) batch_->put(Family::meta, horizon_key, encode_version(horizon));
  if (first < collectable.log_floor) {
    core_->first_logged.store(floor.number, std::memory_order_release);
    batch_->put(Family::meta, log_floor_key, encode_version(floor));
    batch_->erase_range(Family::log, log_key(first), log_key(floor));
  }
  WEIR_CO_TRY_VOID(co_await write_all());
  if (horizon > horizon_) {
    is_meta_unsynced_ = true;
    if (core_->options.durability.mode != Mode::memory) {
      WEIR_CO_TRY_VOID(co_await sync_written());
    }
    horizon_ = horizon;
    core_->engine->set_horizon(horizon.number);
  }
  WEIR_CO_TRY_VOID(co_await sweep_dropped());
  co_return collectable;
}

/// Removes what dropped key spaces hold, once no version can be read at which they were there. If a
/// crash takes that back, it takes back the note that it was done as well.
Task<Result<>> CommitActor::sweep_dropped() {
  bool is_any = false;
  for (auto dropped = unswept_.begin(); dropped != unswept_.end();) {
    const auto [space, version] = *dropped;
    if (version > horizon_) {
      ++dropped;
      continue;
    }
    is_any = true;
    for (const Family family : {Family::rows, Family::history, Family::state}) {
      batch_->erase_range(family, row_key(space, {}), space_end(space));
    }
    batch_->erase(Family::meta, dropped_key(space));
    dropped = unswept_.erase(dropped);
  }
  if (is_any) co_return co_await write_all();
  co_return {};
}

/// What was the newest version so long ago: everything from there on is kept.
Version CommitActor::kept_since(Duration age) {
  if (age == Duration::zero()) return core_->newest();
  return times_.newest_at(now() - age);
}

Task<Result<Version>> CommitActor::next_log_floor() {
  const Retention& retention = core_->options.retention;
  const auto age_max = static_cast<std::uint64_t>(retention.log_age_max.count() / 1000);
  const std::uint64_t time = core_->microseconds_at(now());
  const std::uint64_t oldest = time - std::min(time, age_max);
  WEIR_CO_TRY(limit, co_await on_blocking_pool([core = core_, total = retention_.total_bytes,
                                                bytes = retention.log_bytes_max, oldest] {
                return log_limit(*core, total, bytes, oldest);
              }));
  // Asked after the wait: a consumer that came meanwhile counts.
  const Version newest = core_->newest();
  Version floor = std::min(retention_.passed_by_all(newest), kept_since(retention.log)).next();
  floor = std::min(floor, core_->pins.oldest_or(newest).next());
  // The newest record stays: it tells the newest version.
  co_return std::min(std::max(floor, limit), newest);
}

}  // namespace weir::storage::internal
