// Views over a store on disk, with hardly any memory for their state.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;
using operators::test::make_schema;

class DiskViewTest : public ::testing::Test {
 protected:
  DiskViewTest() { open(); }
  ~DiskViewTest() override { close(); }

  void open() {
    system_.emplace();
    store_.emplace(storage::Store::open(*system_, {.directory = directory_.path() / "store",
                                                   .durability = storage::Durability::memory()})
                       .value());
    database_.emplace(
        run(Database::open(&*store_, {.state_memory_max = 0, .backfill_rows = 100})).value());
  }
  void close() {
    EXPECT_TRUE(run(database_->close()));
    database_.reset();
    EXPECT_TRUE(run(store_->close()));
    store_.reset();
    system_.reset();
  }
  template <class T>
  T run(Task<T> task) {
    return system_->run(std::move(task));
  }
  void change(data::test::RandomData& random, int commits) {
    const Relation orders = run(database_->relation("orders")).value();
    for (; commits > 0; --commits) {
      auto transaction = database_->begin();
      for (int row = 0; row < 20; ++row) {
        const auto id = static_cast<std::int64_t>(random.below(500));
        const auto group = static_cast<std::int64_t>(random.below(40));
        const auto amount = static_cast<std::int64_t>(random.below(1'000));
        if (orders_.contains(id) && random.one_in(3)) {
          ASSERT_TRUE(run(transaction.remove(orders, {id})));
          orders_.erase(id);
        } else {
          ASSERT_TRUE(run(transaction.upsert(orders, {id, group, amount})));
          orders_[id] = {group, amount};
        }
      }
      ASSERT_TRUE(run(transaction.commit()));
    }
  }
  void expect_groups() {
    const Relation groups = run(database_->relation("groups")).value();
    ASSERT_TRUE(run(database_->fresh(groups, store_->version())));
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected;  // sum and max
    for (const auto& [id, order] : orders_) {
      auto& [sum, max] = expected[order.first];
      sum += order.second;
      max = std::max(max, order.second);
    }
    std::string text;
    for (const auto& [group, values] : expected) {
      text += "+1 (" + std::to_string(group) + ", " + std::to_string(values.first) + ", " +
              std::to_string(values.second) + ")\n";
    }
    Snapshot snapshot = database_->read();
    RowScan scan = snapshot.scan(groups);
    EXPECT_EQ(to_string(run(scan.next()).value()), text);
  }

  storage::test::TemporaryDirectory directory_;
  std::optional<ActorSystem> system_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> orders_;
};

TEST_F(DiskViewTest, KeepsItsStateOnDisk) {
  data::test::RandomData random(1);
  const auto schema = make_schema(
      {{"id", Kind::int64, false}, {"group", Kind::int64, false}, {"amount", Kind::int64, false}},
      {"id"});
  const Relation orders = run(database_->create_table("orders", schema)).value();
  change(random, 20);
  ASSERT_TRUE(run(database_->create_view(
      "groups",
      from(orders).group_by({"group"}).aggregate(
          {operators::sum(col("amount")).as("sum"), operators::max(col("amount")).as("max")}))));
  change(random, 20);
  expect_groups();
  for (int life = 0; life < 3; ++life) {
    close();
    open();
    change(random, 10);
    expect_groups();
  }
}

}  // namespace
}  // namespace weir::flow::view
