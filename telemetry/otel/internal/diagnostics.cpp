#include <weir/telemetry/otel/internal/diagnostics.hpp>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include <opentelemetry/sdk/common/global_log_handler.h>

#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/otel/internal/quiet_writing.hpp>

namespace weir::telemetry::otel {
namespace {

namespace internal_log = opentelemetry::sdk::common::internal_log;

std::atomic<std::uint64_t> complaint_count{0};
std::atomic<std::chrono::steady_clock::rep> next_line{0};

// A collector that is away makes every batch fail: a line now and then is enough.
bool is_line_due() noexcept {
  using std::chrono::steady_clock;
  constexpr steady_clock::duration pause = std::chrono::seconds{10};
  const auto now = steady_clock::now().time_since_epoch().count();
  auto next = next_line.load(std::memory_order_relaxed);
  return now >= next &&
         next_line.compare_exchange_strong(next, now + pause.count(), std::memory_order_relaxed);
}

void complain_of(const char* message) noexcept {
  const std::uint64_t count = complaint_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!is_line_due()) return;
  const QuietWriting quiet;
  std::fprintf(stderr, "weir: telemetry: %s (complaint %" PRIu64 ")\n", message, count);
}

class ComplainingHandler final : public internal_log::LogHandler {
 public:
  void Handle(internal_log::LogLevel, const char*, int, const char* message,
              const opentelemetry::sdk::common::AttributeMap&) noexcept override {
    complain_of(message != nullptr ? message : "");
  }
};

}  // namespace

void complain(const std::string& message) noexcept { complain_of(message.c_str()); }

void take_library_complaints() {
  // Global and unguarded inside OpenTelemetry, so it is set once, before the first exporter runs.
  static std::once_flag once;
  std::call_once(once, [] {
    using internal_log::GlobalLogHandler;
    const auto current = GlobalLogHandler::GetLogHandler();
    const bool is_handled =
        current.get() != nullptr &&
        dynamic_cast<internal_log::DefaultLogHandler*>(current.get()) == nullptr;
    if (is_handled) return;
    GlobalLogHandler::SetLogHandler(
        opentelemetry::nostd::shared_ptr<internal_log::LogHandler>(new ComplainingHandler));
    GlobalLogHandler::SetLogLevel(internal_log::LogLevel::Warning);
  });
}

std::uint64_t complaints() noexcept { return complaint_count.load(std::memory_order_relaxed); }

}  // namespace weir::telemetry::otel
