// Views whose query is replaced.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/replacement.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/runtime/when_all.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::lit;

class ReplaceViewTest : public test::FailingViewTest {
 protected:
  ReplaceViewTest() {
    orders_ = make_orders({{1, "apples", 5}, {2, "pears", 50}, {3, "plums", 500}});
    large_ =
        run(database().create_view("large", from(*orders_).filter(col("amount") > 100))).value();
    items_ =
        run(database().create_view("items", from(*large_).map({{"item", col("item")}}))).value();
    last_ = run(database().create_view("last", from(*items_).distinct())).value();
    EXPECT_EQ(fresh_rows(*last_), "+1 ('plums')\n");
  }
  std::string refusal(operators::Plan plan) {
    const auto replaced = run(database().replace_view("large", std::move(plan)));
    return replaced ? "accepted" : replaced.error().message();
  }

  std::optional<Relation> orders_;
  std::optional<Relation> large_;
  std::optional<Relation> items_;
  std::optional<Relation> last_;
};

TEST_F(ReplaceViewTest, ShowsTheNewQueryUnderTheOldNameAndSoDoReaders) {
  const auto before = store().version();
  const auto replaced =
      run(database().replace_view("large", from(*orders_).filter(col("amount") > 10)));
  ASSERT_TRUE(replaced) << replaced.error().message();
  EXPECT_EQ(replaced->name(), "large");
  EXPECT_EQ(fresh_rows(*replaced), "+1 (2, 'pears', 50)\n+1 (3, 'plums', 500)\n");
  const Relation last = run(database().relation("last")).value();
  EXPECT_EQ(fresh_rows(last), "+1 ('pears')\n+1 ('plums')\n");
  insert(*orders_, {{4, "figs", 11}});
  EXPECT_EQ(fresh_rows(last), "+1 ('figs')\n+1 ('pears')\n+1 ('plums')\n");
  EXPECT_EQ(run(database().relations()).value().size(), 4u);
  EXPECT_EQ(run(database().fresh(*large_, store().version())).error(), Errc::unknown_relation);
  EXPECT_EQ(database().status(last)->name, "last");

  // At each version one of the two could be read, and it was true then.
  for (std::uint64_t number = before.number; number <= store().version().number; ++number) {
    Snapshot snapshot = database().read_at(storage::Version{number}).value();
    auto new_scan = snapshot.scan(last);
    auto old_scan = snapshot.scan(*last_);
    const auto now = run(new_scan.next());
    const auto then = run(old_scan.next());
    EXPECT_TRUE(now || then) << number;
    if (then) EXPECT_EQ(to_string(*then), "+1 ('plums')\n") << number;
  }
  reopen(options());
  EXPECT_EQ(fresh_rows(run(database().relation("last")).value()),
            "+1 ('figs')\n+1 ('pears')\n+1 ('plums')\n");
}

TEST_F(ReplaceViewTest, LeavesNothingOfTheOldOnesBehind) {
  const auto entries = entries_of_flows();
  for (int time = 0; time < 3; ++time)
    ASSERT_TRUE(run(database().replace_view("large", from(*orders_).filter(col("amount") > 100))));
  EXPECT_EQ(entries_of_flows(), entries);
}

