#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;
using data::Value;
using operators::sum;
using operators::test::make_schema;

constexpr ViewOptions transactional{.update = ViewUpdate::transactional};

const data::SchemaRef orders_schema = make_schema(
    {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"amount", Kind::int64}}, {"id"});

/// Refuses an item, as long as it is told to.
class Picky final : public operators::Operator {
 public:
  Picky(data::SchemaRef schema, std::shared_ptr<bool> is_picky)
      : Operator(std::move(schema)), is_picky_(std::move(is_picky)) {}
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    for (std::size_t row = 0; row < input.batch.size(); ++row) {
      if (*is_picky_ && input.batch.row(row)[1] == Value("poison"))
        return Error(operators::Errc::row_error, "poison");
      if (*is_picky_ && input.batch.row(row)[1] == Value("bomb")) throw std::runtime_error("bomb");
    }
    out.emit(input.batch);
    return {};
  }

 private:
  std::shared_ptr<bool> is_picky_;
};

/// Gives what it is given, and goes by the clock.
class Watch final : public operators::Operator {
 public:
  using Operator::Operator;
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    out.emit(input.batch);
    return {};
  }
  std::optional<std::chrono::microseconds> tick_period() const override {
    return std::chrono::seconds(1);
  }
};

class TransactionalTest : public test::DatabaseTest {
 protected:
  TransactionalTest() {
    using Arguments = operators::OperatorRegistry::Arguments;
    using Made = Result<std::unique_ptr<operators::Operator>>;
    EXPECT_TRUE(registry_.add("picky", [this](const Arguments& of) {
      return Made(std::make_unique<Picky>(of.inputs[0], is_picky_));
    }));
    EXPECT_TRUE(registry_.add(
        "watch", [](const Arguments& of) { return Made(std::make_unique<Watch>(of.inputs[0])); }));
    reopen(options());
  }
  ~TransactionalTest() override { close(); }

  DatabaseOptions options() {
    return {.library = {.operators = &registry_},
            .backfill_rows = 100,
            .retry_backoff = std::chrono::milliseconds(1),
            .failures_max = 3};
  }
  Relation make_orders(const std::vector<Row>& rows = {}) {
    const Relation orders = run(database().create_table("orders", orders_schema)).value();
    if (!rows.empty()) insert(orders, rows);
    return orders;
  }
  Relation open(const std::string& name) { return run(database().relation(name)).value(); }
  /// When it has all rows that were there before it.
  Relation make(const std::string& name, operators::Plan plan,
                const ViewOptions& view = transactional) {
    const Relation made = run(database().create_view(name, std::move(plan), view)).value();
    EXPECT_TRUE(run(database().fresh(made, store().version())));
    return made;
  }
  operators::Plan totals_of(const Relation& orders) {
    return from(orders).group_by({"item"}).aggregate({sum(col("amount")).as("total")});
  }
  std::string rows_at(storage::Version version, const Relation& relation) {
    Snapshot snapshot = database().read_at(version).value();
    RowScan scan = snapshot.scan(relation);
    const auto rows = run(scan.next());
    return rows ? to_string(*rows) : rows.error().message();
  }

  std::shared_ptr<bool> is_picky_ = std::make_shared<bool>(true);
  operators::OperatorRegistry registry_;
};

// [transactional]
TEST_F(TransactionalTest, ShowsACommitInItsOwnVersion) {
  const Relation orders = make_orders();
  const auto plan = from(orders).group_by({"item"}).aggregate({sum(col("amount")).as("total")});
  const Relation totals =
      run(database().create_view("totals", plan, {.update = ViewUpdate::transactional})).value();
  ASSERT_TRUE(run(database().fresh(totals, {})));
  const storage::Version version = insert(orders, {{1, "apples", 5}, {2, "apples", 7}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 12)\n");
}
// [/transactional]

TEST_F(TransactionalTest, IsPartOfTheCommitThatChangesItsTable) {
  const Relation orders = make_orders();
  const Relation large = make("large", from(orders).filter(col("amount") > 10));
  const auto first = insert(orders, {{1, "apples", 5}, {2, "pears", 50}});
  EXPECT_EQ(rows_at(first, large), "+1 (2, 'pears', 50)\n");
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.update(orders, {1, "apples", 20})));
  ASSERT_TRUE(run(transaction.remove(orders, {2})));
  ASSERT_TRUE(run(transaction.upsert(orders, {3, "plums", 30})));
  const auto second = run(transaction.commit()).value();
  EXPECT_EQ(second, first.next());  // nothing else was committed
  EXPECT_EQ(rows_at(second, large), "+1 (1, 'apples', 20)\n+1 (3, 'plums', 30)\n");
  EXPECT_EQ(rows_at(first, large), "+1 (2, 'pears', 50)\n");
}

