// Random tables, views over views and transactions under simulation, with crashes at any point and
// disks that fail: at every version that can be read, every view equals its query evaluated from
// scratch. Transactional ones over the tables of that very version.
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
#include <weir/runtime/ask_all.hpp>
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
      disturb();
      const bool is_failing = random_.one_in(4);
      if (is_failing) fail_disk();
      simulation_.run_steps(random_.below(4'000));
      if (!is_failing && random_.one_in(3)) settle();
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
    options.verifies_rows = random_.one_in(2);
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
    if (plans_.size() < 5) {
      updates_.push_back(random_.one_in(2) ? ViewUpdate::transactional : ViewUpdate::deferred);
      plans_.push_back(random_plan(updates_.back()));
    }
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      const auto made = simulation_.run(
          database_->create_view(name_of(number), plans_[number], {.update = updates_[number]}));
      ASSERT_TRUE(made || made.error() == Errc::already_exists)
          << made.error().message() << describe(plans_[number]);
    }
  }

  static std::string name_of(std::size_t number) { return "view" + std::to_string(number); }
  bool is_transactional(std::size_t number) const {
    return updates_[number] == ViewUpdate::transactional;
  }

  /// Over tables, and over the views that there are. Transactional ones read no others.
  operators::Plan random_plan(ViewUpdate update) {
    std::vector<RandomTable> sources = tables_;
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      if (update == ViewUpdate::transactional && !is_transactional(number)) continue;
      sources.emplace_back(name_of(number),
                           operators::Graph::make(plans_[number]).value()->schema());
    }
    return operators::test::RandomPlan(sources, random_).make(1 + random_.below(3));
  }

  /// A view is built again, or dropped and made again, while others write.
  void disturb() {
    if (plans_.empty() || !random_.one_in(2)) return;
    const std::size_t number = random_.below(plans_.size());
    if (random_.one_in(2)) {
      const Relation view = simulation_.run(database_->relation(name_of(number))).value();
      const auto begun = simulation_.run(database_->rebuild(view));
      // The coordinator may not have seen a new one yet.
      const bool is_unseen = !begun && begun.error() == Errc::unknown_relation;
      ASSERT_TRUE(begun || (is_unseen && !view.is_transactional())) << begun.error().message();
    } else {
      const auto dropped = simulation_.run(database_->drop_view(name_of(number)));
      ASSERT_TRUE(dropped || dropped.error() == Errc::in_use) << dropped.error().message();
      make_relations();
    }
  }

  /// From some write or sync on.
  void fail_disk() {
    const Error error(std::make_error_code(std::errc::io_error));
    if (random_.one_in(2)) {
      store_options_.disk->fail_write(1 + random_.below(20), error);
    } else {
      store_options_.disk->fail_sync(1 + random_.below(20), error);
    }
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
      const Relation view = simulation_.run(database_->relation(name_of(number))).value();
      const auto fresh = simulation_.run(database_->fresh(view, store_->version()));
      ASSERT_TRUE(fresh) << fresh.error().message() << describe(plans_[number]);
    }
  }

  void crash() {
    store_options_.disk->crash(random_.below(store_options_.disk->unsynced() + 1));
    store_options_.disk->repair();
    simulation_.node().crash();
    database_.reset();
    store_.reset();
  }

  Rows rows_at(storage::Version version, const std::string& name) {
    const Relation relation = simulation_.run(database_->relation(name)).value();
    return simulation_.run(read_rows(database_->read_at(version).value(), relation)).value();
  }

  /// What each view should be over the tables of a version.
  const std::map<std::string, Rows>& expected_at(storage::Version version) {
    const auto known = expected_.find(version);
    if (known != expected_.end()) return known->second;
    std::map<std::string, Rows> sources;
    for (const RandomTable& table : tables_)
      sources.emplace(table.name(), rows_at(version, table.name()));
    for (std::size_t number = 0; number < plans_.size(); ++number)
      sources.emplace(name_of(number), operators::test::evaluate(plans_[number], sources));
    return expected_.emplace(version, std::move(sources)).first->second;
  }

  /// Every version that there ever was.
  void judge() {
    std::vector<std::uint64_t> compared(plans_.size());
    for (std::uint64_t number = first_version(); number <= store_->version().number; ++number) {
      const storage::Version version{number};
      const auto position =
          simulation_.run(database_->read_at(version).value().view_position()).value();
      for (std::size_t view = 0; view < plans_.size(); ++view) {
        const Relation relation = simulation_.run(database_->relation(name_of(view))).value();
        const auto found =
            simulation_.run(read_rows(database_->read_at(version).value(), relation));
        if (!found && found.error() == Errc::not_ready) continue;
        ASSERT_TRUE(found) << found.error().message();
        const storage::Version shown = is_transactional(view) ? version : position;
        const Rows& expected = expected_at(shown).at(name_of(view));
        ASSERT_EQ(operators::test::to_string(*found), operators::test::to_string(expected))
            << name_of(view) << (is_transactional(view) ? ", transactional," : "") << " at version "
            << number << ", which shows " << shown.number << ": " << describe(plans_[view]);
        ++compared[view];
      }
    }
    for (const std::uint64_t count : compared) EXPECT_GE(count, 1u);
  }

  /// The first one whose tables can be read: they were made one by one.
  static std::uint64_t first_version() { return 1; }

  Simulation& simulation_;
  data::test::RandomData random_;
  storage::StoreOptions store_options_;
  std::vector<RandomTable> tables_;
  std::vector<operators::Plan> plans_;
  std::vector<ViewUpdate> updates_;  // of the plans
  std::map<storage::Version, std::map<std::string, Rows>> expected_;
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
    for (; work.transfers > 0; --work.transfers) {
      const auto done = co_await transfer();
      // Flows are not shown rows that have changed since: only the writer itself is refused.
      EXPECT_TRUE(done || done.error() == storage::Errc::conflict || is_refused(done.error()))
          << done.error().message();
    }
  }

 private:
  static bool is_refused(const Error& error) {
    return error.message().find("view 'limit'") != std::string::npos;
  }
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

