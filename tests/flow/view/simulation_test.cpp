// Random tables, views over views and transactions under simulation, with crashes at any point: at
// every version that can be read, every view equals its query evaluated from scratch.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using operators::test::describe;
using operators::test::RandomTable;
using operators::test::Rows;

struct Work {};

/// Changes tables at random, in transactions of a few rows.
class Writer final : public Actor<Work> {
 public:
  Writer(const Database* database, std::vector<Relation> tables, std::uint64_t seed, int commits)
      : database_(database), tables_(std::move(tables)), random_(seed), commits_(commits) {}

  Task<> on(Work) {
    for (; commits_ > 0; --commits_)
      if (!co_await write()) co_return;
  }

 private:
  /// False when the store is gone.
  Task<bool> write() {
    auto transaction = database_->begin();
    for (std::uint64_t count = random_.below(5) + 1; count > 0; --count) {
      const auto changed = co_await change(&transaction);
      if (!changed) co_return false;
    }
    const auto version = co_await transaction.commit();
    co_return version || version.error() == storage::Errc::conflict;
  }

  Task<Result<>> change(Transaction* transaction) {
    const Relation& table = tables_[random_.below(tables_.size())];
    const data::Value id(static_cast<std::int64_t>(random_.below(20)));
    WEIR_CO_TRY(before, co_await transaction->get(table, {id}));
    if (before && random_.one_in(3)) co_return co_await transaction->remove(table, {id});
    Row row = random_.row(*table.schema());
    row[0] = id;
    co_return co_await transaction->upsert(table, std::move(row));
  }

  const Database* database_;
  std::vector<Relation> tables_;
  data::test::RandomData random_;
  int commits_;
};

Task<Result<Rows>> read_rows(Snapshot snapshot, Relation relation) {
  Rows rows;
  auto scan = snapshot.scan(relation);
  for (;;) {
    WEIR_CO_TRY(batch, co_await scan.next(7));
    if (batch.is_empty()) break;
    operators::test::add(rows, batch);
  }
  co_return rows;
}

class Scenario {
 public:
  explicit Scenario(Simulation& simulation)
      : simulation_(simulation), random_(simulation.random()) {
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    store_options_.retention = {.history = 100h, .log = 100h};
    tables_.push_back(RandomTable::make("left", 'l', 3, random_));
    tables_.push_back(RandomTable::make("right", 'r', 3, random_));
  }

  void run() {
    for (int life = 0; life < 3 && !::testing::Test::HasFailure(); ++life) {
      open();
      make_relations();
      begin_writing();
      simulation_.run_steps(random_.below(random_.one_in(2) ? 500 : 4'000));
      make_relations();
      begin_writing();
      simulation_.run_steps(random_.below(4'000));
      if (random_.one_in(3)) settle();
      crash();
    }
    if (::testing::Test::HasFailure()) return;
    open();
    make_relations();
    settle();
    judge();
  }

 private:
  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = storage::Store::open(simulation_.system(), store_options_);
    ASSERT_TRUE(store) << store.error().message();
    store_.emplace(*std::move(store));
    DatabaseOptions options{.workers = 1 + random_.below(3),
                            .row_errors = operators::RowErrorPolicy::drop,
                            .backfill_rows = 1 + random_.below(12),
                            .cycle = {.records_max = 1 + random_.below(6)}};
    if (random_.one_in(2)) options.state_memory_max = 0;
    auto database = simulation_.run(Database::open(&*store_, options));
    ASSERT_TRUE(database) << database.error().message();
    database_.emplace(*std::move(database));
  }

  /// Those that are missing, and sometimes a view more.
  void make_relations() {
    for (const RandomTable& table : tables_) {
      const auto made = simulation_.run(database_->create_table(table.name(), table.schema()));
      ASSERT_TRUE(made || made.error() == Errc::already_exists) << made.error().message();
    }
    if (plans_.size() < 5) plans_.push_back(random_plan());
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      const std::string name = "view" + std::to_string(number);
      const auto made = simulation_.run(database_->create_view(name, plans_[number]));
      ASSERT_TRUE(made || made.error() == Errc::already_exists)
          << made.error().message() << describe(plans_[number]);
    }
  }

  /// Over tables, and over the views that there are.
  operators::Plan random_plan() {
    std::vector<RandomTable> sources = tables_;
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      sources.emplace_back("view" + std::to_string(number),
                           operators::Graph::make(plans_[number]).value()->schema());
    }
    return operators::test::RandomPlan(sources, random_).make(1 + random_.below(3));
  }

  void begin_writing() {
    std::vector<Relation> tables;
    for (const RandomTable& table : tables_)
      tables.push_back(simulation_.run(database_->relation(table.name())).value());
    for (std::uint64_t writers = random_.below(3); writers > 0; --writers) {
      simulation_.system()
          .spawn<Writer>(&*database_, tables, simulation_.random(),
                         1 + static_cast<int>(random_.below(8)))
          .send<Work>();
    }
  }

  void settle() {
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      const Relation view =
          simulation_.run(database_->relation("view" + std::to_string(number))).value();
      const auto fresh = simulation_.run(database_->fresh(view, store_->version()));
      ASSERT_TRUE(fresh) << fresh.error().message() << describe(plans_[number]);
    }
  }