TEST_F(TransactionalTest, FollowsOtherTransactionalViewsAtAnyDepthInTheSameCommit) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  const Relation large = make("large", from(totals).filter(col("total") > 10));
  const Relation names = make("names", from(large).map({{"item", col("item")}}));
  // Both the table and a view over it.
  const Relation both = make(
      "both", from(orders).join(from(large), {.on = {{"item", "item"}}, .right_prefix = "t_"}));
  EXPECT_EQ(rows_of(names), "");
  const auto version = insert(orders, {{2, "apples", 7}, {3, "pears", 1}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 12)\n+1 ('pears', 1)\n");
  EXPECT_EQ(rows_at(version, names), "+1 ('apples')\n");
  EXPECT_EQ(rows_at(version, both),
            "+1 (1, 'apples', 5, 'apples', 12)\n+1 (2, 'apples', 7, 'apples', 12)\n");
}

TEST_F(TransactionalTest, ReadsWhatAnUpsertReplaces) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.upsert(orders, {1, "apples", 7})));
  ASSERT_TRUE(run(transaction.upsert(open("orders"), {1, "pears", 8})));  // another handle
  ASSERT_TRUE(run(transaction.upsert(orders, {2, "pears", 1})));
  ASSERT_TRUE(run(transaction.remove(orders, {2})));
  auto other = database().begin();
  ASSERT_TRUE(run(other.upsert(orders, {1, "plums", 1})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(totals), "+1 ('pears', 8)\n");
  EXPECT_EQ(run(other.commit()).error(), storage::Errc::conflict);
  EXPECT_EQ(rows_of(totals), "+1 ('pears', 8)\n");
}

TEST_F(TransactionalTest, CountsEqualRowsWithoutAPrimaryKey) {
  const Relation orders = make_orders({{1, "apples", 5}, {2, "apples", 6}});
  const Relation items = make("items", from(orders).map({{"item", col("item")}}));
  EXPECT_EQ(rows_of(items), "+2 ('apples')\n");
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.remove(orders, {2})));
  const auto version = run(transaction.commit()).value();
  EXPECT_EQ(rows_at(version, items), "+1 ('apples')\n");
}

TEST_F(TransactionalTest, CannotReadADeferredView) {
  const Relation orders = make_orders();
  const Relation late = make("late", from(orders), {});
  EXPECT_EQ(run(database().create_view("early", from(late), transactional)).error().message(),
            "invalid argument: view 'early': a transactional view cannot read 'late', which is a "
            "deferred view");
}

TEST_F(TransactionalTest, HasNoOperatorThatGoesByTheClock) {
  const Relation orders = make_orders();
  const auto refused =
      run(database().create_view("watched", from(orders).apply("watch").distinct(), transactional));
  EXPECT_EQ(refused.error().message(),
            "invalid argument: view 'watched': distinct < apply watch: goes by the clock, which "
            "no transaction does");
  EXPECT_TRUE(run(database().create_view("watched", from(orders).apply("watch"))));
}

TEST_F(TransactionalTest, IsFollowedByDeferredViewsAndSubscriptionsFromTheLog) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  const Relation chain = make("chain", from(totals).filter(col("total") > 1));
  const Relation late = make(
      "late", from(chain).join(from(orders), {.on = {{"item", "item"}}, .right_prefix = "o_"}), {});
  auto subscription = database().subscribe(chain).value();
  const auto version = insert(orders, {{2, "apples", 7}});
  const auto delta = run(subscription.next()).value();
  EXPECT_EQ(delta.changes.version, version);
  EXPECT_EQ(to_string(delta.changes), "-1 ('apples', 5)\n+1 ('apples', 12)\n");
  ASSERT_TRUE(run(database().fresh(late, version)));
  EXPECT_EQ(rows_of(late),
            "+1 ('apples', 12, 1, 'apples', 5)\n+1 ('apples', 12, 2, 'apples', 7)\n");
}

