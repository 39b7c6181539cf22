#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::test {

/// A database on a disk in memory, which outlives it.
class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() { open(); }

  Database& database() { return *database_; }
  /// To let it fail: a store that could not write does not close without saying so.
  storage::engine::SimulatedDisk& disk() {
    has_faults_ = true;
    return *disk_;
  }
  /// From the next opening on.
  void set_retention(storage::Retention retention) { retention_ = retention; }
  storage::Store& store() { return *store_; }

  template <class T>
  T run(Task<T> task) {
    return system_->run(std::move(task));
  }
  ~DatabaseTest() override { close(); }

  void reopen(DatabaseOptions options = {}) {
    close();
    open(options);
  }
  /// What opening it again gives, or the store below it; it is closed then.
  Result<> open_again(DatabaseOptions options) {
    close();
    ActorSystem system;
    auto store = storage::Store::open(system, {.retention = retention_, .disk = disk_});
    if (!store) return std::move(store).error();
    auto database = system.run(Database::open(&*store, options));
    if (!database) return std::move(database).error();
    return {};
  }
  void close() {
    if (!database_) return;
    EXPECT_TRUE(run(database_->close()));
    database_.reset();
    const auto closed = run(store_->close());
    EXPECT_TRUE(closed || has_faults_) << closed.error().message();
    store_.reset();
    system_.reset();
  }

  storage::Version insert(const Relation& table, const std::vector<Row>& rows) {
    auto transaction = database().begin();
    for (const Row& row : rows) run(transaction.insert(table, row)).value();
    return run(transaction.commit()).value();
  }
  /// Each with its weight, in order of the key.
  std::string rows_of(const Relation& relation) {
    Snapshot snapshot = database().read();
    RowScan scan = snapshot.scan(relation);
    std::string text;
    for (;;) {
      const auto batch = run(scan.next(2)).value();
      if (batch.is_empty()) return text;
      text += to_string(batch);
    }
  }

  /// The names of key spaces that begin so.
  std::vector<std::string> spaces_of(const std::string& prefix) {
    std::vector<std::string> names;
    for (const storage::SpaceInfo& space : run(store().spaces()).value())
      if (space.name.starts_with(prefix)) names.push_back(space.name);
    return names;
  }
  /// All that flows have kept.
  std::size_t entries_of_flows() {
    std::size_t entries = 0;
    for (const std::string& name : spaces_of("weir.flow.state.")) {
      auto state = run(store().open_state<internal::EncodedKey, internal::EncodedValue>(name));
      auto transaction = store().begin();
      auto scan = transaction.scan(state.value());
      while (scan.next_blocking().value()) ++entries;
    }
    return entries;
  }

 private:
  void open(DatabaseOptions options = {}) {
    system_ = std::make_unique<ActorSystem>();
    store_ = std::make_unique<storage::Store>(
        storage::Store::open(*system_, {.retention = retention_, .disk = disk_}).value());
    database_.emplace(run(Database::open(store_.get(), options)).value());
  }

  bool has_faults_ = false;
  storage::Retention retention_ = {.history = std::chrono::hours(1)};
  std::shared_ptr<storage::engine::SimulatedDisk> disk_ =
      std::make_shared<storage::engine::SimulatedDisk>();
  std::unique_ptr<ActorSystem> system_;
  std::unique_ptr<storage::Store> store_;
  std::optional<Database> database_;
};

}  // namespace weir::flow::view::test