const data::SchemaRef accounts_schema =
    operators::test::make_schema({{"id", data::Kind::int64, false},
                                  {"owner", data::Kind::int64, false},
                                  {"cents", data::Kind::int64, false}},
                                 {"id"});

constexpr std::int64_t limit = 1'500;

/// A transactional view that no account below the limit can be a row of.
void make_limit(Simulation& simulation, Database& database, const Relation& accounts) {
  const auto allowed =
      data::when(data::col("cents") > -limit, data::lit(1)).otherwise(data::lit(0));
  const auto plan =
      from(accounts).map({{"id", data::col("id")}, {"allowed", data::lit(1) / allowed}});
  const auto made =
      simulation.run(database.create_view("limit", plan, {.update = ViewUpdate::transactional}));
  ASSERT_TRUE(made);
  ASSERT_TRUE(simulation.run(database.fresh(*made, {})));
}

/// Balances of owners, joined with the accounts they are of: the total is zero in every version,
/// for readers and for subscribers. Each view may be transactional; one that is refuses transfers
/// beyond a limit.
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
      simulation.run(database.create_table("accounts", accounts_schema)).value();
  const auto begin_tellers = [&] {
    for (int teller = 0; teller < 3; ++teller) {
      simulation.system()
          .spawn<Teller>(&database, accounts, simulation.random())
          .send<Transfer>(10);
    }
  };
  const auto draw = [&] {
    return simulation.random() % 2 == 0 ? ViewUpdate::transactional : ViewUpdate::deferred;
  };
  const ViewUpdate first = draw();
  const ViewUpdate second = first == ViewUpdate::transactional ? draw() : first;
  make_limit(simulation, database, accounts);
  begin_tellers();
  simulation.run_steps(simulation.random() % 2'000);
  const Relation balances =
      simulation
          .run(database.create_view(
              "balances",
              from(accounts).group_by({"owner"}).aggregate({sum(data::col("cents")).as("balance")}),
              {.update = first}))
          .value();
  const Relation total =
      simulation
          .run(database.create_view(
              "total",
              from(accounts)
                  .join(from(balances), {.on = {{"owner", "owner"}}, .right_prefix = "b_"})
                  .group_by({{"owner", data::col("owner")}, {"balance", data::col("b_balance")}})
                  .aggregate({count().as("accounts")})
                  .aggregate({sum(data::col("balance")).as("total")}),
              {.update = second}))
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
    const Snapshot then = database.read_at(storage::Version{number}).value();
    for (const auto& [row, weight] : simulation.run(read_rows(then, accounts)).value())
      ASSERT_GT(row[2].as<std::int64_t>(), -limit) << number;
    const auto rows = simulation.run(read_rows(then, total));
    if (!rows) continue;
    for (const auto& [row, weight] : *rows) ASSERT_EQ(row[0], data::Value(0)) << number;
    ++compared;
  }
  EXPECT_GT(compared, 0);
  EXPECT_GT(seen, 0);
  auditor.stop();
}

