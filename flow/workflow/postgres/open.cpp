#include <weir/flow/workflow/postgres/open.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/internal/postgres_store.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres {
namespace {

Result<> validate(const Options& options) {
  const auto refuse = [](const char* name) {
    return Error(Errc::invalid_argument, std::string("Options::") + name + " must be positive");
  };
  if (options.batch_max == 0) return refuse("batch_max");
  if (options.batches_max == 0) return refuse("batches_max");
  if (options.attempts_max == 0) return refuse("attempts_max");
  if (options.losses_max == 0) return refuse("losses_max");
  if (options.cancels_max == 0) return refuse("cancels_max");
  if (options.ownership <= Duration::zero()) return refuse("ownership");
  if (options.poll <= Duration::zero()) return refuse("poll");
  if (auto valid = workflow::validate(options.retention); !valid) return valid;
  return workflow::validate(options.audit);
}

}  // namespace

Task<Result<Engine>> open(ActorSystem* system, Options options) {
  if (auto valid = validate(options); !valid) co_return valid.error();
  const AuditSchedule audit = options.audit;
  WEIR_CO_TRY(store, co_await internal::PostgresStore::open(system, std::move(options)));
  co_return Engine(std::move(store), audit);
}

}  // namespace weir::flow::workflow::postgres