  void crash() {
    store_options_.disk->crash(random_.below(store_options_.disk->unsynced() + 1));
    simulation_.node().crash();
    database_.reset();
    store_.reset();
  }

  Rows rows_at(storage::Version version, const std::string& name) {
    const Relation relation = simulation_.run(database_->relation(name)).value();
    return simulation_.run(read_rows(database_->read_at(version).value(), relation)).value();
  }

  /// Every version that there ever was.
  void judge() {
    std::uint64_t compared = 0;
    for (std::uint64_t number = first_version(); number <= store_->version().number; ++number) {
      const storage::Version version{number};
      const auto position =
          simulation_.run(database_->read_at(version).value().view_position()).value();
      if (position == storage::Version{}) continue;
      std::map<std::string, Rows> sources;
      for (const RandomTable& table : tables_)
        sources.emplace(table.name(), rows_at(position, table.name()));
      for (std::size_t view = 0; view < plans_.size(); ++view) {
        const std::string name = "view" + std::to_string(view);
        const Rows expected = operators::test::evaluate(plans_[view], sources);
        sources.emplace(name, expected);
        const Relation relation = simulation_.run(database_->relation(name)).value();
        const auto found =
            simulation_.run(read_rows(database_->read_at(version).value(), relation));
        if (!found && found.error() == Errc::not_ready) continue;
        ASSERT_TRUE(found) << found.error().message();
        ASSERT_EQ(operators::test::to_string(*found), operators::test::to_string(expected))
            << name << " at version " << number << ", which shows " << position.number << ": "
            << describe(plans_[view]);
        ++compared;
      }
    }
    EXPECT_GE(compared, plans_.size());
  }

  /// The first one whose tables can be read: they were made one by one.
  static std::uint64_t first_version() { return 1; }

  Simulation& simulation_;
  data::test::RandomData random_;
  storage::StoreOptions store_options_;
  std::vector<RandomTable> tables_;
  std::vector<operators::Plan> plans_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
};

struct Transfer {
  int transfers;
};

/// Moves money between accounts that begin with nothing.
class Teller final : public Actor<Transfer> {
 public:
  Teller(const Database* database, Relation accounts, std::uint64_t seed)
      : database_(database), accounts_(std::move(accounts)), random_(seed) {}

  Task<> on(Transfer work) {
    for (; work.transfers > 0; --work.transfers) static_cast<void>(co_await transfer());
  }

