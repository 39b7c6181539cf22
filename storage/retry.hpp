#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>

namespace weir::storage {

/// How often a transaction that meets conflicts is run again.
struct RetryOptions {
  unsigned attempts_max = 16;
  /// Before the second attempt, at most; twice that before each further one. The time is drawn
  /// evenly from zero up to it, so that those who met do not meet again.
  Duration backoff = std::chrono::microseconds(200);
  Duration backoff_max = std::chrono::milliseconds(100);
};

namespace internal {

/// How long to wait before attempt number `attempt` + 1.
Duration backoff_before(const RetryOptions& options, unsigned attempt, std::uint64_t random);

}  // namespace internal

/// What begins transactions: a `Store`, or the tables in it.
template <class T>
concept BeginsTransactions = requires(const T& source) {
  source.begin().commit();
  source.system().random();
};

/// Runs `body(transaction, args...)`, a `Task<Result<>>`, and commits; again, on a new transaction,
/// as long as that meets conflicts. Any other error ends it, and nothing is written then.
///
///     weir::Task<weir::Result<>> transfer(Transaction& transaction, Accounts accounts, ...);
///
///     auto version = co_await transact(store, {}, &transfer, accounts, from, to, cents);
///
/// `body` is a function or a lambda without captures: what it needs are arguments, which are kept
/// for all attempts. The last conflict is returned when the attempts are used up.
template <BeginsTransactions Source, class Body, class... Args>
Task<Result<Version>> transact(const Source* source, RetryOptions options, Body body,
                               Args... args) {
  for (unsigned attempt = 1;; ++attempt) {
    auto transaction = source->begin();
    Result<> done = co_await body(transaction, args...);
    Result<Version> version = done ? co_await transaction.commit() : Result<Version>(done.error());
    const bool is_conflict = !version && version.error() == Errc::conflict;
    if (!is_conflict || attempt >= options.attempts_max) co_return version;
    const Duration pause = internal::backoff_before(options, attempt, source->system().random());
    if (auto slept = co_await sleep_for(pause); !slept) co_return slept.error();
  }
}

}  // namespace weir::storage