TEST_F(TransactionalTest, RefusesTheCommitThatItCannotFollow) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  const Relation picky = make("picky", from(orders).apply("picky").distinct());
  const auto before = store().version();
  for (const char* bad : {"poison", "bomb"}) {
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.insert(orders, {2, "apples", 7})));
    ASSERT_TRUE(run(transaction.insert(orders, {3, bad, 1})));
    const auto refused = run(transaction.commit());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail(),
              "view 'picky': distinct < apply picky: " + std::string(bad));
    EXPECT_EQ(store().version(), before);
  }
  // Nothing of it is left, also not in memory, and nothing was quarantined.
  EXPECT_EQ(database().status(picky)->phase, ViewPhase::live);
  const auto version = insert(orders, {{2, "apples", 1}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 6)\n");
  EXPECT_EQ(rows_at(version, picky), "+1 (1, 'apples', 5)\n+1 (2, 'apples', 1)\n");
}

TEST_F(TransactionalTest, RefusesRowsThatCannotBeComputedUnlessItIsToldOtherwise) {
  const Relation orders = make_orders();
  const operators::Plan inverse =
      from(orders).map({{"id", col("id")}, {"inverse", data::lit(10) / col("amount")}});
  make("inverse", inverse);
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.insert(orders, {1, "apples", 0})));
  const auto refused = run(transaction.commit());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("view 'inverse': map: "), std::string::npos)
      << refused.error().message();
  ASSERT_TRUE(run(database().drop_view("inverse")));
  const Relation dropping =
      make("dropping", inverse,
           {.row_errors = operators::RowErrorPolicy::drop, .update = ViewUpdate::transactional});
  const auto version = insert(orders, {{1, "apples", 0}, {2, "pears", 5}});
  EXPECT_EQ(rows_at(version, dropping), "+1 (2, 2)\n");
}

TEST_F(TransactionalTest, I13IsAsItWasAfterAConflict) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation others = run(database().create_table("others", orders_schema)).value();
  insert(others, {{1, "x", 1}});
  const Relation totals = make("totals", totals_of(orders));
  // The conflict is with a table that no view follows: flows have run when it is found.
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.get(others, {1})));
  ASSERT_TRUE(run(transaction.insert(orders, {2, "apples", 7})));
  auto direct = database().begin();
  ASSERT_TRUE(run(direct.update(others, {1, "x", 2})));
  ASSERT_TRUE(run(direct.commit()));
  EXPECT_EQ(run(transaction.commit()).error(), storage::Errc::conflict);
  const auto version = insert(orders, {{3, "apples", 1}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 6)\n");
}

TEST_F(TransactionalTest, ComesBetweenTransactionsThatAreUnderWay) {
  const Relation orders = make_orders({{1, "apples", 5}});
  auto subscription = database().subscribe(orders).value();
  auto early = database().begin();
  ASSERT_TRUE(run(early.insert(orders, {2, "pears", 7})));
  const Relation totals = make("totals", totals_of(orders));
  // It did not know of the view.
  EXPECT_EQ(run(early.commit()).error(), storage::Errc::conflict);
  // The handle of the table is as good as before.
  const auto version = insert(orders, {{3, "plums", 1}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 5)\n+1 ('plums', 1)\n");
  EXPECT_EQ(to_string(run(subscription.next()).value().changes), "+1 (3, 'plums', 1)\n");
}

TEST_F(TransactionalTest, GoesBetweenTransactionsThatAreUnderWayAndLeavesNothing) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  const Relation large = make("large", from(totals).filter(col("total") > 1));
  EXPECT_EQ(run(database().drop_view("totals")).error().message(),
            "in use: 'totals' is read by 'large'");
  auto early = database().begin();
  ASSERT_TRUE(run(early.insert(orders, {2, "pears", 7})));
  ASSERT_TRUE(run(database().drop_view("large")));
  ASSERT_TRUE(run(database().drop_view("totals")));
  EXPECT_EQ(run(early.commit()).error(), storage::Errc::conflict);
  EXPECT_EQ(run(database().fresh(totals, store().version())).error(), Errc::unknown_relation);
  EXPECT_EQ(database().status(totals), std::nullopt);
  EXPECT_EQ(entries_of_flows(), 0u);
  insert(orders, {{3, "plums", 1}});
  const Relation again = make("totals", totals_of(orders));
  EXPECT_EQ(rows_of(again), "+1 ('apples', 5)\n+1 ('plums', 1)\n");
}

