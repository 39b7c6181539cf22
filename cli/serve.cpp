#include <weir/cli/serve.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <boost/asio/signal_set.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/audit_file.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/files.hpp>
#include <weir/cli/progress.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/asio.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/log_sinks.hpp>
#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::cli {
namespace {

using flow::view::Database;
using flow::workflow::Engine;
using server::Gateway;
using server::GatewayOptions;
using storage::Store;

Duration to_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

storage::StoreOptions store_options(const ServeOptions& options) {
  storage::StoreOptions made{.directory = options.directory};
  if (options.durability == "buffered") made.durability = storage::Durability::buffered();
  if (options.durability == "memory") made.durability = storage::Durability::memory();
  made.retention.history = to_duration(options.history_seconds);
  made.memory_budget = options.memory_mebibytes << 20U;
  return made;
}

Result<GatewayOptions> gateway_options(const ServeOptions& options) {
  GatewayOptions made{.address = options.address, .port = options.port};
  made.drain = to_duration(options.drain_seconds);
  if (!options.tokens_file.empty()) {
    const auto content = read_file(options.tokens_file);
    if (!content) return content.error();
    auto tokens = server::parse_tokens(*content);
    if (!tokens) {
      return Error(Errc::usage, options.tokens_file.string() + ": " + tokens.error().detail());
    }
    made.tokens = *std::move(tokens);
  }
  if (options.certificate_file.empty() != options.key_file.empty())
    return Error(Errc::usage, "--tls-certificate and --tls-key belong together: give both");
  if (!options.key_file.empty()) {
    made.tls = {.certificate_file = options.certificate_file.string(),
                .key_file = options.key_file.string()};
  }
  if (!options.audit_file.empty()) {
    auto file = AuditFile::open(options.audit_file);
    if (!file) return file.error();
    made.audit = [to = *file](const server::AuditRecord& record) { to->write(record); };
  }
  return made;
}

Error explain_start(const Error& error, const ServeOptions& options) {
  if (error == server::Errc::cannot_listen) {
    return {Errc::failed, "cannot listen on " + error.detail() +
                              ": is another server there? --port names another port, "
                              "0 any that is free"};
  }
  if (error == server::Errc::needs_tokens) {
    return {Errc::usage, options.address +
                             " can be reached by others: say with --tokens who may "
                             "call; `weir token make` makes a token"};
  }
  if (error == server::Errc::bad_certificate) {
    return {Errc::usage, error.detail() + ": look at --tls-certificate and --tls-key"};
  }
  return {error.code() == server::Errc::invalid_argument ? Errc::usage : Errc::failed,
          error.detail()};
}

void tell_started(const Gateway& gateway, const Store& store, const ServeOptions& options,
                  Output& output) {
  if (output.is_json()) {
    output.line(boost::json::serialize(boost::json::value{{"url", gateway.url()},
                                                          {"directory", options.directory.string()},
                                                          {"version", store.version().number}}));
  } else {
    output.line(gateway.url());
    output.line("serving " + options.directory.string() + " as of version " +
                std::to_string(store.version().number) + "; Ctrl-C ends it");
  }
  // Told when it ends: who is served is not to suffer from it.
  static_cast<void>(output.flush());
}

void tell_stopped(const Store& store, std::size_t cut_off, Output& output) {
  if (output.is_json()) {
    output.line(boost::json::serialize(boost::json::value{
        {"stopped", true}, {"version", store.version().number}, {"cut_off", cut_off}}));
  } else {
    output.line("stopped as of version " + std::to_string(store.version().number));
  }
}

/// Until a signal comes. The requests that were cut off then.
Task<Result<std::size_t>> serve_until_signal(server::Served served, const ServeOptions* options,
                                             GatewayOptions gateway_how,
                                             std::optional<Progress>* opening, Output* output) {
  auto gateway = Gateway::start(served, std::move(gateway_how));
  if (!gateway) co_return explain_start(gateway.error(), *options);
  {
    // Before anybody is told that it runs. A second signal then ends the process at once.
    boost::asio::signal_set signals(io_context(served.store->system()), SIGINT, SIGTERM);
    opening->reset();
    tell_started(*gateway, *served.store, *options, *output);
    static_cast<void>(co_await signals.async_wait(use_task));
  }
  const auto drained = co_await gateway->stop();
  co_return drained ? drained->cut_off : 0;
}

/// What was opened is closed in any case: nothing of it may go on when the store ends.
Task<Result<>> keep_serving(Store* store, const ServeOptions* options, GatewayOptions gateway_how,
                            std::optional<Progress>* opening, Output* output) {
  WEIR_CO_TRY(database, co_await Database::open(store));
  auto engine = co_await Engine::open(store);
  Result<std::size_t> cut_off = 0;
  Result<> closed;
  if (engine) {
    cut_off = co_await serve_until_signal({store, &database, &*engine}, options,
                                          std::move(gateway_how), opening, output);
    closed = co_await engine->close();
  }
  if (auto views = co_await database.close(); closed) closed = std::move(views);
  if (auto all = co_await store->close(); closed) closed = std::move(all);
  if (!engine) co_return engine.error();
  if (!cut_off) co_return cut_off.error();
  if (!closed) co_return closed;
  tell_stopped(*store, *cut_off, *output);
  co_return {};
}

/// As the environment says; and there is a page of metrics, so there is something on it.
telemetry::TelemetryOptions telemetry_options() {
  return telemetry::options_from_environment([](const char* name) { return std::getenv(name); },
                                             {.measures_always = true});
}

/// Who is cancelled gives up what it asked for: that is how clients leave, and nothing to tell.
void tell_undelivered(telemetry::Logger& logger, const DeadLetter& letter) {
  using Reason = DeadLetterReason;
  if (letter.reason == Reason::abandoned || letter.reason == Reason::late_reply) return;
  logger.warning("dead letter", {{"weir.message.type", letter.message},
                                 {"weir.actor.type", letter.actor_type},
                                 {"weir.reason", to_string(letter.reason)}});
}

}  // namespace

Result<> serve(const ServeOptions& options, Output& output) {
  auto gateway_how = gateway_options(options);
  if (!gateway_how) return gateway_how.error();
  const auto how = telemetry_options();
  // A line of the audit for each change would hide the others; those go to the exporter, or a file.
  telemetry::Telemetry telemetry(how, telemetry::otel::make_exporters(how),
                                 {telemetry::log_sink(stderr, telemetry::Level::warning)});
  ActorSystem system({.name = "weir",
                      .threads = options.threads,
                      .telemetry = &telemetry,
                      .on_dead_letter = [&telemetry](const DeadLetter& letter) {
                        tell_undelivered(telemetry.logger(), letter);
                      }});
  // Until it is served: the log is read again, and views catch up.
  std::optional<Progress> opening("opening " + options.directory.string());
  auto store = Store::open(system, store_options(options));
  if (!store) return explain(store.error(), options.directory);
  auto served =
      system.run(keep_serving(&*store, &options, *std::move(gateway_how), &opening, &output));
  if (served || served.error().code().category() == cli_category()) return served;
  return explain(served.error(), options.directory);
}

}  // namespace weir::cli
