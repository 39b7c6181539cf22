#include <weir/flow/workflow/postgres/internal/batch_actor.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/internal/failure.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

/// From zero to all of it, so that those who met do not meet again.
Duration pause_of(unsigned attempt, Duration first, std::uint64_t random) {
  const Duration most = std::min(first * (1 << std::min(attempt, 6U)), Duration(first * 40));
  return Duration(random % static_cast<std::uint64_t>(most.count()));
}

constexpr Duration contention_pause = std::chrono::milliseconds(5);
/// How many rows that cannot be read one batch sets aside.
constexpr unsigned broken_max = 100;
constexpr Duration loss_pause = std::chrono::milliseconds(50);
/// Each is a turn of those who run on the same thread; where nobody does, it is no time.
constexpr int gather_rounds_max = 32;

Result<> outcome_of(const Job& job, const Result<>& batch) {
  if (!batch) return told(batch.error());
  if (job.refusal()) return *job.refusal();
  return {};
}

Error closed() { return {Errc::closed, "the workflow engine was closed"}; }

}  // namespace

BatchActor::BatchActor(std::shared_ptr<const Context> context, OnEffects on_effects, Time about_now)
    : context_(std::move(context)), on_effects_(std::move(on_effects)), about_now_(about_now) {}

Task<Result<bool>> BatchActor::on(Submit submit) {
  if (is_stopped_) co_return closed();
  const JobRef job = std::move(submit.job);
  queue_.push_back(job);
  start();
  WEIR_CO_TRY_VOID(co_await job->done().wait_until(1));
  if (!job->outcome()) co_return job->outcome().error();
  co_return true;
}

void BatchActor::start() {
  while (running_ < context_->options.batches_max && !queue_.empty()) {
    const auto count = std::min(queue_.size(), context_->options.batch_max);
    std::vector<JobRef> jobs(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    ++running_;
    scope_.spawn(run(std::move(jobs)));
  }
}

Task<> BatchActor::run(std::vector<JobRef> jobs) {
  auto done = co_await try_all(jobs);
  const bool is_of_one = !done && !is_contention(done.error()) && !is_loss(done.error());
  if (is_of_one && jobs.size() > 1 && !is_stopped_) {
    // One of them is to blame, and the others are not to suffer for it.
    for (const JobRef& job : jobs) {
      auto alone = co_await try_all({job});
      job->finish(outcome_of(*job, alone));
    }
  } else {
    for (const JobRef& job : jobs) job->finish(outcome_of(*job, done));
  }
  co_await gather(jobs.size());
  --running_;
  start();
}

Task<> BatchActor::gather(std::size_t told) {
  const std::size_t wanted = std::min(queue_.size() + told, context_->options.batch_max);
  for (int rounds = 0; queue_.size() < wanted && rounds < gather_rounds_max; ++rounds) {
    co_await yield();
  }
}

Task<Result<>> BatchActor::try_all(std::vector<JobRef> jobs) {
  unsigned contentions = 0;
  unsigned broken = 0;
  for (unsigned losses = 0;;) {
    BatchRun batch(context_.get(), jobs, about_now_);
    auto done = co_await batch.run();
    if (done) {
      note_done(batch);
      co_return {};
    }
    const Error error = done.error();
    // Who claims passes over what is locked.
    if (!is_loss(error)) co_await batch.release();
    Duration pause = Duration::zero();
    if (is_contention(error)) {
      if (++contentions >= context_->options.attempts_max) {
        co_return Error(db::Errc::retry_exhausted,
                        std::to_string(contentions) + " attempts: " + error.detail());
      }
      pause = pause_of(contentions, contention_pause, random());
    } else if (batch.has_set_aside() && ++broken < broken_max) {
      continue;
    } else if (is_loss(error) && batch.has_begun() && ++losses < context_->options.losses_max) {
      pause = pause_of(losses, loss_pause, random());
    } else {
      co_return error;
    }
    WEIR_CO_TRY_VOID(co_await sleep_for(pause));
    if (!is_loss(error) || !batch.is_undecided()) continue;
    WEIR_CO_TRY(is_committed, co_await was_committed(batch.transaction_id()));
    if (!is_committed) continue;
    note_done(batch);
    co_return {};
  }
}

Task<Result<bool>> BatchActor::was_committed(std::string transaction_id) {
  for (unsigned attempt = 1;; ++attempt) {
    WEIR_CO_TRY(rows, co_await context_->pool.execute(
                          db::Statement("select pg_xact_status($1::text::xid8)", transaction_id)));
    WEIR_CO_TRY(status, rows[0].get<std::optional<std::string>>(0));
    if (status == "committed") co_return true;
    if (status == "aborted") co_return false;
    // Its session has not noticed yet that nobody is there.
    if (!status || attempt > 10) {
      co_return Error(db::Errc::unavailable,
                      "transaction " + transaction_id + " may have been committed");
    }
    WEIR_CO_TRY_VOID(co_await sleep_for(pause_of(attempt, loss_pause, random())));
  }
}

void BatchActor::note_done(const BatchRun& batch) {
  about_now_ = std::max(about_now_, batch.now());
  batch.count();
  batch.note_broken();
  if (!batch.effects().is_empty()) on_effects_(batch.effects());
}

Task<Result<bool>> BatchActor::on(StopBatches) {
  is_stopped_ = true;
  for (const JobRef& job : std::exchange(queue_, {})) job->finish(closed());
  co_await scope_.join();
  stop();
  co_return true;
}

}  // namespace weir::flow::workflow::postgres::internal
