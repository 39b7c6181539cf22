#include <weir/flow/view/database.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/retry.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::Kind;
using data::Value;
using operators::test::make_schema;
using test::DatabaseTest;

const data::SchemaRef orders_schema = make_schema(
    {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"amount", Kind::int64}}, {"id"});

TEST_F(DatabaseTest, KeepsRowsByTheirPrimaryKey) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.insert(orders, {2, "pears", 5})));
  ASSERT_TRUE(run(transaction.insert(orders, {1, "apples", Value()})));
  EXPECT_EQ(run(transaction.get(orders, {2})).value(), (Row{2, "pears", 5}));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', null)\n+1 (2, 'pears', 5)\n");

  auto next = database().begin();
  ASSERT_TRUE(run(next.update(orders, {1, "apples", 7})));
  ASSERT_TRUE(run(next.upsert(orders, {3, "plums", 1})));
  ASSERT_TRUE(run(next.remove(orders, {2})));
  ASSERT_TRUE(run(next.commit()));
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 7)\n+1 (3, 'plums', 1)\n");
}

TEST_F(DatabaseTest, ReadsOlderVersions) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const auto before = insert(orders, {{1, "apples", 1}});
  insert(orders, {{2, "pears", 2}});
  Snapshot old = database().read_at(before).value();
  EXPECT_EQ(run(old.get(orders, {2})).value(), std::nullopt);
  EXPECT_EQ(run(old.get(orders, {1})).value(), (Row{1, "apples", 1}));
}

TEST_F(DatabaseTest, RefusesWhatIsNotARow) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  insert(orders, {{1, "apples", 1}});
  auto transaction = database().begin();
  const auto refusal = [&](Task<Result<>> task) {
    const auto done = run(std::move(task));
    return done ? "accepted" : done.error().message();
  };
  EXPECT_EQ(refusal(transaction.insert(orders, {1, "pears", 1})), "duplicate key: 'orders': (1)");
  EXPECT_EQ(refusal(transaction.update(orders, {9, "pears", 1})), "unknown key: 'orders': (9)");
  EXPECT_EQ(refusal(transaction.remove(orders, {9})), "unknown key: 'orders': (9)");
  EXPECT_EQ(refusal(transaction.remove(orders, {"nine"})),
            "invalid argument: 'orders': 'id' is int64, not 'nine'");
  EXPECT_EQ(refusal(transaction.remove(orders, {})),
            "invalid argument: 'orders': its primary key has 1 values, not 0");
  const auto is = [](const Result<>& done, data::Errc code) {
    return !done && done.error() == code;
  };
  EXPECT_TRUE(
      is(run(transaction.insert(orders, {Value(), "pears", 1})), data::Errc::null_not_allowed));
  EXPECT_EQ(refusal(transaction.insert(orders, {Value(), "pears", 1})),
            "null not allowed: 'orders': id");
  EXPECT_TRUE(is(run(transaction.insert(orders, {5, 6, 7})), data::Errc::type_mismatch));
  // What was refused has changed nothing.
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 1)\n");
}

TEST_F(DatabaseTest, InsertsManyRowsOrNone) {
  using operators::test::make_batch;
  using operators::test::Rows;
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const auto twice = make_batch(orders_schema, Rows{{{1, "a", 1}, 1}, {{1, "b", 1}, 1}});
  const auto once = make_batch(orders_schema, Rows{{{1, "a", 1}, 1}, {{2, "b", 1}, 1}});
  auto transaction = database().begin();
  EXPECT_EQ(run(transaction.insert(orders, twice)).error(), Errc::duplicate_key);
  EXPECT_EQ(run(transaction.insert(orders, once.negated())).error(), Errc::invalid_argument);
  ASSERT_TRUE(run(transaction.insert(orders, once)));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(orders), "+1 (1, 'a', 1)\n+1 (2, 'b', 1)\n");
}

TEST_F(DatabaseTest, RefusesTablesThatCannotBe) {
  ASSERT_TRUE(run(database().create_table("orders", orders_schema)));
  EXPECT_EQ(run(database().create_table("orders", orders_schema)).error().message(),
            "already exists: 'orders'");
  EXPECT_EQ(run(database().create_table("bag", make_schema({{"a", Kind::text}}))).error().message(),
            "invalid argument: 'bag': a table must have a primary key");
  EXPECT_EQ(run(database().create_table("", orders_schema)).error(), Errc::invalid_argument);
  EXPECT_EQ(run(database().relation("people")).error().message(),
            "unknown table or view: 'people'");
}

TEST_F(DatabaseTest, FindsItsTablesAfterARestart) {
  insert(run(database().create_table("orders", orders_schema)).value(), {{1, "apples", 1}});
  reopen();
  const Relation orders = run(database().relation("orders")).value();
  EXPECT_EQ(*orders.schema(), *orders_schema);
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 1)\n");
  EXPECT_EQ(run(database().relations()).value().size(), 1u);
}

