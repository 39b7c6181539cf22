// What becomes of views that fail.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using test::FailingViewTest;

TEST_F(FailingViewTest, TriesAgainAndCatchesUp) {
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation all = run(database().create_view("all", from(orders).apply("picky"))).value();
  const Relation after = run(database().create_view("after", from(all).distinct())).value();
  EXPECT_EQ(fresh_rows(after), "+1 (1, 'apples', 1)\n");
  script_->failures = 2;
  insert(orders, {{2, "poison", 1}});
  insert(orders, {{3, "pears", 1}});
  EXPECT_EQ(fresh_rows(after), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n");
  EXPECT_EQ(fresh_rows(all), fresh_rows(after));
  EXPECT_EQ(script_->failures, 0);
}

TEST_F(FailingViewTest, IsQuarantinedAloneWithItsError) {
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  const Relation other = run(database().create_view("other", from(orders))).value();
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n");
  script_->failures = 1'000;
  insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  EXPECT_NE(database().status(picky)->error.find("apply picky: poison"), std::string::npos)
      << database().status(picky)->error;
  EXPECT_EQ(database().status(picky)->failures, 3u);
  insert(orders, {{3, "pears", 1}});
  EXPECT_EQ(fresh_rows(other), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n");
  Snapshot now = database().read();
  EXPECT_EQ(run(now.get(picky, {1})).error(), Errc::not_ready);

  script_->failures = 0;
  ASSERT_TRUE(run(database().rebuild(picky)));
  EXPECT_EQ(fresh_rows(picky), fresh_rows(other));
}

TEST_F(FailingViewTest, WaitsForItsOperatorWithoutMissingAnything) {
  Relation orders = make_orders({{1, "apples", 1}});
  Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  ASSERT_TRUE(run(database().create_view("after", from(picky))));
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n");
  reopen();  // without the operator
  orders = run(database().relation("orders")).value();
  picky = run(database().relation("picky")).value();
  Relation after = run(database().relation("after")).value();
  insert(orders, {{2, "pears", 1}});
  EXPECT_EQ(fresh_rows(picky),
            "quarantined: view 'picky': unknown name: apply picky: no operator 'picky' is "
            "registered");
  Snapshot now = database().read();
  EXPECT_EQ(run(now.get(picky, {1})).error(), Errc::not_ready);
  EXPECT_EQ(run(now.get(after, {1})).error(), Errc::not_ready);

  reopen({.library = {.operators = &registry_}, .retry_backoff = std::chrono::milliseconds(1)});
  picky = run(database().relation("picky")).value();
  after = run(database().relation("after")).value();
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n+1 (2, 'pears', 1)\n");
  EXPECT_EQ(fresh_rows(after), fresh_rows(picky));
}

TEST_F(FailingViewTest, OneThatAlwaysFailsDoesNotDisturbAThousand) {
  const Relation orders = make_orders();
  std::vector<Relation> views;
  const int count = weir::testing::scaled(1'000);
  const int broken = count / 2;
  for (int number = 0; number < count; ++number) {
    const auto plan = number == broken ? from(orders).apply("picky")
                                       : from(orders).filter(col("amount") == number);
    views.push_back(run(database().create_view("v" + std::to_string(number), plan)).value());
  }
  script_->failures = 1'000'000;
  insert(orders, {{1, "poison", 7}, {2, "apples", count - 1}});
  EXPECT_EQ(
      run(database().fresh(views[static_cast<std::size_t>(broken)], store().version())).error(),
      Errc::quarantined);
  insert(orders, {{3, "pears", 7}});
  EXPECT_EQ(fresh_rows(views[7]), "+1 (1, 'poison', 7)\n+1 (3, 'pears', 7)\n");
  EXPECT_EQ(fresh_rows(views.back()), "+1 (2, 'apples', " + std::to_string(count - 1) + ")\n");
  for (const Relation& view : views) {
    const bool is_picky = view.name() == "v" + std::to_string(broken);
    ASSERT_EQ(database().status(view)->phase, is_picky ? ViewPhase::quarantined : ViewPhase::live)
        << view.name();
  }
}

class StoppedViewTest : public FailingViewTest {
 protected:
  StoppedViewTest() {
    orders_ = make_orders({{1, "apples", 1}});
    picky_ = run(database().create_view("picky", from(*orders_).apply("picky"))).value();
    after_ = run(database().create_view("after", from(*picky_).distinct())).value();
    other_ = run(database().create_view("other", from(*orders_))).value();
    EXPECT_EQ(fresh_rows(*after_), "+1 (1, 'apples', 1)\n");
    script_->failures = 1'000;
    poisoned_ = insert(*orders_, {{2, "poison", 1}, {3, "plums", 1}});
    EXPECT_EQ(run(database().fresh(*picky_, store().version())).error(), Errc::quarantined);
    insert(*orders_, {{4, "pears", 1}});
    EXPECT_EQ(fresh_rows(*other_), all_rows);
  }
  void find_again() {
    orders_ = run(database().relation("orders")).value();
    picky_ = run(database().relation("picky")).value();
    after_ = run(database().relation("after")).value();
    other_ = run(database().relation("other")).value();
  }

  static constexpr const char* all_rows =
      "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'plums', 1)\n+1 (4, 'pears', 1)\n";
  std::optional<Relation> orders_;
  std::optional<Relation> picky_;
  std::optional<Relation> after_;
  std::optional<Relation> other_;
  storage::Version poisoned_;
};

TEST_F(StoppedViewTest, NamesItsOperatorAndTheVersionThatFails) {
  const ViewStatus status = *database().status(*picky_);
  EXPECT_TRUE(status.error.ends_with("apply picky: poison, in the input of version " +
                                     std::to_string(poisoned_.number)))
      << status.error;
  EXPECT_EQ(status.failures, 3u);
  EXPECT_TRUE(status.is_stopped);
  EXPECT_EQ(status.position.number, poisoned_.number - 1);
  EXPECT_EQ(status.waits_for, "");
}

TEST_F(StoppedViewTest, KeepsItsReadersWaitingWhoSayForWhom) {
  const ViewStatus status = *database().status(*after_);
  EXPECT_EQ(status.phase, ViewPhase::waiting);
  EXPECT_EQ(status.waits_for, "picky");
  EXPECT_TRUE(status.is_stopped);
  EXPECT_EQ(fresh_rows(*after_), "quarantined: view 'after': it waits for 'picky'");
  EXPECT_EQ(run(database().resume(*after_)).error().message(),
            "invalid argument: view 'after' waits for 'picky': resume that one");
  Snapshot now = database().read();
  EXPECT_EQ(run(now.get(*picky_, {1})).error(), Errc::not_ready);
  auto scan = now.scan(*after_);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(run(scan.next()).error(), Errc::not_ready);
  Transaction transaction = database().begin();
  EXPECT_EQ(run(transaction.get(*picky_, {1})).error(), Errc::not_ready);
}

TEST_F(StoppedViewTest, IsBehindByTheCommitsOfItsOwnTables) {
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  insert(others, {{1, "figs", 1}});
  const auto lag = run(database().lag(*picky_)).value();
  EXPECT_EQ(lag.versions, 2u) << "the poison and the pears";
  EXPECT_GT(lag.time.count(), 0);
  EXPECT_EQ(run(database().lag(*after_)).value().versions, 2u);
  EXPECT_EQ(run(database().lag(*other_)).value().versions, 0u);
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(*picky_)));
  ASSERT_TRUE(run(database().fresh(*after_, store().version())));
  EXPECT_EQ(run(database().lag(*after_)).value().versions, 0u);
}

TEST_F(FailingViewTest, IsBehindByTheCommitsOfRingBuffersAndSeries) {
  const auto schema = operators::test::make_schema(
      {{"time", data::Kind::int64, false}, {"item", data::Kind::text, false}});
  const Relation ring = run(database().create_ring_buffer("ring", schema, 10)).value();
  const Relation series = run(database().create_series("series", schema, "time")).value();
  const Relation none = run(database().create_ring_buffer("none", schema, 10)).value();
  std::vector<Relation> views;
  for (const Relation& source : {ring, series}) {
    // The second column of what `picky` is given has the poison.
    const auto plan = from(source).map({{"time", col("time")}, {"item", col("item")}});
    views.push_back(
        run(database().create_view("of_" + source.name(), plan.apply("picky"))).value());
  }
  const Relation both =
      run(database().create_view("both", from(views[0]).append({from(views[1])}).distinct()))
          .value();
  ASSERT_TRUE(run(database().fresh(both, store().version())));
  script_->failures = 1'000;
  for (const char* item : {"poison", "pears"}) {
    auto transaction = database().begin();
    ASSERT_TRUE(run(transaction.append(ring, {1, item})));
    ASSERT_TRUE(run(transaction.commit()));
    transaction = database().begin();
    ASSERT_TRUE(run(transaction.append(series, {1, item})));
    ASSERT_TRUE(run(transaction.append(none, {1, item})));
    ASSERT_TRUE(run(transaction.commit()));
  }
  for (const Relation& view : views) {
    EXPECT_EQ(run(database().fresh(view, store().version())).error(), Errc::quarantined);
    EXPECT_EQ(run(database().lag(view)).value().versions, 2u) << view.name();
  }
  EXPECT_EQ(run(database().lag(both)).value().versions, 4u);
}

TEST_F(FailingViewTest, IsBehindByTheCommitsOfTablesBelowTransactionalViews) {
  const Relation orders = make_orders();
  const Relation others = run(database().create_table("others", test::orders_schema)).value();
  const Relation below =
      run(database().create_view("below", from(orders), {.update = ViewUpdate::transactional}))
          .value();
  const Relation picky = run(database().create_view("picky", from(below).apply("picky"))).value();
  ASSERT_TRUE(run(database().fresh(picky, store().version())));
  script_->failures = 1'000;
  insert(orders, {{1, "poison", 1}});
  insert(others, {{1, "figs", 1}});
  insert(orders, {{2, "pears", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  EXPECT_EQ(run(database().lag(picky)).value().versions, 2u);
  EXPECT_EQ(run(database().lag(below)).value().versions, 0u);
}

TEST_F(StoppedViewTest, GoesOnWhereItStoppedWhenItIsResumed) {
  script_->failures = 0;
  script_->rows = 0;
  ASSERT_TRUE(run(database().resume(*picky_)));
  EXPECT_EQ(fresh_rows(*picky_), all_rows);
  EXPECT_EQ(fresh_rows(*after_), all_rows);
  EXPECT_EQ(script_->rows, 3u) << "what it had taken before is not taken again";
  const ViewStatus status = *database().status(*picky_);
  EXPECT_EQ(status.phase, ViewPhase::live);
  EXPECT_EQ(status.failures, 0u);
  EXPECT_EQ(status.error, "");
  EXPECT_TRUE(status.is_exact);
  insert(*orders_, {{5, "figs", 1}});
  EXPECT_EQ(fresh_rows(*after_), std::string(all_rows) + "+1 (5, 'figs', 1)\n");
}

TEST_F(StoppedViewTest, IsQuarantinedAgainIfNothingHasChanged) {
  ASSERT_TRUE(run(database().resume(*picky_)));
  EXPECT_EQ(run(database().fresh(*picky_, store().version())).error(), Errc::quarantined);
  EXPECT_EQ(database().status(*picky_)->failures, 3u);
}

TEST_F(StoppedViewTest, LeavesOutAVersionIfItIsToldToAndSaysSo) {
  ASSERT_TRUE(run(database().skip(*picky_)));
  EXPECT_EQ(fresh_rows(*picky_), "+1 (1, 'apples', 1)\n+1 (4, 'pears', 1)\n");
  EXPECT_EQ(fresh_rows(*after_), fresh_rows(*picky_));
  const ViewStatus status = *database().status(*picky_);
  EXPECT_EQ(status.phase, ViewPhase::live);
  EXPECT_EQ(status.skipped, 1u);
  EXPECT_EQ(status.skipped_version, poisoned_);
  EXPECT_FALSE(status.is_exact);
  EXPECT_FALSE(database().status(*after_)->is_exact) << "as it reads one that is not";
  EXPECT_TRUE(database().status(*other_)->is_exact);
  EXPECT_EQ(run(database().skip(*picky_)).error().message(),
            "invalid argument: view 'picky' has not failed");

  reopen(options());
  find_again();
  EXPECT_EQ(database().status(*picky_)->skipped, 1u);
  script_->failures = 0;
  ASSERT_TRUE(run(database().rebuild(*picky_)));
  EXPECT_EQ(fresh_rows(*after_), all_rows);
  EXPECT_TRUE(database().status(*picky_)->is_exact);
  EXPECT_TRUE(database().status(*after_)->is_exact);
}

TEST_F(StoppedViewTest, StaysStoppedWhenItIsOpenedAgainAndGoesOnFromThere) {
  reopen(options());
  find_again();
  insert(*orders_, {{5, "figs", 1}});
  EXPECT_EQ(run(database().fresh(*picky_, store().version())).error(), Errc::quarantined);
  EXPECT_EQ(database().status(*after_)->waits_for, "picky");
  // Nobody else needs the log from there.
  ASSERT_TRUE(run(database().fresh(*other_, store().version())));
  ASSERT_TRUE(run(store().collect()));
  script_->failures = 0;
  script_->rows = 0;
  ASSERT_TRUE(run(database().resume(*picky_)));
  EXPECT_EQ(fresh_rows(*after_), std::string(all_rows) + "+1 (5, 'figs', 1)\n");
  EXPECT_EQ(script_->rows, 4u);
}

TEST_F(StoppedViewTest, LetsTheLogGoWhenItIsThereAgainOrDropped) {
  const auto is_kept = [&] {
    auto transaction = store().begin();
    return transaction.checkpoint("weir.flow." + std::to_string(picky_->id()))
        .blocking()
        .value()
        .has_value();
  };
  EXPECT_TRUE(is_kept());
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(*picky_)));
  ASSERT_TRUE(run(database().fresh(*after_, store().version())));
  EXPECT_FALSE(is_kept());
  script_->failures = 1'000;
  insert(*orders_, {{5, "poison", 1}});
  EXPECT_EQ(run(database().fresh(*picky_, store().version())).error(), Errc::quarantined);
  EXPECT_TRUE(is_kept());
  ASSERT_TRUE(run(database().drop_view("after")));
  ASSERT_TRUE(run(database().drop_view("picky")));
  EXPECT_FALSE(is_kept());
}

TEST_F(FailingViewTest, IsBuiltAgainIfTheLogWasNotKeptForIt) {
  set_retention({.history = std::chrono::hours(1), .log_bytes_max = 1});
  reopen(options());
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  const Relation other = run(database().create_view("other", from(orders))).value();
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n");
  script_->failures = 1'000;
  insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  insert(orders, {{3, "pears", 1}});
  // What the others have not seen is not to be missed too.
  EXPECT_EQ(fresh_rows(other), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n");
  ASSERT_TRUE(run(store().collect()));
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(picky)));
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n");
}

TEST_F(FailingViewTest, FailsInRowsThatWereThereBeforeItWithoutLosingThem) {
  const Relation orders = make_orders({{1, "apples", 1}, {2, "poison", 1}, {3, "pears", 1}});
  script_->failures = 1'000;
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  EXPECT_NE(database().status(picky)->error.find("in rows that were there before it"),
            std::string::npos)
      << database().status(picky)->error;
  EXPECT_EQ(run(database().skip(picky)).error().message(),
            "invalid argument: view 'picky' did not fail with a change: there is no version to "
            "leave out");
  insert(orders, {{4, "figs", 1}});
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(picky)));
  EXPECT_EQ(fresh_rows(picky),
            "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n+1 (4, 'figs', 1)\n");
}

