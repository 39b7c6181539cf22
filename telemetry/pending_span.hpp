#pragma once

#include <weir/telemetry/batch_queue.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

/// A span that has ended, in the form in which its maker found it cheapest to keep. The thread that
/// exports it makes it a record.
class PendingSpan : public Queued<PendingSpan> {
 public:
  virtual ~PendingSpan() = default;
  virtual SpanRecord take_record() = 0;
};

}  // namespace weir::telemetry
