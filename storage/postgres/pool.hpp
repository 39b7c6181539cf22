#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/postgres/errc.hpp>
#include <weir/storage/postgres/options.hpp>
#include <weir/storage/postgres/rows.hpp>
#include <weir/storage/postgres/statement.hpp>
#include <weir/storage/postgres/transaction.hpp>

namespace weir::storage::postgres {

/// How a pool is at a moment.
struct Health {
  std::uint32_t connections = 0;  // wanted
  std::uint32_t connected = 0;
  std::uint64_t in_flight = 0;   // calls sent and not answered
  std::uint64_t queued = 0;      // calls that wait for a connection
  std::uint64_t reconnects = 0;  // connections made again, so far
  std::string last_error;        // why a connection was lost or could not be made
};

/// Some connections to one server, shared by any number of actors.
///
/// Calls of many callers are in flight on one connection, each waiting for its own answer: they are
/// sent without waiting for those before them. A statement, or a batch of them, is a transaction of
/// its own in one round trip; what fails in it leaves nothing behind and touches no other call. For
/// what must read before it writes, `transaction` takes a connection for itself.
///
/// No call waits for ever: it ends with `timed_out` at the latest when its time is over. While the
/// server is away, calls wait for it up to `Options::reconnect_budget`, and get `unavailable`.
/// Calls that had been sent when a connection was lost get `unavailable` too, and nobody knows
/// whether they were carried out.
///
/// A handle: cheap to copy, usable from any thread; its calls are awaited in actors and tasks of
/// the system. The pool closes with the last handle. There is no I/O under simulation.
class Pool {
 public:
  /// Starts to connect, in the background. `invalid_argument` for options that make no sense.
  static Result<Pool> open(ActorSystem& system, Options options);

  Task<Result<Rows>> execute(Statement statement, CallOptions options = {}) const;
  /// All or nothing, one result for each statement.
  Task<Result<std::vector<Rows>>> execute(Batch statements, CallOptions options = {}) const;

  /// Begins a transaction, once a connection is free. The caller sees to its end.
  Task<Result<Transaction>> begin(Isolation isolation) const;

  /// Runs `body(transaction, args...)`, a `Task<Result<T>>`, and commits; again, in another
  /// transaction, if it meets `contention`, as often as `Options::retry` says; then
  /// `retry_exhausted`. Any other error rolls it back and is returned.
  ///
  ///     weir::Task<weir::Result<>> transfer(Transaction transaction, std::int64_t cents);
  ///
  ///     auto done = co_await pool.transaction(Isolation::serializable, &transfer, 500);
  ///
  /// `body` is a function or a lambda without captures: what it needs are arguments, which are kept
  /// for all attempts. It must not call the pool itself: all connections may be taken by others who
  /// do the same.
  template <class Body, class... Args>
  std::invoke_result_t<Body, Transaction&, Args&...> transaction(Isolation isolation, Body body,
                                                                 Args... args) const {
    return run(*this, isolation, std::move(body), std::move(args)...);
  }

  Health health() const;
  const Options& options() const noexcept;
  ActorSystem& system() const noexcept;

  /// Ends all calls with `closed`. Repeating it does nothing.
  void close() const;

 private:
  friend class Connection;
  explicit Pool(std::shared_ptr<internal::PoolCore> core) noexcept : core_(std::move(core)) {}

  /// Ends an attempt. Gives what came of it, and whether to try again.
  struct Verdict {
    Error error;  // zero: committed
    bool is_contention = false;
  };
  static Task<Result<Transaction>> begin_on(std::shared_ptr<internal::PoolCore> core,
                                            Isolation isolation);
  static Task<Verdict> end(Transaction transaction, Error error);
  Duration pause_after(unsigned attempt) const;
  static Error exhausted(unsigned attempts, const Error& cause);

  template <class Body, class... Args>
  static std::invoke_result_t<Body, Transaction&, Args&...> run(Pool pool, Isolation isolation,
                                                                Body body, Args... args) {
    for (unsigned attempt = 1;; ++attempt) {
      auto transaction = co_await pool.begin(isolation);
      if (!transaction) co_return transaction.error();
      auto done = co_await body(*transaction, args...);
      const Verdict verdict = co_await end(*transaction, done.error());
      if (!verdict.error.code()) co_return done;
      if (!verdict.is_contention) co_return verdict.error;
      if (attempt >= pool.options().retry.attempts_max) co_return exhausted(attempt, verdict.error);
      if (auto slept = co_await sleep_for(pool.pause_after(attempt)); !slept) {
        co_return slept.error();
      }
    }
  }

  std::shared_ptr<internal::PoolCore> core_;
};

}  // namespace weir::storage::postgres