TEST_F(FailingViewTest, IsFollowedByItsReadersRecordByRecord) {
  DatabaseOptions one_by_one = options();
  one_by_one.cycle.records_max = 1;
  reopen(one_by_one);
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  const Relation after = run(database().create_view("after", from(picky).distinct())).value();
  EXPECT_EQ(fresh_rows(after), "+1 (1, 'apples', 1)\n");
  script_->failures = 1'000;
  insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(picky)));
  EXPECT_EQ(fresh_rows(after), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n");
}

TEST_F(FailingViewTest, IsFollowedByOneThatIsMadeMeanwhile) {
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  EXPECT_EQ(fresh_rows(picky), "+1 (1, 'apples', 1)\n");
  script_->failures = 1'000;
  insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  const Relation late = run(database().create_view("late", from(picky).distinct())).value();
  EXPECT_EQ(run(database().fresh(late, store().version())).error(), Errc::quarantined);
  insert(orders, {{3, "pears", 1}});
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(picky)));
  EXPECT_EQ(fresh_rows(late), "+1 (1, 'apples', 1)\n+1 (2, 'poison', 1)\n+1 (3, 'pears', 1)\n");
}

TEST_F(FailingViewTest, HasReadersOnManyPathsWhoAreToldOnce) {
  const Relation orders = make_orders();
  std::vector<Relation> views = {
      run(database().create_view("v0", from(orders).apply("picky"))).value()};
  views.push_back(run(database().create_view("v1", from(views[0]))).value());
  // More paths to the last than anyone could go along one by one.
  while (views.size() < 80) {
    const auto plan = from(views[views.size() - 1]).append({from(views[views.size() - 2])});
    views.push_back(
        run(database().create_view("v" + std::to_string(views.size()), plan.distinct())).value());
  }
  ASSERT_TRUE(run(database().fresh(views.back(), store().version())));
  script_->failures = 2;
  insert(orders, {{1, "poison", 1}});
  EXPECT_EQ(fresh_rows(views.back()), "+1 (1, 'poison', 1)\n");
  ASSERT_TRUE(run(database().rebuild(views.front())));
  EXPECT_EQ(fresh_rows(views.back()), "+1 (1, 'poison', 1)\n");
}

