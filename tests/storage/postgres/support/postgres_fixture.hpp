#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/postgres/connection.hpp>
#include <weir/storage/postgres/options.hpp>
#include <weir/storage/postgres/pool.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/postgres/support/test_server.hpp>

namespace weir::storage::postgres::test {

/// One server for all tests of the program, and one schema with nothing in it for each.
class PostgresTest : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    if (!server_) server_ = TestServer::start();
  }

 protected:
  void SetUp() override {
    if (!server_) GTEST_SKIP() << "the package postgresql is not installed";
    if (!server_->is_running()) server_->revive();
    server_->execute("drop schema if exists test cascade; create schema test");
  }

  static TestServer& server() { return *server_; }

  static Options options() {
    Options made;
    made.connection = server_->connection() + " options=-csearch_path=test";
    made.connections = 2;
    made.on_notice = [](const Notice&) {};
    return made;
  }

  Pool open(Options chosen = options()) { return *Pool::open(system, std::move(chosen)); }

  template <class T>
  T run(Task<T> task) {
    return system.run(std::move(task));
  }
  /// The first column of the only row.
  template <class T>
  T value_of(const Pool& pool, Statement statement) {
    const Rows rows = *run(pool.execute(std::move(statement)));
    return *rows[0].get<T>(0);
  }

  ActorSystem system{weir::testing::quiet()};

 private:
  static inline std::unique_ptr<TestServer> server_;
};

}  // namespace weir::storage::postgres::test
