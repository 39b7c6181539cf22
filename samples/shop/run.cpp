#include <weir/samples/shop/run.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weir/runtime/actor_system.hpp>
#include <weir/samples/shop/shop.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/log_sinks.hpp>
#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace shop {
namespace {

using weir::Result;
using weir::storage::Store;

/// What is kept is in a directory of its own, so that beginning anew removes nothing else.
Result<Store> open_store(weir::ActorSystem& system, const Options& options) {
  const std::filesystem::path directory = options.directory / "store";
  std::error_code failed;
  std::filesystem::create_directories(options.directory, failed);
  if (failed) return weir::Error(failed, options.directory.string());
  if (options.begins_anew) {
    // Opened first: what somebody else has open is not removed.
    if (const auto old = Store::open(system, {.directory = directory});
        !old && old.error() == weir::storage::Errc::locked) {
      return old.error();
    }
    std::filesystem::remove_all(directory, failed);
    if (failed) return weir::Error(failed, directory.string());
  }
  return Store::open(system, {.directory = directory});
}

/// Who is cancelled gives up what it asked for: that is how the shop closes, and nothing to tell.
void tell_undelivered(weir::telemetry::Logger& logger, const weir::DeadLetter& letter) {
  using Reason = weir::DeadLetterReason;
  if (letter.reason == Reason::abandoned || letter.reason == Reason::late_reply) return;
  logger.warning("dead letter", {{"weir.message.type", letter.message},
                                 {"weir.actor.type", letter.actor_type},
                                 {"weir.reason", to_string(letter.reason)}});
}

}  // namespace

int run(const Options& options) {
  const auto telemetry_options = weir::telemetry::options_from_environment(
      [](const char* name) { return std::getenv(name); }, {.measures_always = true});
  weir::telemetry::Telemetry telemetry(
      telemetry_options, weir::telemetry::otel::make_exporters(telemetry_options),
      {weir::telemetry::log_sink(stderr, weir::telemetry::Level::warning)});
  weir::ActorSystem system({.name = "shop",
                            .telemetry = &telemetry,
                            .on_dead_letter = [&telemetry](const weir::DeadLetter& letter) {
                              tell_undelivered(telemetry.logger(), letter);
                            }});
  Result<Store> store = open_store(system, options);
  if (!store) {
    std::fprintf(stderr, "shop: %s\n", store.error().message().c_str());
    return 1;
  }
  const auto opened = static_cast<unsigned long long>(store->version().number);
  std::printf("shop: open, with what is in %s as of version %llu\n", options.directory.c_str(),
              opened);
  std::fflush(stdout);
  const Result<bool> is_right = system.run(keep_shop(&*store, options));
  if (!is_right) std::fprintf(stderr, "shop: %s\n", is_right.error().message().c_str());
  const auto closed = static_cast<unsigned long long>(store->version().number);
  std::printf("shop: closed as of version %llu\n", closed);
  return is_right && *is_right ? 0 : 1;
}

}  // namespace shop
