#include <weir/flow/view/subscription.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;

class SubscriptionTest : public test::DatabaseTest {
 protected:
  Relation make_numbers(int rows = 0) {
    const auto schema = operators::test::make_schema(
        {{"id", Kind::int64, false}, {"half", Kind::int64, false}}, {"id"});
    const Relation numbers = run(database().create_table("numbers", schema)).value();
    for (int id = 0; id < rows; ++id) insert(numbers, {{id, id / 2}});
    return numbers;
  }
  std::string next(Subscription& subscription) {
    const auto delta = run(subscription.next());
    return delta ? to_string(delta->changes) : delta.error().message();
  }
};

TEST_F(SubscriptionTest, TellsEveryCommitFromNowOn) {
  const Relation numbers = make_numbers(2);
  Subscription subscription = database().subscribe(numbers).value();
  insert(numbers, {{5, 2}, {6, 3}});
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.update(numbers, {5, 9})));
  ASSERT_TRUE(run(transaction.remove(numbers, {0})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(next(subscription), "+1 (5, 2)\n+1 (6, 3)\n");
  EXPECT_EQ(next(subscription), "-1 (5, 2)\n+1 (5, 9)\n-1 (0, 0)\n");
}

TEST_F(SubscriptionTest, SaysThatThereIsNothingInsteadOfWaiting) {
  const Relation numbers = make_numbers(2);
  const auto other = run(database().create_table("other", numbers.schema())).value();
  const storage::Version before = store().version();
  Subscription subscription = database().subscribe(numbers).value();
  EXPECT_FALSE(run(subscription.next_if_any()).value());
  EXPECT_EQ(subscription.seen(), before);
  const storage::Version changed = insert(numbers, {{5, 2}});
  const storage::Version of_others = insert(other, {{1, 1}});
  const auto delta = run(subscription.next_if_any()).value();
  ASSERT_TRUE(delta);
  EXPECT_EQ(to_string(delta->changes), "+1 (5, 2)\n");
  EXPECT_EQ(subscription.seen(), changed);
  EXPECT_FALSE(run(subscription.next_if_any()).value());
  EXPECT_EQ(subscription.seen(), of_others);
}

TEST_F(SubscriptionTest, BeginsWithASnapshotIfAsked) {
  const Relation numbers = make_numbers(3);
  Subscription subscription =
      database().subscribe(numbers, {.with_snapshot = true, .limits = {.records_max = 2}}).value();
  insert(numbers, {{7, 3}});
  const auto first = run(subscription.next()).value();
  EXPECT_EQ(to_string(first.changes), "+1 (0, 0)\n+1 (1, 0)\n");
  EXPECT_FALSE(first.resume);
  const auto last = run(subscription.next()).value();
  EXPECT_EQ(to_string(last.changes), "+1 (2, 1)\n");
  EXPECT_TRUE(last.resume);
  EXPECT_EQ(next(subscription), "+1 (7, 3)\n");
}

TEST_F(SubscriptionTest, GoesOnWhereAnotherEnded) {
  const Relation numbers = make_numbers();
  Subscription first = database().subscribe(numbers).value();
  insert(numbers, {{1, 0}});
  insert(numbers, {{2, 1}});
  const auto delta = run(first.next()).value();
  Subscription second = database().subscribe(numbers, {.after = delta.resume}).value();
  EXPECT_EQ(next(second), "+1 (2, 1)\n");
  EXPECT_EQ(database().subscribe(numbers, {.after = delta.resume, .with_snapshot = true}).error(),
            Errc::invalid_argument);
}

TEST_F(SubscriptionTest, FollowsAView) {
  const Relation numbers = make_numbers(4);
  const Relation halves =
      run(database().create_view("halves", from(numbers).map({{"half", col("half")}}))).value();
  ASSERT_TRUE(run(database().fresh(halves, store().version())));
  Subscription subscription = database().subscribe(halves, {.with_snapshot = true}).value();
  EXPECT_EQ(next(subscription), "+2 (0)\n+2 (1)\n");
  insert(numbers, {{4, 1}, {5, 8}});
  EXPECT_EQ(next(subscription), "+1 (1)\n+1 (8)\n");
}

TEST_F(SubscriptionTest, EndsWhenItsTableIsAltered) {
  const Relation numbers = make_numbers();
  Subscription subscription = database().subscribe(numbers).value();
  insert(numbers, {{1, 0}});
  ASSERT_TRUE(run(database().add_column("numbers", {.name = "note", .type = Kind::text})));
  EXPECT_EQ(next(subscription), "+1 (1, 0)\n");
  EXPECT_EQ(run(subscription.next()).error(), Errc::stale_relation);
  EXPECT_EQ(run(subscription.next()).error(), Errc::stale_relation);
}

TEST_F(SubscriptionTest, EndsWhenItsViewIsBuiltAgain) {
  const Relation numbers = make_numbers(4);
  const Relation all = run(database().create_view("all", from(numbers))).value();
  ASSERT_TRUE(run(database().fresh(all, store().version())));
  Subscription subscription = database().subscribe(all).value();
  ASSERT_TRUE(run(database().rebuild(all)));
  EXPECT_EQ(run(subscription.next()).error(), Errc::not_ready);
}

Task<> take_one(Subscription subscription, std::string* found) {
  const auto delta = co_await subscription.next();
  *found = delta ? to_string(delta->changes) : delta.error().message();
}

Task<> write_one(const Database* database, Relation numbers) {
  auto transaction = database->begin();
  EXPECT_TRUE(co_await transaction.insert(numbers, {1, 0}));
  EXPECT_TRUE(co_await transaction.commit());
}

Task<> wait_and_write(const Database* database, Relation numbers, std::string* found) {
  TaskScope scope;
  scope.spawn(take_one(database->subscribe(numbers).value(), found));
  scope.spawn(write_one(database, numbers));
  co_await scope.join();
}

TEST_F(SubscriptionTest, WaitsForWhatIsToCome) {
  const Relation numbers = make_numbers();
  std::string found;
  run(wait_and_write(&database(), numbers, &found));
  EXPECT_EQ(found, "+1 (1, 0)\n");
}

}  // namespace
}  // namespace weir::flow::view