TEST_F(DatabaseTest, MakesATableOrOpensTheOneThatIsThere) {
  insert(run(database().create_or_open_table("orders", orders_schema)).value(), {{1, "apples", 1}});
  reopen();
  const Relation orders = run(database().create_or_open_table("orders", orders_schema)).value();
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 1)\n");
  insert(orders, {{2, "pears", 2}});
}

TEST_F(DatabaseTest, OpensNoTableThatIsAnotherOne) {
  const auto refusal = [&](const std::string& name, data::SchemaRef schema) {
    const auto opened = run(database().create_or_open_table(name, std::move(schema)));
    return opened ? "opened" : opened.error().message();
  };
  run(database().create_table("orders", orders_schema)).value();
  run(database().create_view("all", from(run(database().relation("orders")).value()))).value();
  const auto other = make_schema({{"id", Kind::int64, false}}, {"id"});
  EXPECT_EQ(refusal("orders", other),
            "already exists: table 'orders' is there with other columns: add, rename or drop some, "
            "or open it as it is");
  EXPECT_EQ(refusal("all", orders_schema), "already exists: 'all' is a view");
  EXPECT_EQ(refusal("", orders_schema), "invalid argument: a table must have a name");
}

Task<Result<>> count_up(Transaction& transaction, Database* database, Relation orders, int* runs) {
  const auto row = co_await transaction.get(orders, {1});
  if (++*runs == 1) {
    auto other = database->begin();
    (co_await other.update(orders, {1, "apples", 10})).value();
    (co_await other.commit()).value();
  }
  co_return co_await transaction.update(
      orders, {1, "apples", (**row)[2].as<std::int64_t>() + std::int64_t{1}});
}

TEST_F(DatabaseTest, RunsATransactionAgainThatMetAnother) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  insert(orders, {{1, "apples", 1}});
  int runs = 0;
  ASSERT_TRUE(run(storage::transact(&database(), {}, &count_up, &database(), orders, &runs)));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 11)\n");
}

TEST_F(DatabaseTest, ReadsRowsThatAreOlderThanTheirColumns) {
  insert(run(database().create_table("orders", orders_schema)).value(), {{1, "apples", 1}});
  const NewColumn note{.name = "note", .type = Kind::text};
  const NewColumn price{.name = "price", .type = Kind::int64, .fill = 9, .is_nullable = false};
  ASSERT_TRUE(run(database().add_column("orders", note)));
  Relation orders = run(database().add_column("orders", price)).value();
  insert(orders, {{2, "pears", 2, "ripe", 3}});
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', 1, null, 9)\n+1 (2, 'pears', 2, 'ripe', 3)\n");
  ASSERT_TRUE(run(database().drop_column("orders", "item")));
  orders = run(database().rename_column("orders", "amount", "count")).value();
  EXPECT_EQ(data::to_string(*orders.schema()),
            "(id int64 not null, count int64, note text, price int64 not null, primary key id)");
  EXPECT_EQ(rows_of(orders), "+1 (1, 1, null, 9)\n+1 (2, 2, 'ripe', 3)\n");
}

TEST_F(DatabaseTest, DoesNotGiveANewColumnWhatADroppedOneHeld) {
  insert(run(database().create_table("orders", orders_schema)).value(), {{1, "apples", 1}});
  ASSERT_TRUE(run(database().drop_column("orders", "amount")));
  const Relation orders =
      run(database().add_column("orders", {.name = "amount", .type = Kind::int64})).value();
  EXPECT_EQ(rows_of(orders), "+1 (1, 'apples', null)\n");
}

TEST_F(DatabaseTest, RefusesToAlterWhatCannotBe) {
  ASSERT_TRUE(run(database().create_table("orders", orders_schema)));
  const auto refusal = [&](Task<Result<Relation>> task) {
    const auto done = run(std::move(task));
    return done ? "accepted" : done.error().message();
  };
  EXPECT_EQ(refusal(database().drop_column("orders", "id")),
            "invalid argument: 'orders': 'id' is part of the primary key");
  EXPECT_EQ(refusal(database().drop_column("orders", "price")),
            "unknown column: 'orders': 'price'");
  EXPECT_EQ(refusal(database().rename_column("orders", "id", "item")),
            "duplicate column: 'orders': 'item'");
  EXPECT_EQ(refusal(database().add_column("orders", {.name = "item", .type = Kind::text})),
            "duplicate column: 'orders': 'item'");
  EXPECT_EQ(refusal(database().add_column("orders",
                                          {.name = "n", .type = Kind::text, .is_nullable = false})),
            "null not allowed: 'orders': 'n' needs a value for the rows that are there already");
  EXPECT_EQ(refusal(database().add_column("orders", {.name = "n", .type = Kind::text, .fill = 5})),
            "type mismatch: 'orders': 'n' is text, not 5");
  const NewColumn broken{.name = "n", .type = Kind::text, .fill = std::string("\xff")};
  EXPECT_NE(refusal(database().add_column("orders", broken)).find("'orders': 'n': "),
            std::string::npos);
  EXPECT_EQ(refusal(database().drop_column("people", "id")), "unknown table or view: 'people'");
}

