// Whether the shop's report sees what is wrong.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/samples/shop/report.hpp>
#include <weir/samples/shop/tables.hpp>
#include <weir/storage/store.hpp>

namespace shop {
namespace {

using weir::flow::data::Timestamp;

/// A shop with one paid order, charged and shipped, and one that is not paid for.
class ShopReport : public testing::Test {
 protected:
  ShopReport() {
    store_.emplace(weir::storage::Store::open(system_, {}).value());
    database_.emplace(system_.run(Database::open(&*store_)).value());
    tables_.emplace(system_.run(open_tables(&*database_, &*store_)).value());
    insert(tables_->customers, {1, 2});
    insert(tables_->orders, {101, time_, "teapot", 2, 8400, "paid"});
    insert(tables_->orders, {201, time_, "cup", 1, 480, "placed"});
    insert(tables_->deliveries, {1, "teapot", 10});
    insert(tables_->ledger, {101, "charge", 5, 8400, ""});
    insert(tables_->ledger, {101, "ship", 6, 8400, "anna"});
  }
  ~ShopReport() override { system_.run(database_->close()).value(); }

  void insert(const Relation& table, Row row) {
    auto transaction = database_->begin();
    system_.run(transaction.insert(table, std::move(row))).value();
    system_.run(transaction.commit()).value();
  }
  void update(const Relation& table, Row row) {
    auto transaction = database_->begin();
    system_.run(transaction.update(table, std::move(row))).value();
    system_.run(transaction.commit()).value();
  }
  void remove(const Relation& table, Row key) {
    auto transaction = database_->begin();
    system_.run(transaction.remove(table, std::move(key))).value();
    system_.run(transaction.commit()).value();
  }
  /// Of a shop in which every view is up to date.
  bool is_right() {
    for (const Relation& view :
         {tables_->revenue, tables_->top_products, tables_->stock, tables_->totals}) {
      system_.run(database_->fresh(view, store_->version())).value();
    }
    return system_.run(verify(&*database_, *tables_)).value();
  }

  const Timestamp time_{std::chrono::sys_days(std::chrono::year(2026) / 5 / 1)};
  weir::ActorSystem system_;
  std::optional<weir::storage::Store> store_;
  std::optional<Database> database_;
  std::optional<Tables> tables_;
};

TEST_F(ShopReport, IsRightOfAShopInWhichNothingWentWrong) {
  EXPECT_TRUE(system_.run(settle(&*store_, &*database_, *tables_)));
  EXPECT_TRUE(is_right());
}

TEST_F(ShopReport, SeesAnOrderThatWasNotCharged) {
  remove(tables_->ledger, {101, "charge", 5});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesAnOrderThatWasNotShipped) {
  remove(tables_->ledger, {101, "ship", 6});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesWhatWasDoneTwice) {
  insert(tables_->ledger, {101, "charge", 7, 8400, ""});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesAnotherPrice) {
  update(tables_->ledger, {101, "charge", 5, 8300, ""});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesWhatWasChargedAndNeverPaidFor) {
  insert(tables_->ledger, {201, "charge", 7, 480, ""});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesANumberWithoutAnOrder) {
  update(tables_->customers, {1, 3});
  EXPECT_FALSE(is_right());
}

TEST_F(ShopReport, SeesAViewThatIsSomethingElse) {
  // Views cannot be written to, so another query stands for one that went wrong.
  using namespace weir::flow::operators;
  using weir::flow::data::col;
  auto wrong = from(tables_->orders).group_by({"product"}).aggregate({sum(col("units")).as("u")});
  tables_->stock = system_.run(database_->create_view("wrong", wrong)).value();
  EXPECT_FALSE(is_right());
}

}  // namespace
}  // namespace shop
