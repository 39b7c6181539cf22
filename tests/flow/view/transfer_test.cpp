// Money that moves between accounts, under simulation.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/exploring.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using operators::test::Rows;

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
    for (const auto& [row, weight] : simulation.run(view::test::read_rows(then, accounts)).value())
      ASSERT_GT(row[2].as<std::int64_t>(), -limit) << number;
    const auto rows = simulation.run(view::test::read_rows(then, total));
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
  const Rows found = simulation.run(view::test::read_rows(database.read(), shops)).value();
  EXPECT_EQ(found.size(), cents.size());
  for (const auto& [row, weight] : found)
    EXPECT_EQ(row[1].as<std::int64_t>(), cents.at(row[0].as<std::int64_t>()));
  EXPECT_LT(disk->syncs() - syncs, 32u);
  ASSERT_TRUE(simulation.run(database.close()));
}

TEST(ViewSimulation, I12TheTotalOfAllTransfersIsZeroInEveryVersionThatAnyoneSees) {
  explore_in_test(view::test::exploring(40), run_transfers);
}

TEST(ViewSimulation, CommitsWithTransactionalViewsShareASync) {
  ExploreOptions slow = view::test::exploring(40);
  slow.simulation.blocking_time_max = 20ms;
  explore_in_test(slow, run_customers);
}

}  // namespace
}  // namespace weir::flow::view
