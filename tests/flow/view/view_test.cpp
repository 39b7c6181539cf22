#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/progress.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;
using data::Value;
using operators::test::make_schema;

using test::orders_schema;
using test::ViewTest;

TEST_F(ViewTest, ShowsTheRowsThatWereThereBeforeIt) {
  const Relation orders = make_orders({{1, "apples", 5}, {2, "pears", 50}, {3, "plums", Value()}});
  const Relation large =
      run(database().create_view("large", from(orders).filter(col("amount") > 10))).value();
  EXPECT_EQ(fresh_rows(large), "+1 (2, 'pears', 50)\n");
  EXPECT_EQ(database().status(large)->phase, ViewPhase::live);
  EXPECT_EQ(database().status(large)->rows_taken, 3u);
}

TEST_F(ViewTest, FollowsEveryChange) {
  const Relation orders = make_orders();
  const Relation large =
      run(database().create_view("large", from(orders).filter(col("amount") > 10))).value();
  insert(orders, {{1, "apples", 5}, {2, "pears", 50}});
  EXPECT_EQ(fresh_rows(large), "+1 (2, 'pears', 50)\n");
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.update(orders, {1, "apples", 20})));
  ASSERT_TRUE(run(transaction.remove(orders, {2})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(fresh_rows(large), "+1 (1, 'apples', 20)\n");
}

TEST_F(ViewTest, CountsEqualRowsOfAViewWithoutAPrimaryKey) {
  const Relation orders = make_orders({{1, "apples", 5}, {2, "apples", 6}});
  const Relation items =
      run(database().create_view("items", from(orders).map({{"item", col("item")}}))).value();
  EXPECT_EQ(fresh_rows(items), "+2 ('apples')\n");
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.remove(orders, {2})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(fresh_rows(items), "+1 ('apples')\n");
}

TEST_F(ViewTest, FollowsOtherViewsInTheSameCycle) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const Relation large =
      run(database().create_view("large", from(orders).filter(col("amount") > 10))).value();
  const Relation items =
      run(database().create_view("items", from(large).map({{"item", col("item")}}))).value();
  const Relation names = run(database().create_view("names", from(items).distinct())).value();
  EXPECT_EQ(fresh_rows(names), "+1 ('apples')\n");
  insert(orders, {{2, "pears", 60}, {3, "pears", 70}, {4, "plums", 1}});
  EXPECT_EQ(fresh_rows(names), "+1 ('apples')\n+1 ('pears')\n");
  // One commit has all three: whoever sees one of them sees all.
  const auto version = database().status(names)->position;
  EXPECT_EQ(database().status(large)->position, version);
}

TEST_F(ViewTest, GoesOnAfterARestart) {
  const Relation orders = make_orders({{1, "apples", 50}});
  Relation names =
      run(database().create_view("names", from(orders).map({{"item", col("item")}}).distinct()))
          .value();
  EXPECT_EQ(fresh_rows(names), "+1 ('apples')\n");
  reopen();
  names = run(database().relation("names")).value();
  EXPECT_EQ(fresh_rows(names), "+1 ('apples')\n");
  insert(run(database().relation("orders")).value(), {{2, "apples", 1}, {3, "pears", 1}});
  EXPECT_EQ(fresh_rows(names), "+1 ('apples')\n+1 ('pears')\n");
}

TEST_F(ViewTest, IsMadeOrIsTheOneThatIsThere) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const auto plan = from(orders).filter(col("amount") > 10);
  const Relation made = run(database().create_or_open_view("large", plan)).value();
  const Relation there = run(database().create_or_open_view("large", plan)).value();
  EXPECT_EQ(there.id(), made.id());
  reopen();
  const Relation again = run(database().create_or_open_view("large", plan)).value();
  EXPECT_EQ(again.id(), made.id());
  EXPECT_EQ(fresh_rows(again), "+1 (1, 'apples', 50)\n");
}

TEST_F(ViewTest, IsNotTakenForOneWithAnotherQuery) {
  const Relation orders = make_orders({});
  const auto plan = from(orders).filter(col("amount") > 10);
  run(database().create_view("large", plan)).value();
  const auto refusal = [&](const std::string& name, operators::Plan wanted,
                           ViewOptions options = {}) {
    const auto opened = run(database().create_or_open_view(name, wanted, options));
    return opened ? "opened" : opened.error().message();
  };
  const std::string another =
      "already exists: view 'large' is there with another query or other options: replace it";
  EXPECT_EQ(refusal("large", from(orders).filter(col("amount") > 11)), another);
  EXPECT_EQ(refusal("large", plan, {.update = ViewUpdate::transactional}), another);
  EXPECT_EQ(refusal("large", plan, {.row_errors = operators::RowErrorPolicy::drop}), another);
  EXPECT_EQ(refusal("large", plan), "opened");
  EXPECT_EQ(refusal("orders", plan), "already exists: 'orders' is a table");
}