struct Insert {
  using Reply = bool;
};

/// Inserts one row.
class Customer final : public Actor<Insert> {
 public:
  Customer(const Database* database, Relation table, std::int64_t id)
      : database_(database), table_(std::move(table)), id_(id) {}
  Task<Result<bool>> on(Insert) {
    auto transaction = database_->begin();
    WEIR_CO_TRY_VOID(co_await transaction.insert(table_, {id_, id_ % 3, id_}));
    WEIR_CO_TRY_VOID(co_await transaction.commit());
    co_return true;
  }

 private:
  const Database* database_;
  Relation table_;
  std::int64_t id_;
};

Task<> insert_all(const std::vector<Customer::Ref>* customers, std::vector<Result<bool>>* done) {
  for (auto& inserted : co_await ask_all<Insert>(*customers)) done->push_back(std::move(inserted));
}

/// Writers whose commits wait for the disk, in whatever order, with state that is not in memory.
void run_customers(Simulation& simulation) {
  auto disk = std::make_shared<storage::engine::SimulatedDisk>();
  auto store = storage::Store::open(simulation.system(),
                                    {.retention = {.history = 100h},
                                     .opened_at = std::chrono::sys_time<Duration>(24h * 20'000),
                                     .disk = disk})
                   .value();
  auto database = simulation.run(Database::open(&store, {.state_memory_max = 0})).value();
  const Relation orders = simulation.run(database.create_table("orders", accounts_schema)).value();
  const Relation shops =
      simulation
          .run(database.create_view("shops",
                                    from(orders).group_by({"owner"}).aggregate(
                                        {operators::sum(data::col("cents")).as("cents"),
                                         operators::max(data::col("cents")).as("most")}),
                                    {.update = ViewUpdate::transactional}))
          .value();
  ASSERT_TRUE(simulation.run(database.fresh(shops, store.version())));
  std::vector<Customer::Ref> customers;
  for (std::int64_t id = 0; id < 64; ++id)
    customers.push_back(simulation.system().spawn<Customer>(&database, orders, id));
  const std::uint64_t syncs = disk->syncs();
  std::vector<Result<bool>> done;
  simulation.run(insert_all(&customers, &done));
  // A row of a shop that is still on its way to the disk may be a conflict, no more.
  std::map<std::int64_t, std::int64_t> cents;
  for (std::int64_t id = 0; id < 64; ++id) {
    const auto& inserted = done[static_cast<std::size_t>(id)];
    ASSERT_TRUE(inserted || inserted.error() == storage::Errc::conflict);
    if (inserted) cents[id % 3] += id;
  }
  const Rows found = simulation.run(read_rows(database.read(), shops)).value();
  EXPECT_EQ(found.size(), cents.size());
  for (const auto& [row, weight] : found)
    EXPECT_EQ(row[1].as<std::int64_t>(), cents.at(row[0].as<std::int64_t>()));
  EXPECT_LT(disk->syncs() - syncs, 32u);
  ASSERT_TRUE(simulation.run(database.close()));
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

TEST(ViewSimulation, CommitsWithTransactionalViewsShareASync) {
  ExploreOptions slow = options(40);
  slow.simulation.blocking_time_max = 20ms;
  explore_in_test(slow, run_customers);
}

}  // namespace
}  // namespace weir::flow::view
