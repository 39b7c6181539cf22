#include <weir/storage/postgres/internal/pool_metrics.hpp>

#include <weir/storage/postgres/errc.hpp>
#include <weir/telemetry/meter.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::storage::postgres::internal {
namespace {

/// As the codes are named in `Errc`.
constexpr std::array<const char*, 14> outcomes{
    "cancelled",   "conflict",         "constraint",        "contention",    "retry_exhausted",
    "unavailable", "timed_out",        "rejected",          "corruption",    "overloaded",
    "closed",      "invalid_argument", "migration_changed", "schema_too_new"};

std::vector<double> bounds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
          0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
}

}  // namespace

PoolMetrics::PoolMetrics(telemetry::Telemetry* telemetry, const std::string& name,
                         const std::shared_ptr<PoolStatus>& status) {
  if (!telemetry) return;
  telemetry::Meter& meter = telemetry->meter();
  const auto duration = meter.histogram(
      "weir.postgres.call.duration",
      {.unit = "s", .description = "From the call to its outcome.", .bounds = bounds()});
  succeeded_ = duration.with({{"weir.pool", name}, {"weir.outcome", "ok"}});
  for (std::size_t code = 0; code < outcomes.size(); ++code) {
    failed_[code] = duration.with({{"weir.pool", name}, {"weir.outcome", outcomes[code]}});
  }
  const auto observe = [&](auto make, const char* metric, const char* unit, const char* description,
                           auto member) {
    observations_.push_back((meter.*make)(
        metric, telemetry::InstrumentOptions{.unit = unit, .description = description},
        [name, status, member](telemetry::Observer& observer) {
          observer.report(static_cast<double>(((*status).*member).load()), {{"weir.pool", name}});
        }));
  };
  using telemetry::Meter;
  observe(&Meter::observe_up_down_counter, "weir.postgres.connections", "{connection}",
          "Connections that are up.", &PoolStatus::connected);
  observe(&Meter::observe_up_down_counter, "weir.postgres.in_flight", "{call}",
          "Calls sent and not answered.", &PoolStatus::in_flight);
  observe(&Meter::observe_up_down_counter, "weir.postgres.queued", "{call}",
          "Calls that wait for a connection.", &PoolStatus::queued);
  observe(&Meter::observe_counter, "weir.postgres.reconnects", "{connection}",
          "Connections made again after they were lost.", &PoolStatus::reconnects);
}

void PoolMetrics::record(Duration duration, const Unit::Outcome& outcome) const {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (outcome) return succeeded_.record(seconds);
  const std::error_code code = outcome.error().code();
  const bool is_ours = code.category() == postgres_category();
  failed_[is_ours ? static_cast<std::size_t>(code.value()) : 0].record(seconds);
}

}  // namespace weir::storage::postgres::internal
