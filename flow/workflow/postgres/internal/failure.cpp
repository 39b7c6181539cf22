#include <weir/flow/workflow/postgres/internal/failure.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/storage/postgres/errc.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

}  // namespace

Error told(const Error& error) {
  if (error == db::Errc::corruption) return {Errc::corruption, error.detail()};
  if (error == db::Errc::closed) return {Errc::closed, "the workflow engine was closed"};
  if (error == db::Errc::retry_exhausted) return {Errc::retry_exhausted, error.detail()};
  if (error == db::Errc::contention || error == db::Errc::conflict) {
    return {Errc::retry_exhausted, error.detail()};
  }
  const bool is_away = is_loss(error) || error == db::Errc::overloaded;
  if (is_away) return {Errc::unavailable, error.detail()};
  // Text that the database cannot hold: a zero byte, or what is not UTF-8.
  const std::string state = db::diagnose(error).sqlstate;
  if (state == "22021" || state == "22P05") return {Errc::invalid_argument, error.detail()};
  return error;
}

bool is_contention(const Error& error) {
  return error == db::Errc::contention || error == db::Errc::conflict;
}

bool is_loss(const Error& error) {
  return error == db::Errc::unavailable || error == db::Errc::timed_out;
}

bool is_general(const Error& error) {
  return error == Errc::unavailable || error == Errc::closed || error == Errc::retry_exhausted ||
         error == Errc::stale_lease || error == weir::Errc::cancelled;
}

}  // namespace weir::flow::workflow::postgres::internal