TEST_F(FailingViewTest, IsMadeAnewWithReadersOnManyPathsInWhoseCommitItIs) {
  const ViewOptions transactional{.update = ViewUpdate::transactional};
  const Relation orders = make_orders({{1, "pears", 1}});
  std::vector<Relation> views = {
      run(database().create_view("v0", from(orders), transactional)).value()};
  views.push_back(run(database().create_view("v1", from(views[0]), transactional)).value());
  while (views.size() < 60) {
    const auto plan = from(views[views.size() - 1]).append({from(views[views.size() - 2])});
    const std::string name = "v" + std::to_string(views.size());
    views.push_back(run(database().create_view(name, plan.distinct(), transactional)).value());
  }
  ASSERT_TRUE(run(database().rebuild(views.front())));
  EXPECT_EQ(fresh_rows(views.back()), "+1 (1, 'pears', 1)\n");
}

TEST_F(FailingViewTest, JoinsWhatFailedWithWhatWentOn) {
  const Relation orders = make_orders({{1, "apples", 1}});
  const Relation picky = run(database().create_view("picky", from(orders).apply("picky"))).value();
  const Relation counts =
      run(database().create_view(
              "counts",
              from(orders).group_by({"amount"}).aggregate({operators::count().as("orders")})))
          .value();
  const Relation both =
      run(database().create_view(
              "both", from(picky)
                          .join(from(counts), {.on = {{"amount", "amount"}}, .right_prefix = "c_"})
                          .map({{"id", col("id")}, {"orders", col("c_orders")}})))
          .value();
  EXPECT_EQ(fresh_rows(both), "+1 (1, 1)\n");
  script_->failures = 1'000;
  insert(orders, {{2, "poison", 1}});
  EXPECT_EQ(run(database().fresh(picky, store().version())).error(), Errc::quarantined);
  for (int id = 3; id < 8; ++id) {
    insert(orders, {{id, "pears", 1}});
    ASSERT_TRUE(run(database().fresh(counts, store().version())));
  }
  script_->failures = 0;
  ASSERT_TRUE(run(database().resume(picky)));
  EXPECT_EQ(fresh_rows(both),
            "+1 (1, 7)\n+1 (2, 7)\n+1 (3, 7)\n+1 (4, 7)\n+1 (5, 7)\n+1 (6, 7)\n+1 (7, 7)\n");
}

}  // namespace
}  // namespace weir::flow::view