TEST_F(ReplaceViewTest, IsRefusedIfAReaderWouldNotFit) {
  EXPECT_EQ(refusal(from(*orders_).map({{"id", col("id")}})),
            "in use: 'large' is read by 'items', which would not fit: unknown column: 'large': "
            "'item'");
  EXPECT_EQ(refusal(from(*orders_).map(
                {{"id", col("id")}, {"item", col("id")}, {"amount", col("amount")}})),
            "in use: 'large' is read by 'items', which would not fit: type mismatch: 'large': "
            "'item' is int64, not text not null");
  EXPECT_EQ(refusal(from(*orders_).map(
                {{"id", col("amount")}, {"item", col("item")}, {"amount", col("amount")}})),
            "in use: 'large' is read by 'items', which would not fit: type mismatch: 'large': "
            "'id' is int64, not int64 not null");
  EXPECT_EQ(refusal(from(*large_).filter(col("amount") > 1'000)),
            "invalid argument: view 'large' would read itself");
  EXPECT_EQ(refusal(from(*orders_).filter(col("price") > 1)),
            "unknown column: view 'large': filter: 'price'; there are: id, item, amount");
  EXPECT_EQ(run(database().replace_view("nothing", from(*orders_))).error().message(),
            "unknown table or view: 'nothing'");
  EXPECT_EQ(run(database().replace_view("orders", from(*large_))).error().message(),
            "invalid argument: 'orders' is no view");
  EXPECT_EQ(fresh_rows(*last_), "+1 ('plums')\n");
  EXPECT_EQ(run(database().relations()).value().size(), 4u);
}

/// Until those who read a view that is being replaced have been copied.
Task<Result<>> wait_for_copies(const storage::Store* store, const Database* database) {
  for (;;) {
    const storage::Version version = store->version();
    if (co_await database->relation(internal::hidden_name("last"))) co_return {};
    WEIR_CO_TRY_VOID(co_await store->log().wait_past(version));
  }
}

/// Makes a view over one that is being replaced.
Task<Result<Relation>> read_meanwhile(const storage::Store* store, Database* database,
                                      Relation replaced) {
  WEIR_CO_TRY_VOID(co_await wait_for_copies(store, database));
  co_return co_await database->create_view("late", from(replaced));
}

/// Lets the last of its readers go, and makes another with that name.
Task<Result<Relation>> make_anew_meanwhile(const storage::Store* store, Database* database,
                                           Relation items) {
  WEIR_CO_TRY_VOID(co_await wait_for_copies(store, database));
  WEIR_CO_TRY_VOID(co_await database->drop_view("last"));
  co_return co_await database->create_view("last", from(items).distinct());
}

/// Views take their rows so slowly that something can be done meanwhile.
class SlowReplaceViewTest : public ReplaceViewTest {
 protected:
  SlowReplaceViewTest() {
    DatabaseOptions slow = options();
    slow.backfill_rows = 1;
    reopen(slow);
    insert_figs(10, 500);
  }
  void insert_figs(int from, int until) {
    std::vector<Row> rows;
    for (int id = from; id < until; ++id) rows.push_back({id, "figs", 1'000});
    insert(run(database().relation("orders")).value(), rows);
  }
  operators::Plan plan() {
    return from(run(database().relation("orders")).value()).filter(col("amount") > 10);
  }
};

TEST_F(SlowReplaceViewTest, IsRefusedIfAReaderIsMadeMeanwhile) {
  const Relation large = run(database().relation("large")).value();
  const auto [replaced, late] = run(when_all(database().replace_view("large", plan()),
                                             read_meanwhile(&store(), &database(), large)));
  ASSERT_TRUE(late) << late.error().message();
  EXPECT_EQ(replaced.error().message(),
            "in use: 'large' is read by 'late', which was made meanwhile: try again");
  EXPECT_EQ(run(database().relations()).value().size(), 5u);
  EXPECT_TRUE(run(database().replace_view("large", plan())));
}

TEST_F(SlowReplaceViewTest, IsRefusedIfAReaderIsMadeAnewMeanwhile) {
  const Relation items = run(database().relation("items")).value();
  const auto [replaced, anew] = run(when_all(database().replace_view("large", plan()),
                                             make_anew_meanwhile(&store(), &database(), items)));
  ASSERT_TRUE(anew) << anew.error().message();
  EXPECT_EQ(replaced.error().message(), "altered or dropped since it was opened: 'last'");
  EXPECT_EQ(run(database().relations()).value().size(), 4u);
  EXPECT_EQ(run(database().relation("last")).value().id(), anew->id());
  ASSERT_TRUE(run(database().replace_view("large", plan())));
}

Task<> replace(Database* database, operators::Plan plan, Result<>* outcome) {
  const auto replaced = co_await database->replace_view("large", std::move(plan));
  *outcome = replaced ? Result<>() : replaced.error();
}

/// Gives up when those who read the view have been copied.
Task<Result<>> give_up_replacing(const storage::Store* store, Database* database,
                                 operators::Plan plan) {
  Result<> outcome;
  TaskScope scope;
  scope.spawn(replace(database, std::move(plan), &outcome));
  WEIR_CO_TRY_VOID(co_await wait_for_copies(store, database));
  scope.cancel_all();
  co_await scope.join();
  co_return outcome;
}

TEST_F(SlowReplaceViewTest, LeavesNothingBehindIfNobodyWaitsForIt) {
  // They take longer than it takes to give up, whatever else the machine does.
  insert_figs(500, 3'000);
  const std::size_t spaces = spaces_of("weir.flow.").size();
  EXPECT_EQ(run(give_up_replacing(&store(), &database(), plan())).error(), weir::Errc::cancelled);
  EXPECT_EQ(spaces_of("weir.flow.").size(), spaces);
  reopen(options());
  EXPECT_TRUE(run(database().replace_view("large", plan())));
  EXPECT_EQ(spaces_of("weir.flow.").size(), spaces);
}

TEST_F(ReplaceViewTest, IsNotForTransactionalViews) {
  const Relation now =
      run(database().create_view("now", from(*orders_), {.update = ViewUpdate::transactional}))
          .value();
  EXPECT_EQ(run(database().replace_view("now", from(*orders_))).error().message(),
            "invalid argument: view 'now' is transactional: drop it and make it again");
  EXPECT_EQ(
      run(database().replace_view("large", from(*orders_), {.update = ViewUpdate::transactional}))
          .error(),
      Errc::invalid_argument);
  EXPECT_EQ(run(database().resume(now)).error().message(),
            "invalid argument: view 'now' is transactional: rebuild it");
  // One that reads it can be: the copy follows it as the old one did.
  ASSERT_TRUE(run(database().replace_view("large", from(now).filter(col("amount") > 10))));
  EXPECT_EQ(fresh_rows(run(database().relation("last")).value()), "+1 ('pears')\n+1 ('plums')\n");
}

TEST_F(ReplaceViewTest, KeepsTheOldOneIfTheNewOneFails) {
  insert(*orders_, {{4, "poison", 1}});
  script_->failures = 1'000;
  EXPECT_EQ(run(database().replace_view("large", from(*orders_).apply("picky"))).error(),
            Errc::quarantined);
  EXPECT_EQ(fresh_rows(*last_), "+1 ('plums')\n");
  insert(*orders_, {{5, "figs", 1'000}});
  EXPECT_EQ(fresh_rows(*last_), "+1 ('figs')\n+1 ('plums')\n");
}

TEST_F(ReplaceViewTest, IsForgottenIfTheDatabaseWasClosedMeanwhile) {
  ASSERT_TRUE(run(database().create_view(internal::hidden_name("large"), from(*orders_))));
  reopen(options());
  EXPECT_EQ(run(database().relation(internal::hidden_name("large"))).error(),
            Errc::unknown_relation);
  EXPECT_EQ(fresh_rows(run(database().relation("last")).value()), "+1 ('plums')\n");
}

}  // namespace
}  // namespace weir::flow::view
