#include <weir/telemetry/log_sinks.hpp>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <weir/telemetry/internal/character.hpp>

namespace weir::telemetry {
namespace {

constexpr WallTime ns_per_second = 1'000'000'000;

struct Moment {
  std::string date;  // 2026-11-16
  std::string time;  // 08:30:01
  std::string nanoseconds;
};

std::string digits(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

Moment moment_of(WallTime time) {
  WallTime fraction = time % ns_per_second;
  if (fraction < 0) fraction += ns_per_second;
  const std::time_t seconds = (time - fraction) / ns_per_second;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return {digits(parts.tm_year + 1900, 4) + '-' + digits(parts.tm_mon + 1, 2) + '-' +
              digits(parts.tm_mday, 2),
          digits(parts.tm_hour, 2) + ':' + digits(parts.tm_min, 2) + ':' + digits(parts.tm_sec, 2),
          digits(fraction, 9)};
}

// The path that was compiled says more about the machine that did it than about the program.
std::string_view file_name(const LogRecord& record) noexcept {
  const std::string_view path = record.file ? record.file : "";
  return path.substr(path.rfind('/') + 1);
}

std::string trace_text(const LogRecord& record) { return to_string(record.context.trace); }

std::string span_text(const LogRecord& record) { return to_string(record.context.span); }

// Quotes, which may end a text, are escaped in the texts that stand in quotes.
std::string visible(std::string_view text, bool escapes_quotes) {
  std::string result;
  while (!text.empty()) {
    const internal::Character character = internal::first_character(text);
    const char first = text.front();
    if (first == '\n') {
      result += "\\n";
    } else if (escapes_quotes && (first == '"' || first == '\\')) {
      result += {'\\', first};
    } else if (!character.is_valid || internal::is_control(character.code)) {
      result += internal::escape_of(character, first);
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

bool needs_quotes(std::string_view text) noexcept {
  return text.empty() || text.find_first_of(" =\"\\(){},") != std::string_view::npos;
}

std::string terminal_value(const AttributeValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const double* real = std::get_if<double>(&value)) return internal::number_text(*real);
  const auto& text = std::get<std::string>(value);
  return needs_quotes(text) ? '"' + visible(text, true) + '"' : visible(text, false);
}

std::string_view colour_of(Level level) noexcept {
  switch (level) {
    case Level::trace:
    case Level::debug: return "\x1b[2m";
    case Level::info: return "\x1b[32m";
    case Level::warning: return "\x1b[33m";
    case Level::error: return "\x1b[31m";
    case Level::fatal: return "\x1b[1;31m";
  }
  return "";
}

std::string_view terminal_level(Level level) noexcept {
  switch (level) {
    case Level::trace: return "TRACE";
    case Level::debug: return "DEBUG";
    case Level::info: return "INFO ";
    case Level::warning: return "WARN ";
    case Level::error: return "ERROR";
    case Level::fatal: return "FATAL";
  }
  return "?    ";
}

std::string terminal_fields(const LogRecord& record) {
  std::string text;
  for (const Attribute& attribute : record.attributes) {
    text += ' ' + visible(attribute.name, false) + '=' + terminal_value(attribute.value);
  }
  if (record.context.is_valid()) {
    text += " trace_id=" + trace_text(record) + " span_id=" + span_text(record);
  }
  return text;
}

std::string json_text(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const internal::Character character = internal::first_character(text);
    const char first = text.front();
    if (!character.is_valid) {
      result += internal::replacement;
    } else if (first == '"' || first == '\\') {
      result += {'\\', first};
    } else if (first == '\n') {
      result += "\\n";
    } else if (internal::is_control(character.code)) {
      result += internal::escape_of({.code = character.code, .bytes = 2, .is_valid = true}, first);
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result + '"';
}

std::string json_value(const AttributeValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const double* real = std::get_if<double>(&value)) {
    const std::string text = internal::number_text(*real);
    return std::isfinite(*real) ? text : json_text(text);
  }
  return json_text(std::get<std::string>(value));
}

// One call, during which the stream is locked.
void write_line(std::FILE* stream, std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fflush(stream);
}

}  // namespace

const char* to_string(Level level) noexcept {
  switch (level) {
    case Level::trace: return "trace";
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warning: return "warning";
    case Level::error: return "error";
    case Level::fatal: return "fatal";
  }
  return "?";
}

std::string terminal_line(const LogRecord& record, bool has_colour) {
  const std::string_view dim = has_colour ? "\x1b[2m" : "";
  const std::string_view plain = has_colour ? "\x1b[0m" : "";
  const Moment moment = moment_of(record.time);
  std::string line(dim);
  line += moment.date + ' ' + moment.time + '.' + moment.nanoseconds.substr(0, 3);
  (line += plain) += ' ';
  if (has_colour) line += colour_of(record.level);
  ((line += terminal_level(record.level)) += plain) += ' ';
  line += visible(record.message, false) + terminal_fields(record);
  if (const std::string_view file = file_name(record); !file.empty()) {
    ((line += ' ') += dim) += '(';
    line += visible(file, false) + ':' + std::to_string(record.line);
    (line += ')') += plain;
  }
  return line;
}

std::string json_line(const LogRecord& record) {
  const Moment moment = moment_of(record.time);
  std::string line = "{\"time\":\"" + moment.date + 'T' + moment.time + '.' + moment.nanoseconds +
                     "Z\",\"level\":\"" + to_string(record.level) +
                     "\",\"message\":" + json_text(record.message) + ",\"attributes\":{";
  const char* separator = "";
  for (const Attribute& attribute : record.attributes) {
    line += separator + json_text(attribute.name) + ':' + json_value(attribute.value);
    separator = ",";
  }
  line += '}';
  if (record.context.is_valid()) {
    line += ",\"trace_id\":\"" + trace_text(record) + "\",\"span_id\":\"" + span_text(record) + '"';
  }
  if (const std::string_view file = file_name(record); !file.empty()) {
    line += ",\"file\":" + json_text(file) + ",\"line\":" + std::to_string(record.line);
  }
  return line + '}';
}

bool wants_colour(bool is_terminal, const GetVariable& get_variable) {
  const char* const no_colour = get_variable("NO_COLOR");
  const char* const terminal = get_variable("TERM");
  const bool is_dumb = terminal && std::string_view(terminal) == "dumb";
  return is_terminal && !is_dumb && !(no_colour && *no_colour);
}

LogSink terminal_sink(std::FILE* stream) {
  const auto get_variable = [](const char* name) -> const char* { return std::getenv(name); };
  const bool has_colour = wants_colour(isatty(fileno(stream)) == 1, get_variable);
  return [stream, has_colour](const LogRecord& record) {
    write_line(stream, terminal_line(record, has_colour));
  };
}

LogSink json_sink(std::FILE* stream) {
  return [stream](const LogRecord& record) { write_line(stream, json_line(record)); };
}

LogSink log_sink(std::FILE* stream, Level level) {
  LogSink sink = isatty(fileno(stream)) == 1 ? terminal_sink(stream) : json_sink(stream);
  return [sink = std::move(sink), level](const LogRecord& record) {
    if (record.level >= level) sink(record);
  };
}

}  // namespace weir::telemetry
