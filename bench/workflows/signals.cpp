#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/bench/workflows/subject.hpp>
#include <weir/bench/workflows/workloads.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/try.hpp>

namespace weir::bench::workflows {
namespace {

using actors::print_result;
using actors::scaled;
using actors::Stopwatch;
using flow::workflow::Engine;
using flow::workflow::SuspendRequest;
using flow::workflow::WaitCondition;
using ::weir::storage::Durability;

struct Go {};

/// Suspends what it claims, and completes it when it is there again. It tells each of both.
class Sleeper final : public Actor<Go> {
 public:
  Sleeper(const Engine* engine, SequenceBarrier* turns) : engine_(engine), turns_(turns) {}

  Task<> on(Go) {
    for (;;) {
      auto claimed = co_await engine_->next({.worker = "w"});
      if (!claimed) co_return;
      const auto handle = claimed->at(0).handle;
      if (claimed->at(0).resumed) {
        turns_->publish(turns_->published() + 1);
        must(co_await engine_->complete(handle, "done"), "complete");
      } else {
        must(co_await engine_->suspend(handle, {.condition = WaitCondition::any_of({"go"})}),
             "suspend");
      }
      turns_->publish(turns_->published() + 1);
    }
  }

 private:
  const Engine* engine_;
  SequenceBarrier* turns_;
};

/// From the signal until its execution was claimed again, in milliseconds.
Task<Result<double>> resume_one(const Engine* engine, SequenceBarrier* turns) {
  std::uint64_t turn = turns->published();
  WEIR_CO_TRY(made, co_await engine->create_execution({.kind = "work"}));
  WEIR_CO_TRY_VOID(co_await turns->wait_until(++turn));  // suspended
  Stopwatch watch;
  watch.start();
  WEIR_CO_TRY_VOID(co_await engine->approve({.execution = made.id, .waitpoint = "go"}));
  WEIR_CO_TRY_VOID(co_await turns->wait_until(++turn));  // resumed
  watch.stop();
  WEIR_CO_TRY_VOID(co_await turns->wait_until(++turn));  // completed
  co_return watch.elapsed_ns() / 1e6;
}

/// One commit of something small, in milliseconds.
Task<Result<double>> commit_one(::weir::storage::Store* store) {
  WEIR_CO_TRY(rows, (co_await store->open_rows<std::uint64_t, std::string>("probe")));
  ::weir::storage::Transaction transaction = store->begin();
  transaction.put(rows, 1, "x");
  Stopwatch watch;
  watch.start();
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  watch.stop();
  co_return watch.elapsed_ns() / 1e6;
}

double part(std::vector<double>& times, std::size_t percent) {
  std::ranges::sort(times);
  return times[times.size() * percent / 100];
}

}  // namespace

void signals() {
  Subject subject(Durability::durable());
  SequenceBarrier turns;
  subject.system.spawn<Sleeper>(&subject.engine, &turns).send<Go>();
  std::vector<double> syncs;
  std::vector<double> resumes;
  for (std::int64_t round = scaled(2'000); round > 0; --round) {
    syncs.push_back(must(subject.system.run(commit_one(&subject.store)), "commit"));
    resumes.push_back(must(subject.system.run(resume_one(&subject.engine, &turns)), "resume"));
  }
  // Beyond a sync that takes as long as a hundredth of them do: the disk's own worst is not ours.
  const double beyond = part(resumes, 99) - part(syncs, 99);
  print_result("signals", beyond, "ms",
               {{"resume_p50", part(resumes, 50)},
                {"resume_p99", part(resumes, 99)},
                {"sync_p50", part(syncs, 50)},
                {"sync_p99", part(syncs, 99)}});
  must(subject.system.run(subject.engine.close()), "close");
}

}  // namespace weir::bench::workflows