TEST_F(ViewTest, TakesManyRowsBitByBit) {
  std::vector<Row> rows;
  std::string expected;
  for (int id = 1000; id < 1999; ++id) {
    rows.push_back({id, "apples", id});
    expected += "+1 (" + std::to_string(id) + ")\n";
  }
  reopen({.backfill_rows = 100});
  const Relation orders = make_orders(rows);
  const Relation ids =
      run(database().create_view("ids", from(orders).map({{"id", col("id")}}))).value();
  EXPECT_EQ(fresh_rows(ids), expected);
}

TEST_F(ViewTest, IsNotReadBeforeItIsReady) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const auto before = store().version();
  const Relation view = run(database().create_view("all", from(orders))).value();
  EXPECT_EQ(fresh_rows(view), "+1 (1, 'apples', 50)\n");
  Snapshot old = database().read_at(before).value();
  EXPECT_EQ(run(old.get(view, {1})).error(), Errc::not_ready);
  auto scan = old.scan(view);
  EXPECT_EQ(run(scan.next()).error(), Errc::not_ready);
}

TEST_F(ViewTest, RefusesAQueryWithThePathToWhatIsWrong) {
  const Relation orders = make_orders();
  const auto refusal = [&](operators::Plan plan) {
    const auto made = run(database().create_view("v", std::move(plan)));
    return made ? "accepted" : made.error().message();
  };
  EXPECT_EQ(refusal(from(orders).filter(col("price") > 1).distinct()),
            "unknown column: view 'v': distinct < filter: 'price'; there are: id, item, amount");
  EXPECT_EQ(refusal(from(orders).filter(data::call("lowr", {col("item")}) == "x")),
            "unknown function: view 'v': filter: lowr(item): 'lowr'");
  EXPECT_EQ(refusal(from(orders).filter(col("amount") == "many").distinct()).substr(0, 61),
            "type mismatch: view 'v': distinct < filter: (amount = 'many')");
  EXPECT_EQ(refusal(operators::from("people", orders_schema)),
            "unknown table or view: view 'v': 'people'");
  EXPECT_EQ(refusal(operators::from("v", orders_schema)), "unknown table or view: view 'v': 'v'");
  EXPECT_EQ(refusal(operators::from("orders", make_schema({{"price", Kind::int64}}))),
            "unknown column: view 'v': 'orders': 'price'");
  EXPECT_EQ(refusal(operators::from("orders", make_schema({{"amount", Kind::int64, false}}))),
            "type mismatch: view 'v': 'orders': 'amount' is int64, not int64 not null");
  ASSERT_TRUE(run(database().create_view("v", from(orders))));
  EXPECT_EQ(refusal(from(orders)), "already exists: view 'v': 'v'");
}

TEST_F(ViewTest, CannotBeWritten) {
  const Relation orders = make_orders();
  const Relation all = run(database().create_view("all", from(orders))).value();
  auto transaction = database().begin();
  EXPECT_EQ(run(transaction.insert(all, {1, "apples", 1})).error().message(),
            "not a table: 'all' is a view");
}

TEST_F(ViewTest, KeepsWhatItReadsFromBeingDropped) {
  const Relation orders = make_orders();
  const Relation a =
      run(database().create_view("a", from(orders).filter(col("amount") > 1))).value();
  ASSERT_TRUE(run(database().create_view("b", from(a))));
  EXPECT_EQ(run(database().drop_table("orders")).error().message(),
            "in use: 'orders' is read by 'a'");
  EXPECT_EQ(run(database().drop_column("orders", "amount")).error().message(),
            "in use: 'orders.amount' is read by 'a'");
  EXPECT_EQ(run(database().drop_view("a")).error().message(), "in use: 'a' is read by 'b'");
  ASSERT_TRUE(run(database().drop_view("b")));
  ASSERT_TRUE(run(database().drop_view("a")));
  ASSERT_TRUE(run(database().drop_table("orders")));
}

