// What a view does about an operator that gives rows which cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;
using data::Value;
using operators::test::make_batch;
using operators::test::make_schema;
using Changes = std::vector<std::pair<operators::test::Row, data::Weight>>;

const data::SchemaRef orders_schema =
    make_schema({{"id", Kind::int64, false}, {"item", Kind::text, false}}, {"id"});

/// Passes rows on, and gives what was never there where an item tells it to.
class Forger final : public operators::Operator {
 public:
  using Operator::Operator;
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    out.emit(input.batch);
    for (std::size_t row = 0; row < input.batch.size(); ++row) {
      const Value item = input.batch.row(row)[1];
      if (item == Value("remove")) out.emit(make_batch(schema(), Changes{{{99, "ghost"}, -1}}));
      if (item == Value("change")) out.emit(make_batch(schema(), Changes{{{1, "other"}, -1}}));
      if (item == Value("schema"))
        out.emit(make_batch(make_schema({{"x", Kind::text}}), Changes{{{"lie"}, 1}}));
      if (item == Value("again")) out.emit(make_batch(schema(), Changes{{{1, "twin"}, 1}}));
    }
    return {};
  }
};

class VerifyTest : public test::DatabaseTest {
 protected:
  VerifyTest() {
    EXPECT_TRUE(registry_.add("forger", [](const operators::OperatorRegistry::Arguments& of) {
      return Result<std::unique_ptr<operators::Operator>>(std::make_unique<Forger>(of.inputs[0]));
    }));
    reopen({.library = {.operators = &registry_}, .failures_max = 1});
  }
  ~VerifyTest() override { close(); }

  /// Why a view of the forger fails that has the row 1 and sees an item.
  std::string failure(const std::string& item) {
    const Relation orders = run(database().create_table("orders", orders_schema)).value();
    insert(orders, {{1, "apples"}});
    const Relation view = run(database().create_view("view", from(orders).apply("forger"))).value();
    const Relation honest = run(database().create_view("honest", from(orders))).value();
    EXPECT_TRUE(run(database().fresh(view, store().version())));
    const auto version = insert(orders, {{2, item}});
    const auto reached = run(database().fresh(view, version));
    EXPECT_TRUE(run(database().fresh(honest, version)));
    // Nothing of the cycle that failed is there.
    EXPECT_EQ(rows_of(honest), "+1 (1, 'apples')\n+1 (2, '" + item + "')\n");
    if (reached) return rows_of(view);
    // What follows tells the version.
    return reached.error().message().substr(0, reached.error().message().find(", in the input"));
  }

  operators::OperatorRegistry registry_;
};

TEST_F(VerifyTest, PassesWhatIsThere) {
  EXPECT_EQ(failure("pears"), "+1 (1, 'apples')\n+1 (2, 'pears')\n");
}

TEST_F(VerifyTest, RefusesToRemoveARowThatNeverCame) {
  EXPECT_EQ(failure("remove"),
            "quarantined: view 'view': unknown row: a row went that had not come: "
            "-1 (99, 'ghost')");
}

TEST_F(VerifyTest, RefusesToRemoveARowAsWhatItIsNot) {
  EXPECT_EQ(failure("change"),
            "quarantined: view 'view': unknown row: a row went that had not come: "
            "-1 (1, 'other')");
}

TEST_F(VerifyTest, RefusesRowsOfAnotherSchema) {
  EXPECT_EQ(failure("schema"),
            "quarantined: view 'view': wrong schema: apply forger: it gave rows of (x text), but "
            "it is declared to give (id int64 not null, item text not null, primary key id)");
}

TEST_F(VerifyTest, RefusesToRemoveARowThatNeverCameFromAViewWithoutAKey) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const Relation items =
      run(database().create_view("items",
                                 from(orders).apply("forger").map({{"item", col("item")}})))
          .value();
  ASSERT_TRUE(run(database().fresh(items, insert(orders, {{1, "apples"}}))));
  const auto reached = run(database().fresh(items, insert(orders, {{2, "remove"}})));
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error(), Errc::quarantined);
  EXPECT_NE(reached.error().message().find("a row went that had not come: -1 ('ghost')"),
            std::string::npos)
      << reached.error().message();
}

TEST_F(VerifyTest, RefusesASecondRowWithAKey) {
  EXPECT_EQ(failure("again"),
            "quarantined: view 'view': unknown row: two rows with one primary key: "
            "+1 (1, 'twin')");
}

TEST_F(VerifyTest, ComparesWithWhatWasWrittenAMomentAgo) {
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const Relation view = run(database().create_view("view", from(orders).apply("forger"),
                                                   {.update = ViewUpdate::transactional}))
                            .value();
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  for (int round = 0; round < 20; ++round) {
    insert(orders, {{1, "apples"}});
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.remove(orders, {1})));
    ASSERT_TRUE(run(transaction.commit())) << round;
  }
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.insert(orders, {2, "remove"})));
  const auto refused = run(transaction.commit());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("a row went that had not come: -1 (99, 'ghost')"),
            std::string::npos)
      << refused.error().message();
  EXPECT_EQ(rows_of(orders), "");
}

