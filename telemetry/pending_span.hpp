#pragma once

#include <weir/telemetry/batch_queue.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

/// A span that has ended, in the form in which its maker found it cheapest to keep. The thread that
/// exports it makes it a record.
class PendingSpan : public Queued<PendingSpan> {
 public:
  virtual ~PendingSpan() = default;
  /// Called once. The record may be that of a span before, whose memory can be used again: all of
  /// it is replaced.
  virtual void move_to(SpanRecord& record) = 0;
};

}  // namespace weir::telemetry
