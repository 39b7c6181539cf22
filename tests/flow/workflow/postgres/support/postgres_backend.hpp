#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/workflow/postgres/internal/postgres_store.hpp>
#include <weir/tests/flow/workflow/support/backend.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/postgres/support/test_server.hpp>

namespace weir::flow::workflow::postgres::test {

using storage::postgres::test::TestServer;

/// One server for all tests of the program. Null if the package is not installed.
TestServer* shared_server();

/// Options for a schema of the server.
Options options_for(const TestServer& server, const std::string& schema = "test");
/// Leaves a schema with nothing in it.
void drop_schema(const TestServer& server, const std::string& schema = "test");
/// Removes all rows, but leaves the tables.
void clear_schema(const TestServer& server, const std::string& schema = "test");

/// An engine on a schema of the shared server. Its clock is turned by the tests; what is due is
/// done whenever it is turned.
class PostgresBackend final : public testing::Backend {
 public:
  explicit PostgresBackend(TestServer* server, telemetry::Telemetry* telemetry = nullptr);
  ~PostgresBackend() override;

  Engine& engine() override { return *engine_; }
  ActorSystem& system() override { return system_; }
  Time time() override { return Time(std::chrono::microseconds(clock_->load())); }
  void pass(Duration time) override;
  /// More than on its own clock: each time everything that is due is looked for.
  void pass_some() override { pass(std::chrono::milliseconds(50)); }
  void leap(Duration time) override;
  void give_way() override { leap({}); }
  void run(Task<> task) override { system_.run(std::move(task)); }
  void open(EngineOptions options) override;
  void reopen(EngineOptions options) override;
  /// Of the server too, unless commits fail: then it is only the engine that goes.
  void crash(std::size_t survivors) override;
  void vanish() override;
  void fail_commit(std::uint64_t nth) override;
  bool has_failed() override;
  std::shared_ptr<workflow::internal::WorkflowStore> core() override { return store_; }
  std::map<std::string, std::size_t> rows() override;

 private:
  void let_commit();
  void disown();

  TestServer* const server_;
  const std::shared_ptr<std::atomic<std::int64_t>> clock_;
  ActorSystem system_;
  std::shared_ptr<internal::PostgresStore> store_;
  std::optional<Engine> engine_;
  std::uint64_t failing_from_ = 0;  // none if zero
};

}  // namespace weir::flow::workflow::postgres::test
