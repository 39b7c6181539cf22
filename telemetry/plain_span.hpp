#pragma once

#include <cstdint>

#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

/// A span that has ended and consists of numbers, and of what lives as long as the process. Most
/// do: they are copied to where the thread that exports finds them, which makes them records.
///
/// So aligned, none of a ring touches more than two cache lines.
struct alignas(32) PlainSpan {
  /// Replaces all of a record; only the numbers if the record was that of a span of the same form.
  using Write = void (*)(const PlainSpan& span, SpanRecord& record, bool has_same_form);

  /// What spans have in common that differ in nothing but numbers.
  struct Form {
    Write write = nullptr;
    const void* actor_type = nullptr;
    const void* message_type = nullptr;
    bool is_linked = false;
    bool drops_link = false;
    bool has_waited = false;

    friend bool operator==(const Form&, const Form&) = default;
  };

  Form form;
  TraceId trace;
  SpanId id;
  SpanId parent;
  std::uint64_t actor = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t wait = 0;
};

}  // namespace weir::telemetry