TEST_F(ViewTest, LeavesNothingBehindWhenItIsDropped) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const auto make = [&] {
    return run(database().create_view("items",
                                      from(orders).map({{"item", col("item")}}).distinct()))
        .value();
  };
  const Relation items = make();
  EXPECT_EQ(fresh_rows(items), "+1 ('apples')\n");
  const storage::Version before = store().version();
  ASSERT_EQ(spaces_of("weir.flow.state.").size(), 1u);
  ASSERT_TRUE(run(database().drop_view("items")));
  EXPECT_EQ(run(database().fresh(items, store().version())).error(), Errc::unknown_relation);
  EXPECT_EQ(spaces_of("weir.flow.state.").size(), 0u);
  EXPECT_EQ(spaces_of("weir.flow.rows.").size(), 1u);
  const auto ready =
      run(store().open_rows<std::uint64_t, std::uint64_t>("weir.flow.ready")).value();
  const auto progress =
      run(store().open_state<std::uint64_t, internal::Progress>("weir.flow.progress")).value();
  auto transaction = store().begin();
  EXPECT_FALSE(transaction.get(ready, items.id()).blocking().value());
  EXPECT_FALSE(transaction.get(progress, items.id()).blocking().value());
  auto scan = database().read_at(before).value().scan(items);
  EXPECT_EQ(to_string(run(scan.next()).value()), "+1 ('apples')\n");
  EXPECT_EQ(fresh_rows(make()), "+1 ('apples')\n");
}

TEST_F(ViewTest, TakesCommitsOneByOneWhereThatMatters) {
  const Relation orders = make_orders({{1, "apples", 0}});
  const Relation seen =
      run(database().create_view("seen", from(orders).gate(col("amount") > 10))).value();
  ASSERT_TRUE(run(database().fresh(seen, store().version())));
  // Whichever of them are read from the log together, the gate has seen 20.
  for (const int amount : {20, 1, 2, 3}) {
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.update(orders, {1, "apples", amount})));
    ASSERT_TRUE(run(transaction.commit()));
  }
  EXPECT_EQ(fresh_rows(seen), "+1 (1, 'apples', 3)\n");
}

TEST_F(ViewTest, JoinsAndSumsWhatItReads) {
  const Relation orders = make_orders({{1, "apples", 5}, {2, "pears", 50}, {3, "apples", 7}});
  const auto schema = make_schema({{"item", Kind::text, false}, {"price", Kind::int64}}, {"item"});
  const Relation prices = run(database().create_table("prices", schema)).value();
  insert(prices, {{"apples", 2}, {"plums", 9}});
  const Relation worth =
      run(database().create_view(
              "worth",
              from(orders)
                  .join(from(prices), {.on = {{"item", "item"}}, .right_prefix = "price_"})
                  .group_by({"item"})
                  .aggregate({operators::sum(col("amount") * col("price_price")).as("worth")})))
          .value();
  EXPECT_EQ(fresh_rows(worth), "+1 ('apples', 24)\n");
  insert(prices, {{"pears", 1}});
  EXPECT_EQ(fresh_rows(worth), "+1 ('apples', 24)\n+1 ('pears', 50)\n");
}

TEST_F(ViewTest, DoesWithRowsThatCannotBeComputedWhatItWasToldTo) {
  reopen({.failures_max = 1});
  const Relation orders = make_orders({{1, "apples", 0}, {2, "pears", 5}});
  const operators::Plan inverse =
      from(orders).map({{"id", col("id")}, {"inverse", data::lit(10) / col("amount")}});
  const auto make = [&](const char* name, ViewOptions options) {
    return run(database().create_view(name, inverse, options)).value();
  };
  const Relation dropping = make("dropping", {.row_errors = operators::RowErrorPolicy::drop});
  const Relation nulling = make("nulling", {.row_errors = operators::RowErrorPolicy::null});
  const Relation failing = make("failing", {});
  EXPECT_EQ(fresh_rows(dropping), "+1 (2, 2)\n");
  EXPECT_EQ(fresh_rows(nulling), "+1 (1, null)\n+1 (2, 2)\n");
  EXPECT_NE(fresh_rows(failing).find("division by zero"), std::string::npos);
  for (const Relation& view : {dropping, nulling}) {
    const ViewCounts counts = database().status(view)->counts;
    EXPECT_EQ(counts.row_errors, 1u);
    EXPECT_EQ(counts.row_error,
              "row error: map: column 'inverse': division by zero in row (1, 'apples', 0)");
  }
  reopen();
  insert(run(database().relation("orders")).value(), {{3, "plums", 0}});
  EXPECT_EQ(fresh_rows(run(database().relation("dropping")).value()), "+1 (2, 2)\n");
}

// [row_errors]
operators::Plan without_errors(const Relation& orders) {
  return from(orders).map({{"id", col("id")}, {"inverse", data::lit(10) / col("amount")}});
}
operators::Plan with_errors(const Relation& orders) {
  return from(orders)
      .extend({{"why", data::error_of(data::lit(10) / col("amount"))}})
      .filter(!data::is_null(col("why")));
}
// [/row_errors]