TEST_F(TransactionalTest, TakesTheRowsThatWereThereBitByBitWhileOthersWrite) {
  std::vector<Row> rows;
  for (int id = 0; id < 999; ++id) rows.push_back({id, "apples", 1});
  const Relation orders = make_orders(rows);
  const auto before = store().version();
  const Relation totals =
      run(database().create_view("totals", totals_of(orders), transactional)).value();
  const Relation chain = run(database().create_view("chain", from(totals), transactional)).value();
  int total = 999;
  for (int id = 0; id < 50; ++id) {
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.update(orders, {id * 19, "apples", 3})));
    ASSERT_TRUE(run(transaction.insert(orders, {2'000 + id, "apples", 1})));
    ASSERT_TRUE(run(transaction.commit()));
    total += 3;
  }
  ASSERT_TRUE(run(database().fresh(chain, store().version())));
  EXPECT_EQ(rows_of(chain), "+1 ('apples', " + std::to_string(total) + ")\n");
  EXPECT_EQ(rows_of(totals), rows_of(chain));
  EXPECT_EQ(rows_at(before, totals), "not ready: view 'totals'");
  EXPECT_GE(database().status(totals)->rows_taken, 999u);
}

TEST_F(TransactionalTest, FollowsWritersWhileItIsStillTakingRows) {
  constexpr int count = 600;
  std::vector<Row> rows;
  for (int id = 0; id < count; ++id) rows.push_back({id, "apples", 1});
  make_orders(rows);
  DatabaseOptions slow = options();
  slow.backfill_rows = 1;
  reopen(slow);
  const Relation orders = open("orders");
  const Relation totals =
      run(database().create_view("totals", totals_of(orders), transactional)).value();
  int writes = 0;
  // Of rows that it has taken, of some that it has not, and of new ones.
  for (; database().status(totals)->phase == ViewPhase::backfilling; ++writes) {
    const int id = writes * 7 % count;
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.upsert(orders, {id, "apples", 1 + writes})));
    ASSERT_TRUE(run(transaction.insert(orders, {-1 - writes, "apples", 2})));
    ASSERT_TRUE(run(transaction.upsert(orders, {count + writes % 50, "apples", 3})));
    ASSERT_TRUE(run(transaction.commit()));
  }
  std::int64_t total = 0;
  Snapshot now = database().read();
  auto scan = now.scan(orders);
  for (auto batch = run(scan.next()).value(); !batch.is_empty(); batch = run(scan.next()).value())
    for (std::size_t row = 0; row < batch.size(); ++row)
      total += batch.column(2).value(row).as<std::int64_t>();
  EXPECT_EQ(rows_of(totals), "+1 ('apples', " + std::to_string(total) + ")\n");
  EXPECT_GT(writes, 1) << "it was too fast for that";
  EXPECT_GT(database().status(totals)->rows_taken, 2u);
}

TEST_F(TransactionalTest, IsTakenBitByBitByADeferredViewWhileOthersWrite) {
  std::vector<Row> rows;
  for (int id = 0; id < 999; ++id) rows.push_back({id, "apples", 1});
  const Relation orders = make_orders(rows);
  const Relation all = make("all", from(orders).filter(col("amount") > 0));
  for (int round = 0; round < 10; ++round) {
    const std::string name = "late" + std::to_string(round);
    const Relation late = run(database().create_view(name, totals_of(all))).value();
    for (int id = 0; id < 50; ++id) {
      auto transaction = database().begin();
      ASSERT_TRUE(run(transaction.upsert(orders, {id * 19 + round, "apples", 3 + round})));
      ASSERT_TRUE(run(transaction.upsert(orders, {id * 17, "apples", -round})));
      ASSERT_TRUE(run(transaction.commit()));
    }
    ASSERT_TRUE(run(database().fresh(late, store().version())));
    std::int64_t total = 0;
    Snapshot now = database().read();
    auto scan = now.scan(all);
    for (auto batch = run(scan.next()).value(); !batch.is_empty(); batch = run(scan.next()).value())
      for (std::size_t row = 0; row < batch.size(); ++row)
        total += batch.column(2).value(row).as<std::int64_t>();
    ASSERT_EQ(rows_of(late), "+1 ('apples', " + std::to_string(total) + ")\n");
  }
}

