#include <weir/telemetry/log.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <weir/telemetry/internal/site_table.hpp>

namespace weir::telemetry {
namespace {

// The loggers whose sinks run on this thread: a sink may write to another logger.
struct Emitting {
  const Logger* logger;
  const Emitting* outer;
};
constinit thread_local const Emitting* emitting = nullptr;

// How long a line that a sink writes to another logger may wait. That one's sink may be waiting for
// this thread: if sinks of two loggers write to each other, somebody has to give up.
constexpr std::chrono::milliseconds patience_within_sink{100};

bool lock_patiently(std::unique_lock<std::mutex>& lock) {
  const auto deadline = std::chrono::steady_clock::now() + patience_within_sink;
  while (!lock.try_lock()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

bool is_emitting(const Logger& logger) noexcept {
  for (const Emitting* each = emitting; each; each = each->outer) {
    if (each->logger == &logger) return true;
  }
  return false;
}

WallTime system_time() {
  using std::chrono::nanoseconds;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(since_1970).count();
}

LoggerOptions completed(LoggerOptions options) {
  if (!options.now) options.now = system_time;
  std::erase_if(options.sinks, [](const LogSink& sink) { return !sink; });
  return options;
}

Attribute to_attribute(const AttributeView& field) {
  const std::string name = Attribute::bounded(field.name);
  return std::visit([&](auto value) { return Attribute(name, value); }, field.value);
}

Attributes to_attributes(AttributeList fields) {
  Attributes attributes;
  attributes.reserve(fields.size());
  for (const AttributeView& field : fields) {
    Attribute added = to_attribute(field);
    std::erase_if(attributes, [&](const Attribute& other) { return other.name == added.name; });
    attributes.push_back(std::move(added));
  }
  return attributes;
}

}  // namespace

Logger::Logger(LoggerOptions options)
    : options_(completed(std::move(options))),
      sites_(std::make_unique<internal::SiteTable>(options_.lines_per_second)),
      level_(options_.level) {}

Logger::~Logger() = default;

void Logger::write(const LogRecord& record) {
  if (is_enabled(record.level)) emit(record);
}

void Logger::write(Level level, std::string_view message, AttributeList fields, const Site& site) {
  const WallTime now = options_.now();
  const internal::SiteTable::Verdict verdict = sites_->admit(site, level, now);
  if (!verdict.is_admitted) return;
  if (verdict.report.suppressed > 0) write_suppressed(verdict.report, now);
  LogRecord record;
  record.time = now;
  record.level = level;
  record.message = Attribute::bounded(message);
  record.attributes = to_attributes(fields);
  if (options_.context) record.context = options_.context();
  record.file = site.file_name();
  record.line = site.line();
  emit(record);
}

void Logger::report_suppressed() {
  const WallTime now = options_.now();
  sites_->take_reports([&](const internal::SiteReport& report) { write_suppressed(report, now); });
}

void Logger::write_suppressed(const internal::SiteReport& report, WallTime now) {
  LogRecord record;
  record.time = now;
  record.level = report.level;
  record.message =
      std::to_string(report.suppressed) +
      (report.suppressed == 1 ? " similar line suppressed" : " similar lines suppressed");
  record.attributes = {{"suppressed", report.suppressed}};
  record.file = report.file;
  record.line = report.line;
  emit(record);
}

void Logger::emit(const LogRecord& record) {
  if (is_emitting(*this)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!emitting) {
    lock.lock();
  } else if (!lock_patiently(lock)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Emitting self{.logger = this, .outer = emitting};
  emitting = &self;
  for (const LogSink& sink : options_.sinks) {
    try {
      sink(record);
    } catch (...) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  emitting = self.outer;
}

}  // namespace weir::telemetry
