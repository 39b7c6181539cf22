#include <weir/storage/postgres/internal/pool_core.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/storage/postgres/internal/pool_actor.hpp>

namespace weir::storage::postgres::internal {
namespace {

/// No call takes longer, so that times can be added up.
constexpr Duration timeout_max = std::chrono::hours(24 * 365);

std::string first_word(const std::string& text) {
  std::string word;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalpha(byte)) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty() || !std::isspace(byte)) {
      break;
    }
  }
  return word;
}

std::shared_ptr<Unit> unit_of(const PoolCore& core, Batch statements, const CallOptions& options) {
  auto unit = std::make_shared<Unit>();
  unit->isolation = options.isolation.value_or(core.options.isolation);
  unit->timeout = options.timeout;
  unit->statements = std::move(statements);
  return unit;
}

/// A caller that waits no more.
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<Unit> unit) noexcept : unit_(std::move(unit)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { unit_->is_wanted.store(false, std::memory_order_relaxed); }

 private:
  std::shared_ptr<Unit> unit_;
};

}  // namespace

PoolCore::PoolCore(ActorSystem& pool_system, Options pool_options)
    : system(pool_system), options(std::move(pool_options)) {}

Result<> check_options(const Options& options) {
  const auto refuse = [](const char* name, auto value) {
    return Error(Errc::invalid_argument,
                 "Options::" + std::string(name) + " is " + std::to_string(value));
  };
  if (options.connections < 1 || options.connections > 1'000) {
    return refuse("connections", options.connections);
  }
  if (options.pipeline_depth_max < 1) return refuse("pipeline_depth_max", 0);
  if (options.retry.attempts_max < 1) return refuse("retry.attempts_max", 0);
  const std::array<std::pair<const char*, Duration>, 8> durations{{
      {"connect_timeout", options.connect_timeout},
      {"call_timeout", options.call_timeout},
      {"hang_grace", options.hang_grace},
      {"transaction_idle_timeout", options.transaction_idle_timeout},
      {"heartbeat", options.heartbeat},
      {"reconnect_budget", options.reconnect_budget},
      {"reconnect_backoff", options.reconnect_backoff},
      {"reconnect_backoff_max", options.reconnect_backoff_max},
  }};
  for (const auto& [name, duration] : durations) {
    if (duration <= Duration::zero() || duration > timeout_max) {
      return refuse(name, duration.count());
    }
  }
  return {};
}

Result<PoolPointer> open_pool(ActorSystem& system, Options options, bool reconnects) {
  if (auto valid = check_options(options); !valid) return valid.error();
  auto parameters = parse_connection(options);
  if (!parameters) return parameters.error();
  auto core = std::make_shared<PoolCore>(system, std::move(options));
  // Units are counted by the actor itself, which handles messages at once.
  const SpawnOptions spawning{.name = core->options.name, .mailbox_capacity = unbounded};
  core->actor = system.spawn<PoolActor>(spawning, core->options, *std::move(parameters), reconnects,
                                        core->status);
  return core;
}

Task<Unit::Outcome> run_unit(PoolPointer core, std::shared_ptr<Unit> unit) {
  if (unit->timeout <= Duration::zero()) unit->timeout = core->options.call_timeout;
  unit->timeout = std::min(unit->timeout, timeout_max);
  unit->submitted = core->system.now();
  unit->deadline = unit->submitted + unit->timeout;
  const Waiting waiting(unit);
  // If it is refused the unit is finished all the same.
  static_cast<void>(core->actor.send<Submit>(Ticket(unit)));
  auto done = co_await unit->done.wait_until(1);
  if (!done) co_return done.error();
  co_return std::move(unit->outcome);
}

Result<> check_statement(const Statement& statement) {
  static constexpr std::size_t parameters_max = 65'535;
  if (statement.parameters().size() > parameters_max) {
    return Error(Errc::invalid_argument,
                 std::to_string(statement.parameters().size()) +
                     " parameters, 65535 at most: pass arrays and unnest them");
  }
  for (const Parameter& parameter : statement.parameters()) {
    if (parameter.bytes() && parameter.bytes()->size() >= std::numeric_limits<int>::max() / 2) {
      return Error(Errc::invalid_argument, "a parameter of " +
                                               std::to_string(parameter.bytes()->size()) +
                                               " bytes, a gigabyte at most");
    }
  }
  if (statement.text().find('\0') != std::string::npos) {
    return Error(Errc::invalid_argument, "a statement with a zero byte in it");
  }
  static constexpr std::array<std::string_view, 7> controls{"begin", "start",    "commit", "end",
                                                            "abort", "rollback", "copy"};
  const std::string word = first_word(statement.text());
  if (std::find(controls.begin(), controls.end(), word) == controls.end()) return {};
  return Error(Errc::invalid_argument, "'" + word +
                                           "' as a statement: transactions are begun and ended by"
                                           " Pool::transaction, and there is no copying");
}

Duration backoff_before(const RetryOptions& options, unsigned attempt, std::uint64_t random) {
  Duration most = options.backoff;
  for (; attempt > 1 && most < options.backoff_max; --attempt) most *= 2;
  most = std::min(most, options.backoff_max);
  return Duration(random % static_cast<std::uint64_t>(std::max<Duration::rep>(most.count(), 1)));
}

Error exhausted(unsigned attempts, const Error& cause) {
  return Error(Errc::retry_exhausted, std::to_string(attempts) + " attempts: " + cause.detail());
}

Task<Result<std::vector<Rows>>> execute(PoolPointer core, Batch statements, CallOptions options) {
  if (statements.empty()) co_return std::vector<Rows>();
  for (const Statement& statement : statements) {
    if (auto valid = check_statement(statement); !valid) co_return valid.error();
  }
  if (options.attempts_max <= 1) {
    co_return co_await run_unit(core, unit_of(*core, std::move(statements), options));
  }
  for (unsigned attempt = 1;; ++attempt) {
    auto outcome = co_await run_unit(core, unit_of(*core, statements, options));
    if (outcome || outcome.error() != Errc::contention) co_return outcome;
    if (attempt >= options.attempts_max) co_return exhausted(attempt, outcome.error());
    const Duration pause = backoff_before(core->options.retry, attempt, core->system.random());
    WEIR_CO_TRY_VOID(co_await sleep_for(pause));
  }
}

Task<Result<Rows>> execute_one(PoolPointer core, Statement statement, CallOptions options) {
  Batch statements;
  statements.push_back(std::move(statement));
  WEIR_CO_TRY(results, co_await execute(std::move(core), std::move(statements), options));
  co_return std::move(results.front());
}

}  // namespace weir::storage::postgres::internal