TEST_F(VerifyTest, RefusesMoreThanTheLimitAtOnce) {
  const std::string text(2'000, 'x');
  reopen({.batch_bytes_max = 1'000, .failures_max = 1});
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  auto transaction = database().begin();
  const auto refused =
      run(transaction.insert(orders, make_batch(orders_schema, Changes{{{1, text}, 1}})));
  EXPECT_EQ(refused.error(), Errc::too_large);
  EXPECT_NE(refused.error().message().find("'orders': a batch of"), std::string::npos);
  EXPECT_NE(refused.error().message().find("1000 at most"), std::string::npos);
  // Row by row it is no less.
  const std::string half(450, 'x');
  ASSERT_TRUE(run(transaction.insert(orders, {1, half})));
  for (const auto& again :
       {run(transaction.insert(orders, {2, text})), run(transaction.upsert(orders, {2, text})),
        run(transaction.update(orders, {1, half}))}) {
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error(), Errc::too_large);
    EXPECT_NE(again.error().message().find("bytes in one transaction, 1000 at most"),
              std::string::npos)
        << again.error().message();
  }
  // What was refused has changed nothing.
  ASSERT_TRUE(run(transaction.insert(orders, {2, "small"})));
  ASSERT_TRUE(run(transaction.commit()));
  Snapshot now = database().read();
  EXPECT_EQ(run(now.get(orders, {1})).value(), (Row{1, half}));
  EXPECT_EQ(run(now.get(orders, {2})).value(), (Row{2, "small"}));
}

TEST_F(VerifyTest, RefusesToAppendMoreThanTheLimitInOneTransaction) {
  reopen({.batch_bytes_max = 1'000});
  const Relation lines =
      run(database().create_ring_buffer("lines", make_schema({{"item", Kind::text, false}}), 10))
          .value();
  auto transaction = database().begin();
  const std::string half(450, 'x');
  ASSERT_TRUE(run(transaction.append(lines, {half})));
  ASSERT_TRUE(run(transaction.append(lines, {half})));
  EXPECT_EQ(run(transaction.append(lines, {half})).error(), Errc::too_large);
  ASSERT_TRUE(run(transaction.commit()));
}

TEST_F(VerifyTest, CountsWhatGoesFromARingBufferAgainstTheLimit) {
  reopen({.batch_bytes_max = 1'000});
  const Relation lines =
      run(database().create_ring_buffer("lines", make_schema({{"item", Kind::text, false}}), 2))
          .value();
  const std::string half(350, 'x');
  const auto append = [&](int rows) {
    auto transaction = database().begin();
    for (; rows > 1; --rows) EXPECT_TRUE(run(transaction.append(lines, {half})));
    const auto last = run(transaction.append(lines, {half}));
    EXPECT_TRUE(run(transaction.commit()));
    return last;
  };
  ASSERT_TRUE(append(2));
  ASSERT_TRUE(append(1));
  EXPECT_EQ(append(2).error(), Errc::too_large) << "two that come, and two that go";
  // What was refused has changed nothing.
  EXPECT_EQ(append(1).value(), 5u);
}

TEST_F(VerifyTest, FollowsWhatOnlyTogetherIsMoreThanTheLimit) {
  DatabaseOptions options{.library = {.operators = &registry_},
                          .batch_bytes_max = 1'000,
                          .retry_backoff = std::chrono::milliseconds(1)};
  reopen(options);
  Relation orders = run(database().create_table("orders", orders_schema)).value();
  ASSERT_TRUE(
      run(database().create_view("view", from(orders).apply("forger").filter(col("id") > 1))));
  // It cannot be made for a while, and has then all of it before it.
  options.library = {};
  reopen(options);
  orders = run(database().relation("orders")).value();
  for (int id = 1; id <= 5; ++id) insert(orders, {{id, std::string(600, 'x')}});
  options.library = {.operators = &registry_};
  reopen(options);
  const Relation view = run(database().relation("view")).value();
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  EXPECT_GT(database().status(view)->counts.failures, 0u) << "it was too much at once";
  EXPECT_EQ(database().status(view)->counts.rows_out, 4u);
}

TEST_F(VerifyTest, RefusesAnOperatorThatMakesMoreThanTheLimit) {
  reopen({.batch_bytes_max = 1'000, .failures_max = 1});
  const Relation orders = run(database().create_table("orders", orders_schema)).value();
  const auto same = operators::JoinOptions{.on = {{"item", "item"}}, .right_prefix = "other_"};
  const Relation view =
      run(database().create_view("view", from(orders).join(from(orders), same))).value();
  std::vector<Row> rows;
  for (int id = 0; id < 12; ++id) rows.push_back({id, "x"});
  // Not as rows that were there before it, which are taken bit by bit.
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  const auto reached = run(database().fresh(view, insert(orders, rows)));
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error(), Errc::quarantined);
  EXPECT_NE(reached.error().message().find("too large: join: it gave"), std::string::npos)
      << reached.error().message();
}

/// All pairs of the rows of a table are more than the limit, those of one row are not.
class PiecesTest : public VerifyTest {
 protected:
  static constexpr int rows = 40;

  PiecesTest() {
    reopen({.batch_bytes_max = 8'000,
            .retry_backoff = std::chrono::milliseconds(1),
            .failures_max = 2});  // a worker may be late, on a busy machine
    orders_ = run(database().create_table("orders", orders_schema)).value();
    std::vector<Row> all;
    for (int id = 0; id < rows; ++id) all.push_back({id, "x"});
    insert(*orders_, all);
  }
  static operators::Plan pairs_of(const Relation& source) {
    return from(source).join(from(source), {.on = {{"item", "item"}}, .right_prefix = "other_"});
  }
  void expect_all_pairs(const Relation& view) {
    const auto reached = run(database().fresh(view, store().version()));
    ASSERT_TRUE(reached) << reached.error().message();
    const std::string text = rows_of(view);
    EXPECT_EQ(std::ranges::count(text, '\n'), rows * rows);
    EXPECT_EQ(database().status(view)->rows_taken, static_cast<std::uint64_t>(rows));
    EXPECT_EQ(database().status(view)->failures, 0u);
  }

  std::optional<Relation> orders_;
};

TEST_F(PiecesTest, AreMadeSmallerUntilTheyFit) {
  expect_all_pairs(run(database().create_view("pairs", pairs_of(*orders_))).value());
}

TEST_F(PiecesTest, AreMadeSmallerUntilTheyFitInTransactionalViews) {
  expect_all_pairs(run(database().create_view("pairs", pairs_of(*orders_),
                                              {.update = ViewUpdate::transactional}))
                       .value());
}

TEST_F(PiecesTest, AreMadeSmallerUntilTheyFitWhoeverReadsTheView) {
  const Relation all = run(database().create_view("all", from(*orders_))).value();
  const Relation pairs = run(database().create_view("pairs", pairs_of(all))).value();
  ASSERT_TRUE(run(database().fresh(pairs, store().version())));
  // Each piece of the first comes to the second at once.
  ASSERT_TRUE(run(database().rebuild(all)));
  ASSERT_TRUE(run(database().fresh(pairs, store().version())));
  const std::string text = rows_of(pairs);
  EXPECT_EQ(std::ranges::count(text, '\n'), rows * rows);
  EXPECT_EQ(database().status(pairs)->counts.failures, 0u);
}

/// Views that are made side by side, a few rows at a time. Those of the first come late, so that
/// its readers believe to have all of them before.
class PiecesBesideOthersTest : public PiecesTest {
 protected:
  PiecesBesideOthersTest() {
    reopen({.batch_bytes_max = 4'000,
            .backfill_rows = 4,
            .retry_backoff = std::chrono::milliseconds(1),
            .failures_max = 2});  // a worker may be late, on a busy machine
    orders_ = run(database().relation("orders")).value();
  }
  static operators::Plan late_rows_of(const Relation& source) {
    return from(source).filter(col("id") >= rows / 2);
  }
  Relation create(const std::string& name, const operators::Plan& plan) {
    const Relation view = run(database().create_view(name, plan)).value();
    EXPECT_TRUE(run(database().fresh(view, store().version())));
    return view;
  }
  /// How many rows a view has once it is made anew, with whatever it reads of views.
  std::int64_t rows_made_anew(const std::string& view, const std::string& first,
                              const operators::Plan& plan) {
    const auto replaced = run(database().replace_view(first, plan));
    EXPECT_TRUE(replaced) << replaced.error().message();
    const std::string text = rows_of(run(database().relation(view)).value());
    return std::ranges::count(text, '\n');
  }
};

TEST_F(PiecesBesideOthersTest, AreMadeSmallerWithoutLosingWhatTheirViewReads) {
  const Relation late = create("late", late_rows_of(*orders_));
  create("pairs",
         from(late).join(from(*orders_), {.on = {{"item", "item"}}, .right_prefix = "other_"}));
  EXPECT_EQ(rows_made_anew("pairs", "late", late_rows_of(*orders_)), rows / 2 * rows);
}

TEST_F(PiecesBesideOthersTest, AreMadeSmallerWithoutLosingAnotherSourceOfAReader) {
  const Relation all = create("all", from(*orders_));
  const Relation late = create("late", late_rows_of(all));
  const Relation same =
      create("same", pairs_of(all).filter(col("id") == col("other_id")).map({{"id", col("id")}}));
  create("both", from(late).join(from(same), {.on = {{"id", "id"}}, .right_prefix = "same_"}));
  EXPECT_EQ(rows_made_anew("both", "all", from(*orders_)), rows / 2);
}

TEST_F(PiecesTest, OfOneRowThatDoNotFitAreAFailure) {
  reopen({.batch_bytes_max = 1'000, .failures_max = 1});
  const Relation orders = run(database().relation("orders")).value();
  const Relation view = run(database().create_view("pairs", pairs_of(orders))).value();
  EXPECT_EQ(run(database().fresh(view, store().version())).error(), Errc::quarantined);
}

}  // namespace
}  // namespace weir::flow::view
