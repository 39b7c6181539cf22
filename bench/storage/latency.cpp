// How long after a commit in memory a waiting reader of the change log runs.

#include <weir/bench/storage/latency.hpp>

#include <algorithm>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/futex.hpp>
#include <weir/bench/storage/workloads.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::storage {
namespace {

using namespace weir::bench::actors;
using weir::storage::Store;
using weir::storage::Version;
using Rows = weir::storage::RowSpace<std::uint64_t, std::string>;
using Clock = std::chrono::steady_clock;

struct Follow {
  using Reply = bool;
  Version first;  // the last one before it begins
  std::int64_t commits;
};

/// Notes when it saw each version.
class Follower final : public Actor<Follow> {
 public:
  Follower(weir::storage::ChangeLog log, std::vector<Clock::time_point>* seen)
      : log_(std::move(log)), seen_(seen) {}
  Task<bool> on(Follow follow) {
    const Version first = follow.first;
    Version last = first;
    const Version end{first.number + static_cast<std::uint64_t>(follow.commits)};
    while (last < end) {
      const Version newest = *co_await log_.wait_past(last);
      const auto now = Clock::now();
      for (; last < newest; last = last.next()) (*seen_)[last.number - first.number] = now;
    }
    co_return true;
  }

 private:
  weir::storage::ChangeLog log_;
  std::vector<Clock::time_point>* seen_;
};

/// One commit after another, each when the follower has seen the one before.
Task<> commit_slowly(Store* store, Rows rows, std::vector<Clock::time_point>* begun,
                     std::int64_t commits) {
  for (std::int64_t i = 0; i < commits; ++i) {
    auto transaction = store->begin();
    transaction.put(rows, static_cast<std::uint64_t>(i), "value");
    (*begun)[static_cast<std::size_t>(i)] = Clock::now();
    verify((co_await transaction.commit()).has_value(), "commit");
  }
}

Task<> follow(ActorRef<Follow> follower, Version first, std::int64_t commits) {
  verify((co_await follower.ask<Follow>(first, commits).within(forever)).has_value(), "follower");
}

Task<> commit_and_follow(Store* store, Rows rows, ActorRef<Follow> follower,
                         std::vector<Clock::time_point>* begun, std::int64_t commits) {
  TaskScope scope;
  scope.spawn(follow(follower, store->version(), commits));
  scope.spawn(commit_slowly(store, rows, begun, commits));
  co_await scope.join();
}

}  // namespace

void wake() {
  const std::int64_t commits = scaled(100'000);
  ActorSystem system({.threads = static_cast<unsigned>(threads())});
  Store store = Store::open(system, {.durability = weir::storage::Durability::memory()}).value();
  const Rows rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
  std::vector<Clock::time_point> begun(static_cast<std::size_t>(commits));
  std::vector<Clock::time_point> seen(static_cast<std::size_t>(commits));
  const auto follower = system.spawn<Follower>(store.log(), &seen);
  system.run(commit_and_follow(&store, rows, follower, &begun, commits));
  std::vector<double> waits;
  for (std::size_t i = 0; i < begun.size(); ++i) {
    waits.push_back(std::chrono::duration<double, std::micro>(seen[i] - begun[i]).count());
  }
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double part) {
    return waits[static_cast<std::size_t>(part * static_cast<double>(waits.size() - 1))];
  };
  print_result("wake", at(0.5), "us",
               {{"p99", at(0.99)}, {"p999", at(0.999)}, {"futex", futex_round_trip_us()}});
}

}  // namespace weir::bench::storage
