#include <weir/storage/postgres/pool.hpp>

#include <weir/storage/postgres/internal/pool_core.hpp>
#include <weir/storage/postgres/internal/transaction_state.hpp>

namespace weir::storage::postgres {

using internal::TransactionState;
using internal::Unit;

Result<Pool> Pool::open(ActorSystem& system, Options options) {
  auto core = internal::open_pool(system, std::move(options), true);
  if (!core) return core.error();
  return Pool(*std::move(core));
}

Task<Result<Rows>> Pool::execute(Statement statement, CallOptions options) const {
  return internal::execute_one(core_, std::move(statement), options);
}

Task<Result<std::vector<Rows>>> Pool::execute(Batch statements, CallOptions options) const {
  return internal::execute(core_, std::move(statements), options);
}

Task<Result<Transaction>> Pool::begin(Isolation isolation) const {
  return begin_on(core_, isolation);
}

Task<Result<Transaction>> Pool::begin_on(internal::PoolPointer core, Isolation isolation) {
  // From here on the transaction is given up if nobody takes it.
  Transaction transaction(std::make_shared<TransactionState>(core));
  auto unit = std::make_shared<Unit>();
  unit->kind = Unit::Kind::begin;
  unit->transaction = transaction.state_->number;
  unit->isolation = isolation;
  auto outcome = co_await internal::run_unit(std::move(core), std::move(unit));
  if (!outcome) co_return outcome.error();
  co_return transaction;
}

Task<Pool::Verdict> Pool::end(Transaction transaction, Error error) {
  const bool commits = !error.code();
  auto ended = commits ? co_await transaction.commit() : co_await transaction.rollback();
  if (commits) error = ended.error();
  // What the body made of a failure does not matter: nothing was done.
  const Error failure = transaction.failure();
  if (failure == Errc::contention) co_return Verdict{failure, true};
  co_return Verdict{error, false};
}

Duration Pool::pause_after(unsigned attempt) const {
  return internal::backoff_before(core_->options.retry, attempt, core_->system.random());
}

Error Pool::exhausted(unsigned attempts, const Error& cause) {
  return internal::exhausted(attempts, cause);
}

Health Pool::health() const {
  const internal::PoolStatus& status = *core_->status;
  return {core_->options.connections, status.connected.load(),  status.in_flight.load(),
          status.queued.load(),       status.reconnects.load(), status.last_error()};
}

const Options& Pool::options() const noexcept { return core_->options; }
ActorSystem& Pool::system() const noexcept { return core_->system; }
void Pool::close() const { core_->actor.stop(); }

}  // namespace weir::storage::postgres
