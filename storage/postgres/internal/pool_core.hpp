#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/postgres/internal/unit.hpp>
#include <weir/storage/postgres/options.hpp>

namespace weir::storage::postgres::internal {

/// A unit to be run.
struct Submit {
  Ticket ticket;
};
/// Nobody will end the transaction: it is rolled back.
struct Abandon {
  std::uint64_t transaction;
};

/// What a pool tells of itself, on any thread.
struct PoolStatus {
  std::atomic<std::uint32_t> connected{0};
  std::atomic<std::uint64_t> in_flight{0};
  std::atomic<std::uint64_t> queued{0};
  std::atomic<std::uint64_t> reconnects{0};

  void set_last_error(std::string message) {
    const std::scoped_lock hold(mutex_);
    last_error_ = std::move(message);
  }
  std::string last_error() const {
    const std::scoped_lock hold(mutex_);
    return last_error_;
  }

 private:
  mutable std::mutex mutex_;
  std::string last_error_;
};

/// What the handles of a pool share. When the last one goes, the pool closes.
struct PoolCore {
  PoolCore(ActorSystem& pool_system, Options pool_options);
  ~PoolCore() { actor.stop(); }

  ActorSystem& system;
  const Options options;
  const std::shared_ptr<PoolStatus> status = std::make_shared<PoolStatus>();
  ActorRef<Submit, Abandon> actor;
  std::atomic<std::uint64_t> next_transaction{1};
};
using PoolPointer = std::shared_ptr<PoolCore>;

/// That the options make sense.
Result<> check_options(const Options& options);

/// Checks the options and starts the actor. `reconnects`: whether a connection that was lost is
/// made again.
Result<PoolPointer> open_pool(ActorSystem& system, Options options, bool reconnects);

/// Has the unit run, and waits for what comes of it.
Task<Unit::Outcome> run_unit(PoolPointer core, std::shared_ptr<Unit> unit);

/// That the server can be asked for it, and that it leaves transactions alone.
Result<> check_statement(const Statement& statement);

/// How long to wait before attempt number `attempt` + 1.
Duration backoff_before(const RetryOptions& options, unsigned attempt, std::uint64_t random);

/// What is told when `attempts` have failed.
Error exhausted(unsigned attempts, const Error& cause);

Task<Result<std::vector<Rows>>> execute(PoolPointer core, Batch statements, CallOptions options);
Task<Result<Rows>> execute_one(PoolPointer core, Statement statement, CallOptions options);

}  // namespace weir::storage::postgres::internal