TEST_F(TransactionalTest, GoesOnAfterARestart) {
  Relation orders = make_orders({{1, "apples", 5}});
  make("totals", totals_of(orders));
  reopen(options());
  orders = open("orders");
  const Relation totals = open("totals");
  EXPECT_EQ(rows_of(totals), "+1 ('apples', 5)\n");
  const auto version = insert(orders, {{2, "apples", 7}, {3, "pears", 1}});
  EXPECT_EQ(rows_at(version, totals), "+1 ('apples', 12)\n+1 ('pears', 1)\n");
}

TEST_F(TransactionalTest, IsBuiltAgainWithWhoeverReadsIt) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation totals = make("totals", totals_of(orders));
  const Relation chain = make("chain", from(totals).filter(col("total") > 1));
  const Relation late = make("late", from(chain), {});
  for (int id = 2; id < 30; ++id) {
    insert(orders, {{id, "apples", 1}});
    ASSERT_TRUE(run(database().rebuild(totals)));
    insert(orders, {{100 + id, "pears", 1}});
    for (const Relation& view : {chain, late})
      ASSERT_TRUE(run(database().fresh(view, store().version())));
    EXPECT_EQ(rows_of(chain), "+1 ('apples', " + std::to_string(id + 4) + ")\n" +
                                  (id > 2 ? "+1 ('pears', " + std::to_string(id - 1) + ")\n" : ""));
    EXPECT_EQ(rows_of(late), rows_of(chain));
  }
  // Who reads the deferred view of any version sees its query over the tables of one version.
  int compared = 0;
  for (std::uint64_t number = 1; number <= store().version().number; ++number) {
    const storage::Version version{number};
    const std::string found = rows_at(version, late);
    if (found.starts_with("not ready")) continue;
    const auto position = run(database().read_at(version).value().view_position()).value();
    ASSERT_EQ(found, rows_at(position, chain)) << "version " << number;
    ++compared;
  }
  EXPECT_GT(compared, 28);
}

TEST_F(TransactionalTest, WhoseRowsCannotBeTakenIsQuarantinedAndHoldsNobodyUp) {
  const Relation orders = make_orders({{1, "poison", 5}});
  const Relation other = make("other", from(orders));
  const Relation picky =
      run(database().create_view("picky", from(orders).apply("picky"), transactional)).value();
  const Relation reader = run(database().create_view("reader", from(picky), transactional)).value();
  const auto failed = run(database().fresh(picky, store().version()));
  EXPECT_EQ(failed.error(), Errc::quarantined);
  EXPECT_EQ(database().status(picky)->failures, 3u);
  EXPECT_NE(database().status(picky)->error.find("view 'picky': apply picky: poison"),
            std::string::npos)
      << database().status(picky)->error;
  const auto version = insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(rows_at(version, other), "+1 (1, 'poison', 5)\n+1 (2, 'poison', 1)\n");
  EXPECT_EQ(rows_at(version, picky), "not ready: view 'picky'");
  EXPECT_EQ(rows_at(version, reader), "not ready: view 'reader'");
  *is_picky_ = false;
  ASSERT_TRUE(run(database().rebuild(picky)));
  ASSERT_TRUE(run(database().fresh(reader, store().version())));
  EXPECT_EQ(rows_of(reader), rows_of(other));
}

TEST_F(TransactionalTest, WaitsForItsOperatorWithoutMissingAnything) {
  const Relation orders = make_orders({{1, "apples", 1}});
  make("picky", from(orders).apply("picky"));
  make("after", from(open("picky")));
  make("late", from(open("after")), {});
  reopen();  // without the operator
  const auto version = insert(open("orders"), {{2, "pears", 1}});
  EXPECT_EQ(run(database().fresh(open("picky"), version)).error().message(),
            "quarantined: view 'picky': unknown name: apply picky: no operator 'picky' is "
            "registered");
  EXPECT_EQ(rows_at(version, open("picky")), "not ready: view 'picky'");
  EXPECT_EQ(rows_at(version, open("after")), "not ready: view 'after'");
  ASSERT_TRUE(run(database().rebuild(open("picky"))));
  EXPECT_EQ(run(database().fresh(open("picky"), version)).error(), Errc::quarantined);
  insert(open("orders"), {{3, "plums", 1}});

  reopen(options());
  const std::string all = "+1 (1, 'apples', 1)\n+1 (2, 'pears', 1)\n+1 (3, 'plums', 1)\n";
  for (const char* name : {"picky", "after", "late"}) {
    ASSERT_TRUE(run(database().fresh(open(name), store().version()))) << name;
    EXPECT_EQ(rows_of(open(name)), all) << name;
  }
}

