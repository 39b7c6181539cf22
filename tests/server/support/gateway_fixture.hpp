#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/server/support/client.hpp>

namespace weir::server::test {

/// A store, in memory unless options say otherwise, with a table and two views, and a gateway
/// before it.
///
///     shop.orders (id int64, item text not null, cents int64, primary key id)
///     shop.large   those of 1000 cents and more
///     items        each item once, without a primary key
class GatewayTest : public ::testing::Test {
 protected:
  using Row = flow::view::Row;

  GatewayTest() : GatewayTest(ActorSystemOptions{}) {}
  explicit GatewayTest(ActorSystemOptions options,
                       storage::Retention retention = {.history = std::chrono::hours(1)})
      : GatewayTest(std::move(options), storage::StoreOptions{.retention = retention}) {}
  GatewayTest(ActorSystemOptions options, storage::StoreOptions store_options,
              flow::view::DatabaseOptions database_options = {}) {
    system_ = std::make_unique<ActorSystem>(std::move(options));
    store_.emplace(storage::Store::open(*system_, std::move(store_options)).value());
    database_options.retry_backoff = std::chrono::milliseconds(1);
    database_.emplace(
        run(flow::view::Database::open(&*store_, std::move(database_options))).value());
    using flow::data::Kind;
    auto schema = std::make_shared<const flow::data::Schema>(
        flow::data::Schema::make(
            {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"cents", Kind::int64}},
            {"id"})
            .value());
    orders_.emplace(run(database_->create_table("shop.orders", schema)).value());
    auto large = from(*orders_).filter(flow::data::col("cents") >= 1000);
    large_.emplace(run(database_->create_view("shop.large", large)).value());
    auto items = from(*orders_).map({{"item", flow::data::col("item")}});
    items_.emplace(run(database_->create_view("items", items)).value());
    for (const auto& view : {*large_, *items_})
      run(database_->fresh(view, store_->version())).value();
  }
  ~GatewayTest() override {
    gateway_.reset();
    if (engine_) EXPECT_TRUE(run(engine_->close()));
    engine_.reset();
    EXPECT_TRUE(run(database_->close()));
    database_.reset();
    EXPECT_TRUE(run(store_->close()));
  }

  template <class T>
  T run(Task<T> task) {
    return system_->run(std::move(task));
  }

  /// Before `start`, for those who want workflows.
  void open_engine() { engine_.emplace(run(flow::workflow::Engine::open(&*store_)).value()); }
  flow::workflow::Engine& engine() { return *engine_; }

  /// On any port that is free.
  void start(GatewayOptions options = {}) {
    options.port = 0;
    const Served served{&*store_, &*database_, engine_ ? &*engine_ : nullptr};
    gateway_.emplace(Gateway::start(served, std::move(options)).value());
  }
  Gateway& gateway() { return *gateway_; }
  void let_go() { gateway_.reset(); }
  std::unique_ptr<Client> connect() { return std::make_unique<Client>(gateway_->port()); }
  /// On a connection of its own.
  Reply get(std::string_view target, std::string_view headers = {}) {
    return connect()->get(target, headers);
  }
  Reply post(std::string_view target, std::string_view body, std::string_view headers = {}) {
    return connect()->request("POST", target, body, headers);
  }

  /// And waits until the views show them.
  storage::Version insert(const std::vector<Row>& rows) {
    auto transaction = database_->begin();
    for (const Row& row : rows) run(transaction.insert(*orders_, row)).value();
    const storage::Version version = run(transaction.commit()).value();
    run(database_->fresh(*large_, version)).value();
    run(database_->fresh(*items_, version)).value();
    return store_->version();
  }

  ActorSystem& system() { return *system_; }
  storage::Store& store() { return *store_; }
  flow::view::Database& database() { return *database_; }
  const flow::view::Relation& orders() const { return *orders_; }
  const flow::view::Relation& large() const { return *large_; }
  const flow::view::Relation& items() const { return *items_; }

 private:
  std::unique_ptr<ActorSystem> system_;
  std::optional<storage::Store> store_;
  std::optional<flow::view::Database> database_;
  std::optional<flow::view::Relation> orders_;
  std::optional<flow::view::Relation> large_;
  std::optional<flow::view::Relation> items_;
  std::optional<flow::workflow::Engine> engine_;
  std::optional<Gateway> gateway_;
};

}  // namespace weir::server::test