TEST_F(DatabaseTest, RefusesAHandleThatIsOlderThanItsTable) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  ASSERT_TRUE(run(database().add_column("orders", {.name = "note", .type = Kind::text})));
  auto transaction = database().begin();
  EXPECT_EQ(run(transaction.insert(orders, {1, "apples", 1})).error(), Errc::stale_relation);
  ASSERT_TRUE(run(database().drop_table("orders")));
  auto later = database().begin();
  EXPECT_EQ(run(later.insert(orders, {1, "apples", 1})).error(), Errc::stale_relation);
}

TEST_F(DatabaseTest, AlteringATableIsAConflictForWhoWritesIt) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.insert(orders, {1, "apples", 1})));
  ASSERT_TRUE(run(database().drop_column("orders", "amount")));
  EXPECT_EQ(run(transaction.commit()).error(), storage::Errc::conflict);
}

TEST_F(DatabaseTest, DropsATableWithItsRows) {
  Relation orders = run(database().create_table("orders", orders_schema)).value();
  std::vector<Row> rows;
  for (int id = 0; id < 2'500; ++id) rows.push_back({id, "apples", 1});
  const storage::Version before = insert(orders, rows);
  ASSERT_TRUE(run(database().drop_table("orders")));
  // However many rows there are: one commit for its name, one for all of them.
  EXPECT_EQ(store().version().number, before.number + 2);
  EXPECT_EQ(spaces_of("weir.flow.rows.").size(), 0u);
  EXPECT_EQ(run(database().drop_table("orders")).error(), Errc::unknown_relation);
  auto scan = database().read().scan(orders);
  EXPECT_EQ(run(scan.next()).error(), Errc::unknown_relation);
  EXPECT_EQ(run(database().read().get(orders, {1})).error(), Errc::unknown_relation);
  EXPECT_EQ(run(database().read_at(before).value().get(orders, {1})).value().value(),
            (Row{1, "apples", 1}));
  // The name is free, and what was there does not come back.
  orders = run(database().create_table("orders", orders_schema)).value();
  EXPECT_EQ(rows_of(orders), "");
}

TEST_F(DatabaseTest, DropsWhatACrashLeftToBeDropped) {
  using internal::EncodedKey;
  using internal::EncodedValue;
  ASSERT_TRUE(run(store().open_rows<EncodedKey, EncodedValue>("weir.flow.rows.99")));
  ASSERT_TRUE(run(store().open_state<EncodedKey, EncodedValue>("weir.flow.state.99")));
  auto dropped = run(store().open_state<std::uint64_t, bool>("weir.flow.dropped")).value();
  auto transaction = store().begin();
  transaction.put(dropped, 99, true);
  ASSERT_TRUE(run(transaction.commit()));
  reopen();
  EXPECT_EQ(spaces_of("weir.flow.rows.").size(), 0u);
  EXPECT_EQ(spaces_of("weir.flow.state.").size(), 0u);
}

TEST_F(DatabaseTest, DropsNothingThatSomeoneElseIsAboutToDrop) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const Relation all = run(database().create_view("all", from(orders))).value();
  ASSERT_TRUE(run(database().create_table("other", orders_schema)));
  ASSERT_TRUE(run(database().fresh(all, store().version())));
  // As it is between the commit that drops a view and the cycle that knows of it.
  auto dropped = run(store().open_state<std::uint64_t, bool>("weir.flow.dropped")).value();
  auto transaction = store().begin();
  transaction.put(dropped, all.id(), true);
  ASSERT_TRUE(run(transaction.commit()));
  ASSERT_TRUE(run(database().drop_table("other")));
  const auto version = insert(orders, {{1, "apples", 1}});
  const auto reached = run(database().fresh(all, version));
  ASSERT_TRUE(reached) << reached.error().message();
  EXPECT_EQ(rows_of(all), "+1 (1, 'apples', 1)\n");
}

TEST_F(DatabaseTest, DoesNotMakeAgainWhatWasDropped) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  {
    const auto catalog = run(internal::Catalog::open(store().share())).value();
    auto transaction = store().begin();
    const auto entry = run(catalog.read(transaction, orders.id())).value();
    ASSERT_TRUE(run(database().drop_table("orders")));
    EXPECT_EQ(run(catalog.load(orders.id(), entry)).error(), Errc::unknown_relation);
  }
  EXPECT_EQ(spaces_of("weir.flow.rows.").size(), 0u);
}

TEST_F(DatabaseTest, RefusesStateOfAnEarlierLayout) {
  using internal::EncodedKey;
  using internal::EncodedValue;
  ASSERT_TRUE(run(store().open_state<EncodedKey, EncodedValue>("weir.flow.state")));
  EXPECT_EQ(open_again({}).error(), Errc::corruption);
}

}  // namespace
}  // namespace weir::flow::view
