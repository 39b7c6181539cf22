#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include <weir/telemetry/log.hpp>
#include <weir/telemetry/options.hpp>

namespace weir::telemetry {

/// `trace`, `debug`, `info`, `warning`, `error` or `fatal`.
const char* to_string(Level level) noexcept;

/// A line for people, without its end:
///
///   2026-11-16 08:30:01.123 INFO  charged cents=100 by="a b" trace_id=... span_id=...
///   (bank.cpp:17)
///
/// Whatever a text holds, it stays one line and does nothing to a terminal.
std::string terminal_line(const LogRecord& record, bool has_colour);

/// A line for programs, without its end: one JSON object (RFC 8259, UTF-8) with `time` (RFC 3339,
/// nanoseconds), `level`, `message`, `attributes`, `trace_id` and `span_id` if there is a span,
/// `file` and `line`. What is no UTF-8 becomes U+FFFD; numbers that JSON does not have become
/// texts.
std::string json_line(const LogRecord& record);

/// Colours are for terminals whose user has not said `NO_COLOR` (https://no-color.org) and that are
/// not `dumb`.
bool wants_colour(bool is_terminal, const GetVariable& get_variable);

/// Write to a stream, which must stay open; each line at once, and whole even if others write to
/// the same stream. The terminal's looks at the stream and the environment to choose colours.
LogSink terminal_sink(std::FILE* stream = stderr);
LogSink json_sink(std::FILE* stream = stdout);
/// The one of both that suits the stream: for people if it is a terminal, else for programs. Lines
/// below a level are left to the other sinks.
LogSink log_sink(std::FILE* stream = stderr, Level level = Level::trace);

}  // namespace weir::telemetry
