// How long a small commit takes to be seen in a view.

#include <weir/bench/views/freshness.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include <weir/bench/storage/futex.hpp>
#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/bench/views/view_workloads.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

namespace weir::bench::views {
namespace {

using actors::print_result;
using actors::verify;
using flow::data::col;
using flow::view::Database;
using flow::view::from;
using flow::view::Relation;
using weir::storage::Version;
using Clock = std::chrono::steady_clock;

/// A version, and when it was committed or seen.
struct Moment {
  Version version;
  Clock::time_point at;
};

/// What the one who commits and the one who follows share.
struct Course {
  std::vector<Moment> begun;
  std::vector<Moment> seen;
  std::atomic<std::uint64_t> last{std::numeric_limits<std::uint64_t>::max()};
};

struct Follow {
  using Reply = bool;
  Version first;
};

/// Notes when it saw the view move.
class Follower final : public Actor<Follow> {
 public:
  Follower(const Database* database, Relation view, Course* course)
      : database_(database), view_(std::move(view)), course_(course) {}
  Task<bool> on(Follow follow) {
    Version position = follow.first;
    while (position.number < course_->last.load()) {
      const auto fresh = co_await database_->fresh(view_, position.next());
      verify(fresh.has_value(), "fresh");
      position = *fresh;
      course_->seen.push_back({position, Clock::now()});
    }
    co_return true;
  }

 private:
  const Database* database_;
  Relation view_;
  Course* course_;
};

Task<Result<>> commit_one(const Database* database, Relation table, Course* course) {
  const auto id = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
  auto transaction = database->begin();
  const auto begun = Clock::now();
  WEIR_CO_TRY_VOID(co_await transaction.insert(table, {id, id % 1'000, id % 977, 1.0}));
  WEIR_CO_TRY(version, co_await transaction.commit());
  course->begun.push_back({version, begun});
  co_return {};
}

Task<Result<>> commit_steadily(ActorSystem* system, const Database* database, Relation table,
                               Course* course, std::int64_t commits,
                               std::function<bool()> is_over) {
  constexpr Duration period = std::chrono::nanoseconds(1'000'000'000 / commits_per_second);
  const TimePoint start = system->now();
  for (std::int64_t i = 0; i < commits && !is_over(); ++i) {
    WEIR_CO_TRY_VOID(co_await sleep_until(start + i * period));
    WEIR_CO_TRY_VOID(co_await commit_one(database, table, course));
  }
  course->last.store(course->begun.back().version.number);
  // One more, so that the other surely sees the end.
  WEIR_CO_TRY_VOID(co_await commit_one(database, table, course));
  course->begun.pop_back();
  co_return {};
}

Task<> follow(ActorRef<Follow> follower, Version first) {
  verify((co_await follower.ask<Follow>(first).within(forever)).has_value(), "follower");
}

Task<Result<>> follow_and_commit(ActorSystem* system, const Database* database, Relation table,
                                 Relation view, Course* course, std::int64_t commits,
                                 std::function<bool()> is_over) {
  TaskScope scope;
  scope.spawn(follow(system->spawn<Follower>(database, view, course), database->read().version()));
  auto committed = co_await commit_steadily(system, database, table, course, commits, is_over);
  co_await scope.join();
  co_return committed;
}

}  // namespace

Freshness measure_freshness(Subject& subject, const Relation& table, const Relation& view,
                            std::int64_t commits, std::function<bool()> is_over) {
  Course course;
  subject.run(follow_and_commit(&subject.system(), &subject.database(), table, view, &course,
                                commits, std::move(is_over)));
  std::vector<double> waits;
  for (const Moment& commit : course.begun) {
    const auto seen = std::ranges::lower_bound(course.seen, commit.version, {}, &Moment::version);
    verify(seen != course.seen.end(), "seen");
    waits.push_back(std::chrono::duration<double, std::micro>(seen->at - commit.at).count());
  }
  std::ranges::sort(waits);
  const auto at = [&](double part) {
    return waits[static_cast<std::size_t>(part * static_cast<double>(waits.size() - 1))];
  };
  return {at(0.5), at(0.99), at(0.999), static_cast<std::int64_t>(waits.size())};
}

LiveView::LiveView(Subject& subject)
    : table(subject.create_table("live", orders_schema())),
      view(subject.create_view("live_large", from(table).filter(col("amount") >= 0))) {}

namespace {

void freshness() {
  Subject subject;
  const LiveView live(subject);
  measure_freshness(subject, live.table, live.view, fresh_commits() / 10);
  const Freshness fresh = measure_freshness(subject, live.table, live.view, fresh_commits());
  print_result(
      "freshness", fresh.p50, "us",
      {{"p99", fresh.p99}, {"p999", fresh.p999}, {"futex", storage::futex_round_trip_us()}});
}

}  // namespace

void add_freshness_workloads(std::vector<Workload>& views) {
  views.push_back({"freshness", &freshness});
}

}  // namespace weir::bench::views