TEST_F(ViewTest, GivesRowsThatCannotBeComputedToAViewOfTheirOwn) {
  const Relation orders = make_orders({{1, "apples", 0}, {2, "pears", 5}});
  const ViewOptions drop{.row_errors = operators::RowErrorPolicy::drop};
  const Relation good = run(database().create_view("good", without_errors(orders), drop)).value();
  const Relation bad = run(database().create_view("bad", with_errors(orders))).value();
  EXPECT_EQ(fresh_rows(good), "+1 (2, 2)\n");
  EXPECT_EQ(fresh_rows(bad), "+1 (1, 'apples', 0, 'division by zero')\n");
  insert(orders, {{3, "plums", 0}});
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.upsert(orders, {1, "apples", 2})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(fresh_rows(good), "+1 (1, 5)\n+1 (2, 2)\n");
  EXPECT_EQ(fresh_rows(bad), "+1 (3, 'plums', 0, 'division by zero')\n");
  EXPECT_EQ(database().status(bad)->counts.row_errors, 0u) << "handled, so there is none";
}

TEST_F(ViewTest, KeepsItsColumnsWhateverTheyAreCalledLater) {
  const Relation orders = make_orders({{1, "apples", 50}});
  const Relation large =
      run(database().create_view("large", from(orders).filter(col("amount") > 10))).value();
  EXPECT_EQ(fresh_rows(large), "+1 (1, 'apples', 50)\n");
  ASSERT_TRUE(run(database().add_column("orders", {.name = "note", .type = Kind::text})));
  const Relation renamed = run(database().rename_column("orders", "amount", "cents")).value();
  insert(renamed, {{2, "pears", 60, "ripe"}});
  EXPECT_EQ(fresh_rows(large), "+1 (1, 'apples', 50)\n+1 (2, 'pears', 60)\n");
}

TEST_F(ViewTest, IsNeverSeenBehindTheOthersWhileItIsBuiltAgain) {
  const Relation orders = make_orders();
  const Relation all = run(database().create_view("all", from(orders))).value();
  const Relation other = run(database().create_view("other", from(orders))).value();
  for (int id = 0; id < 100; ++id) {
    insert(orders, {{id, "apples", 1}});
    ASSERT_TRUE(run(database().rebuild(all)));
    insert(orders, {{1'000 + id, "pears", 1}});
    ASSERT_TRUE(run(database().fresh(all, store().version())));
  }
  ASSERT_TRUE(run(database().fresh(other, store().version())));
  const auto count = [&](storage::Version version, const Relation& relation) {
    Snapshot snapshot = database().read_at(version).value();
    auto scan = snapshot.scan(relation);
    const auto rows = run(scan.next());
    return rows ? static_cast<int>(rows->size()) : -1;
  };
  int compared = 0;
  for (std::uint64_t number = 1; number <= store().version().number; ++number) {
    const storage::Version version{number};
    const int found = count(version, all);
    if (found < 0) continue;
    const auto position = run(database().read_at(version).value().view_position()).value();
    ASSERT_EQ(found, count(position, orders)) << "version " << number;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST_F(ViewTest, WhoseQueryCannotBeReadStandsAlone) {
  const Relation orders = make_orders({{1, "apples", 1}});
  Relation broken = run(database().create_view("broken", from(orders))).value();
  Relation reader = run(database().create_view("reader", from(broken))).value();
  ASSERT_TRUE(run(database().create_view("other", from(orders))));
  EXPECT_EQ(fresh_rows(reader), "+1 (1, 'apples', 1)\n");
  internal::RelationEntry entry = broken.info().entry;
  entry.plan = "this is not a plan";
  const auto relations =
      run(store().open_rows<std::uint64_t, internal::RelationEntry>("weir.flow.relations")).value();
  auto transaction = store().begin();
  transaction.put(relations, broken.id(), entry);
  ASSERT_TRUE(run(transaction.commit()));
  reopen();
  broken = run(database().relation("broken")).value();
  reader = run(database().relation("reader")).value();
  insert(run(database().relation("orders")).value(), {{2, "pears", 1}});
  EXPECT_EQ(fresh_rows(run(database().relation("other")).value()),
            "+1 (1, 'apples', 1)\n+1 (2, 'pears', 1)\n");
  EXPECT_EQ(run(database().fresh(broken, store().version())).error(), Errc::quarantined);
  EXPECT_EQ(fresh_rows(reader), "quarantined: view 'reader': its source 'broken' cannot be read");
  Snapshot now = database().read();
  EXPECT_EQ(run(now.get(broken, {1})).error(), Errc::not_ready);
}

}  // namespace
}  // namespace weir::flow::view
