#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <string_view>
#include <vector>

#include <weir/telemetry/log_record.hpp>

namespace weir::telemetry {

namespace internal {
class SiteTable;
struct SiteReport;
}  // namespace internal

/// Takes log lines away. Called by one thread at a time; while it runs, other threads that log
/// wait, so one that may take long puts the record into a queue instead.
using LogSink = std::function<void(const LogRecord&)>;

struct LoggerOptions {
  /// Lines below are not written.
  Level level = Level::info;
  /// Of one place in the code; what is beyond is counted and summed up in a line of its own before
  /// the next line of that place in a later second, or by `report_suppressed`. Zero: no limit.
  std::uint32_t lines_per_second = 10;
  std::vector<LogSink> sinks;
  /// Nanoseconds since 1970; the system's clock if empty.
  std::function<WallTime()> now;
  /// The span in which a line is written, if the thread is in one.
  std::function<TraceContext()> context;
};

/// Writes structured lines: `logger.info("charged", {{"cents", 100}})`.
///
/// The message is a constant that says what happened; what varies stands in the fields, of which
/// each name is kept once, with its last value. Usable from any thread. Lines of one logger come
/// one after the other to each sink. A sink that throws loses the line, and so does one that logs
/// to the logger it serves; both are counted.
class Logger {
 public:
  using Site = std::source_location;

  explicit Logger(LoggerOptions options);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool is_enabled(Level level) const noexcept {
    return level >= level_.load(std::memory_order_relaxed);
  }
  /// Whether a line goes anywhere.
  bool has_sinks() const noexcept { return !options_.sinks.empty(); }
  Level level() const noexcept { return level_.load(std::memory_order_relaxed); }
  void set_level(Level level) noexcept { level_.store(level, std::memory_order_relaxed); }

  void trace(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::trace, message, fields, site);
  }
  void debug(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::debug, message, fields, site);
  }
  void info(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::info, message, fields, site);
  }
  void warning(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::warning, message, fields, site);
  }
  void error(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::error, message, fields, site);
  }
  void fatal(std::string_view message, AttributeList fields = {}, Site site = Site::current()) {
    log(Level::fatal, message, fields, site);
  }
  void log(Level level, std::string_view message, AttributeList fields = {},
           Site site = Site::current()) {
    if (is_enabled(level)) write(level, message, fields, site);
  }

  /// Writes a line that was made elsewhere, if its level is enabled, and without a limit.
  void write(const LogRecord& record);

  /// Writes what has been suppressed so far and not said yet: before a stop, or now and then.
  void report_suppressed();

  /// Lines that a sink did not take.
  std::uint64_t lost_lines() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  void write(Level level, std::string_view message, AttributeList fields, const Site& site);
  void write_suppressed(const internal::SiteReport& report, WallTime now);
  void emit(const LogRecord& record);

  const LoggerOptions options_;
  const std::unique_ptr<internal::SiteTable> sites_;
  std::atomic<Level> level_;
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;  // held while a sink runs
};

}  // namespace weir::telemetry
