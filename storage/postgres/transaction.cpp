#include <weir/storage/postgres/transaction.hpp>

#include <weir/runtime/try.hpp>
#include <weir/storage/postgres/internal/transaction_state.hpp>

namespace weir::storage::postgres {
namespace {

using internal::TransactionState;
using internal::Unit;
using State = std::shared_ptr<TransactionState>;

Task<Unit::Outcome> run(State state, std::shared_ptr<Unit> unit) {
  if (state->has_ended) co_return Error(Errc::invalid_argument, "the transaction has ended");
  state->has_ended = unit->kind == Unit::Kind::end;
  unit->transaction = state->number;
  auto outcome = co_await internal::run_unit(state->core, std::move(unit));
  if (!outcome && !state->failure) state->failure = outcome.error();
  co_return outcome;
}

Task<Result<std::vector<Rows>>> run_batch(State state, Batch statements, Duration timeout) {
  if (statements.empty()) co_return std::vector<Rows>();
  for (const Statement& statement : statements) {
    if (auto valid = internal::check_statement(statement); !valid) co_return valid.error();
  }
  auto unit = std::make_shared<Unit>();
  unit->statements = std::move(statements);
  unit->timeout = timeout;
  co_return co_await run(std::move(state), std::move(unit));
}

Task<Result<Rows>> run_one(State state, Statement statement, Duration timeout) {
  Batch statements;
  statements.push_back(std::move(statement));
  WEIR_CO_TRY(results, co_await run_batch(std::move(state), std::move(statements), timeout));
  co_return std::move(results.front());
}

Task<Result<>> run_text(State state, std::string text, Duration timeout) {
  auto unit = std::make_shared<Unit>();
  unit->kind = Unit::Kind::script;
  unit->statements.emplace_back(std::move(text));
  unit->timeout = timeout;
  if (unit->statements.front().text().find('\0') != std::string::npos) {
    co_return Error(Errc::invalid_argument, "a script with a zero byte in it");
  }
  auto outcome = co_await run(std::move(state), std::move(unit));
  if (!outcome) co_return outcome.error();
  co_return Result<>();
}

Task<Result<>> end(State state, bool commits) {
  auto unit = std::make_shared<Unit>();
  unit->kind = Unit::Kind::end;
  unit->statements.emplace_back(commits ? "commit" : "rollback");
  WEIR_CO_TRY(results, co_await run(state, std::move(unit)));
  // The server answers so if a statement has failed.
  const bool is_undone = results.front().command() == "ROLLBACK";
  if (!commits || !is_undone) co_return Result<>();
  if (state->failure) co_return *state->failure;
  co_return Error(Errc::rejected, "the transaction was rolled back");
}

}  // namespace

Task<Result<Rows>> Transaction::execute(Statement statement, Duration timeout) const {
  return run_one(state_, std::move(statement), timeout);
}

Task<Result<std::vector<Rows>>> Transaction::execute(Batch statements, Duration timeout) const {
  return run_batch(state_, std::move(statements), timeout);
}

Task<Result<>> Transaction::run_script(std::string text, Duration timeout) const {
  return run_text(state_, std::move(text), timeout);
}

Task<Result<>> Transaction::commit() const { return end(state_, true); }
Task<Result<>> Transaction::rollback() const { return end(state_, false); }

Error Transaction::failure() const { return state_->failure ? *state_->failure : Error(); }

}  // namespace weir::storage::postgres
