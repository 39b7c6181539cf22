// Windows and times to live that go by the clock, in a database: from the time of the store to
// those who read the view, across crashes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/operator/window.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using data::col;
using data::Kind;
using data::Timestamp;

const data::SchemaRef events_schema = operators::test::make_schema(
    {{"id", Kind::int64, false}, {"user", Kind::text, false}, {"at", Kind::timestamp}}, {"id"});

class ClockTest : public ::testing::Test {
 protected:
  ClockTest() {
    open(0s);
    events_ = run(database_->create_table("events", events_schema)).value();
  }

  /// So long after the first time.
  void open(std::chrono::seconds later) {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    store_.emplace(
        storage::Store::open(
            simulation_.system(),
            {.opened_at = std::chrono::sys_time<Duration>(24h * 20'000 + later), .disk = disk_})
            .value());
    database_.emplace(run(Database::open(&*store_)).value());
  }
  void crash_and_open(std::chrono::seconds later) {
    disk_->crash();
    simulation_.node().crash();
    database_.reset();
    store_.reset();
    open(later);
    events_ = run(database_->relation("events")).value();
  }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }
  void add(int id, const std::string& user, std::chrono::seconds at) {
    auto transaction = database_->begin();
    ASSERT_TRUE(run(transaction.insert(*events_, {id, user, Timestamp(24h * 20'000 + at)})));
    ASSERT_TRUE(run(transaction.commit()));
  }
  Relation make(const std::string& name, const operators::Plan& plan) {
    const Relation view = run(database_->create_view(name, plan)).value();
    EXPECT_TRUE(run(database_->fresh(view, store_->version())));
    return view;
  }
  std::string rows_of(const std::string& name) {
    const Relation view = run(database_->relation(name)).value();
    EXPECT_TRUE(run(database_->fresh(view, store_->version())));
    RowScan scan = database_->read().scan(view);
    const auto rows = run(scan.next());
    return rows ? to_string(*rows) : rows.error().message();
  }
  std::size_t entries_of_flows() {
    std::size_t entries = 0;
    for (const storage::SpaceInfo& space : run(store_->spaces()).value()) {
      if (!space.name.starts_with("weir.flow.state.")) continue;
      const auto state =
          run(store_->open_state<internal::EncodedKey, internal::EncodedValue>(space.name)).value();
      auto transaction = store_->begin();
      auto scan = transaction.scan(state);
      while (scan.next_blocking().value()) ++entries;
    }
    return entries;
  }

  Simulation simulation_;
  std::shared_ptr<storage::engine::SimulatedDisk> disk_ =
      std::make_shared<storage::engine::SimulatedDisk>();
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
  std::optional<Relation> events_;
};

TEST_F(ClockTest, WindowsCloseByItAndReachWhoReadsTheView) {
  const Relation counts =
      make("counts",
           from(*events_)
               .window(operators::tumbling(
                   col("at"), 10s,
                   {.lateness = 2s, .emit = operators::WindowEmit::on_close, .tick_period = 1s}))
               .group_by({"window_start", "user"})
               .aggregate({operators::count().as("events")}));
  make("totals",
       from(counts).group_by({"user"}).aggregate({operators::sum(col("events")).as("n")}));
  add(1, "ada", 1s);
  add(2, "ada", 5s);
  simulation_.run_for(8s);
  EXPECT_EQ(rows_of("totals"), "") << "it is open";
  // Nobody writes anything.
  simulation_.run_for(6s);
  EXPECT_EQ(rows_of("totals"), "+1 ('ada', 2)\n");
  add(3, "ada", 9s);
  EXPECT_EQ(rows_of("totals"), "+1 ('ada', 2)\n") << "it came too late";
  EXPECT_EQ(database_->status(counts)->counts.late_rows, 1u);
  add(4, "bob", 15s);
  // One that is open stays so, and closes in the life that comes then.
  crash_and_open(20s);
  simulation_.run_for(1s);
  EXPECT_EQ(rows_of("totals"), "+1 ('ada', 2)\n");
  simulation_.run_for(5s);
  EXPECT_EQ(rows_of("totals"), "+1 ('ada', 2)\n+1 ('bob', 1)\n");
}

TEST_F(ClockTest, RowsGoWhenTheyAreTooOldAlsoFromWhoReadsTheView) {
  const Relation recent = make("recent", from(*events_).keep(col("at"), 10s));
  make("per_user", from(recent).group_by({"user"}).aggregate({operators::count().as("events")}));
  const std::size_t before = entries_of_flows();
  add(1, "ada", 1s);
  add(2, "ada", 6s);
  add(3, "bob", 6s);
  EXPECT_EQ(rows_of("per_user"), "+1 ('ada', 2)\n+1 ('bob', 1)\n");
  simulation_.run_for(13s);
  EXPECT_EQ(rows_of("recent").find("(1,"), std::string::npos);
  EXPECT_EQ(rows_of("per_user"), "+1 ('ada', 1)\n+1 ('bob', 1)\n");
  crash_and_open(14s);
  EXPECT_EQ(rows_of("per_user"), "+1 ('ada', 1)\n+1 ('bob', 1)\n");
  simulation_.run_for(5s);
  EXPECT_EQ(rows_of("recent"), "");
  EXPECT_EQ(rows_of("per_user"), "");
  EXPECT_LE(entries_of_flows(), before + 1) << "what has gone is forgotten, but for the time";
}

}  // namespace
}  // namespace weir::flow::view