TEST_F(TransactionalTest, WhoseQueryCannotBeReadStandsAlone) {
  const Relation orders = make_orders({{1, "apples", 1}});
  Relation broken = make("broken", from(orders));
  const Relation reader = make("reader", from(broken));
  internal::RelationEntry entry = broken.info().entry;
  entry.plan = "this is not a plan";
  const auto relations =
      run(store().open_rows<std::uint64_t, internal::RelationEntry>("weir.flow.relations")).value();
  auto transaction = store().begin();
  transaction.put(relations, broken.id(), entry);
  ASSERT_TRUE(run(transaction.commit()));
  reopen(options());
  const auto version = insert(open("orders"), {{2, "pears", 1}});
  EXPECT_EQ(run(database().fresh(open("broken"), version)).error(), Errc::quarantined);
  EXPECT_EQ(rows_at(version, open("broken")), "not ready: view 'broken'");
  EXPECT_EQ(rows_at(version, open("reader")), "not ready: view 'reader'");
  ASSERT_TRUE(run(database().drop_view("reader")));
  ASSERT_TRUE(run(database().drop_view("broken")));
  insert(open("orders"), {{3, "plums", 1}});
}

TEST_F(TransactionalTest, KeepsItsColumnsWhateverTheyAreCalledLater) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const Relation large = make("large", from(orders).filter(col("amount") > 10));
  ASSERT_TRUE(run(database().add_column("orders", {.name = "note", .type = Kind::text})));
  const Relation renamed = run(database().rename_column("orders", "amount", "cents")).value();
  const auto version = insert(renamed, {{2, "pears", 60, "ripe"}});
  EXPECT_EQ(rows_at(version, large), "+1 (1, 'apples', 50)\n+1 (2, 'pears', 60)\n");
  ASSERT_TRUE(run(database().rebuild(large)));
  ASSERT_TRUE(run(database().fresh(large, store().version())));
  EXPECT_EQ(rows_of(large), "+1 (1, 'apples', 50)\n+1 (2, 'pears', 60)\n");
}

TEST_F(TransactionalTest, SeesEachCommitByItself) {
  const Relation orders = make_orders({{1, "apples", 0}});
  const Relation seen = make("seen", from(orders).gate(col("amount") > 10));
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.update(orders, {1, "apples", 20})));  // nobody sees that
  ASSERT_TRUE(run(transaction.update(orders, {1, "apples", 1})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(seen), "");
  for (const int amount : {20, 2}) {
    auto next = database().begin();
    ASSERT_TRUE(run(next.update(orders, {1, "apples", amount})));
    ASSERT_TRUE(run(next.commit()));
  }
  EXPECT_EQ(rows_of(seen), "+1 (1, 'apples', 2)\n");
}

TEST_F(TransactionalTest, IsWhereTheStoreIs) {
  const Relation orders = make_orders();
  const Relation all = make("all", from(orders));
  EXPECT_TRUE(all.is_transactional());
  EXPECT_EQ(database().status(all)->position, store().version());
  const auto version = insert(orders, {{1, "apples", 1}});
  EXPECT_EQ(run(database().fresh(all, version)).value(), store().version());
  // Commits that it has nothing to do with count too.
  run(database().create_table("others", orders_schema)).value();
  EXPECT_EQ(database().status(all)->position, store().version());
  auto writing = database().begin();
  EXPECT_EQ(run(writing.insert(all, {1, "apples", 1})).error(), Errc::not_a_table);
}

TEST_F(TransactionalTest, ATransactionReadsViewsAsOfItsVersion) {
  const Relation orders = make_orders({{1, "apples", 5}});
  const Relation all = make("all", from(orders));
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.update(orders, {1, "apples", 6})));
  EXPECT_EQ((*run(transaction.get(all, {1})).value())[2], Value(5));
  ASSERT_TRUE(run(transaction.commit()));
  // And conflicts with whoever changes what it has read there.
  auto reader = database().begin();
  EXPECT_EQ((*run(reader.get(all, {1})).value())[2], Value(6));
  auto writer = database().begin();
  ASSERT_TRUE(run(writer.update(orders, {1, "apples", 7})));
  ASSERT_TRUE(run(writer.commit()));
  ASSERT_TRUE(run(reader.insert(orders, {2, "pears", 6})));
  EXPECT_EQ(run(reader.commit()).error(), storage::Errc::conflict);
}

}  // namespace
}  // namespace weir::flow::view