 private:
  Task<Result<>> transfer() {
    auto transaction = database_->begin();
    const auto cents = static_cast<std::int64_t>(random_.below(1'000));
    WEIR_CO_TRY_VOID(co_await change(&transaction, random_.below(8), -cents));
    WEIR_CO_TRY_VOID(co_await change(&transaction, random_.below(8), cents));
    WEIR_CO_TRY_VOID(co_await transaction.commit());
    co_return {};
  }
  Task<Result<>> change(Transaction* transaction, std::uint64_t account, std::int64_t cents) {
    const data::Value id(static_cast<std::int64_t>(account));
    WEIR_CO_TRY(before, co_await transaction->get(accounts_, {id}));
    const std::int64_t held = before ? (*before)[2].as<std::int64_t>() : 0;
    co_return co_await transaction->upsert(
        accounts_, {id, static_cast<std::int64_t>(account % 3), held + cents});
  }

  const Database* database_;
  Relation accounts_;
  data::test::RandomData random_;
};

struct Follow {};

/// Adds up what a subscription tells of a total, which must be zero each time.
class Auditor final : public Actor<Follow> {
 public:
  Auditor(Subscription subscription, int* seen)
      : subscription_(std::move(subscription)), seen_(seen) {}

  Task<> on(Follow) {
    for (;;) {
      auto delta = co_await subscription_.next();
      if (!delta) co_return;
      operators::test::add(rows_, delta->changes);
      if (!delta->resume) continue;
      ++*seen_;
      for (const auto& [row, weight] : rows_)
        EXPECT_EQ(row.back(), data::Value(0)) << operators::test::to_string(rows_);
      EXPECT_LE(rows_.size(), 1u);
    }
  }

 private:
  Subscription subscription_;
  int* seen_;
  Rows rows_;
};

/// Balances of owners, joined with the accounts they are of: the total is zero in every version,
/// for readers and for subscribers.
void run_transfers(Simulation& simulation) {
  using namespace operators;
  auto store = storage::Store::open(simulation.system(),
                                    {.retention = {.history = 100h, .log = 100h},
                                     .opened_at = std::chrono::sys_time<Duration>(24h * 20'000),
                                     .disk = std::make_shared<storage::engine::SimulatedDisk>()})
                   .value();
  auto database = simulation
                      .run(Database::open(&store, {.workers = 1 + simulation.random() % 3,
                                                   .backfill_rows = 2,
                                                   .cycle = {.records_max = 3}}))
                      .value();
  const Relation accounts =
      simulation
          .run(database.create_table(
              "accounts", operators::test::make_schema({{"id", data::Kind::int64, false},
                                                        {"owner", data::Kind::int64, false},
                                                        {"cents", data::Kind::int64, false}},
                                                       {"id"})))
          .value();
  const auto begin_tellers = [&] {
    for (int teller = 0; teller < 3; ++teller) {
      simulation.system()
          .spawn<Teller>(&database, accounts, simulation.random())
          .send<Transfer>(10);
    }
  };
  begin_tellers();
  simulation.run_steps(simulation.random() % 2'000);
  const Relation balances =
      simulation
          .run(database.create_view("balances", from(accounts).group_by({"owner"}).aggregate(
                                                    {sum(data::col("cents")).as("balance")})))
          .value();
  const Relation total =
      simulation
          .run(database.create_view(
              "total",
              from(accounts)
                  .join(from(balances), {.on = {{"owner", "owner"}}, .right_prefix = "b_"})
                  .group_by({{"owner", data::col("owner")}, {"balance", data::col("b_balance")}})
                  .aggregate({count().as("accounts")})
                  .aggregate({sum(data::col("balance")).as("total")})))
          .value();
  begin_tellers();
  ASSERT_TRUE(simulation.run(database.fresh(total, store.version())));
  int seen = 0;
  auto auditor = simulation.system().spawn<Auditor>(
      database.subscribe(total, {.with_snapshot = true}).value(), &seen);
  auditor.send<Follow>();
  begin_tellers();
  simulation.run_until_idle();
  ASSERT_TRUE(simulation.run(database.fresh(total, store.version())));
  int compared = 0;
  for (std::uint64_t number = 1; number <= store.version().number; ++number) {
    const auto rows =
        simulation.run(read_rows(database.read_at(storage::Version{number}).value(), total));
    if (!rows) continue;
    for (const auto& [row, weight] : *rows) ASSERT_EQ(row[0], data::Value(0)) << number;
    ++compared;
  }
  EXPECT_GT(compared, 0);
  EXPECT_GT(seen, 0);
  auditor.stop();
}

ExploreOptions options(int seeds) {
  return {
      .seeds = storage::test::lengthened(static_cast<std::uint64_t>(weir::testing::scaled(seeds))),
      .first_seed = storage::test::first_seed()};
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryAtEveryVersion) {
  explore_in_test(options(150), [](Simulation& simulation) { Scenario(simulation).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhenEverybodyIsSlow) {
  ExploreOptions slow = options(60);
  slow.simulation.blocking_time_max = 20ms;
  slow.simulation.faults = {.late_timer = 0.2, .message_time_max = 2ms};
  explore_in_test(slow, [](Simulation& simulation) { Scenario(simulation).run(); });
}

TEST(ViewSimulation, I12TheTotalOfAllTransfersIsZeroInEveryVersionThatAnyoneSees) {
  explore_in_test(options(40), run_transfers);
}

}  // namespace
}  // namespace weir::flow::view
