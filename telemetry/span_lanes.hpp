#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <weir/telemetry/pending_span.hpp>
#include <weir/telemetry/span_lane.hpp>

namespace weir::telemetry {

/// The lanes of all threads that record spans, and how spans become records.
class SpanLanes {
 public:
  /// Null if there are so many already.
  std::shared_ptr<SpanLane> add(std::size_t lanes_max) {
    const std::scoped_lock hold(mutex_);
    if (lanes_.size() >= lanes_max) return nullptr;
    return lanes_.emplace_back(std::make_shared<SpanLane>());
  }

  // --- the thread that exports
  /// Calls `visit(const PlainSpan&)` for each span of each lane, and `give_back(number)` for the
  /// room of as many.
  template <class Visit, class GiveBack>
  void take_all(Visit visit, GiveBack give_back) {
    for (const auto& lane : lanes_now()) {
      const bool is_closed = lane->is_closed();
      const std::size_t spans = lane->size();
      give_back(spans);
      lane->take(spans, visit);
      if (!is_closed) continue;
      give_back(lane->room_left());
      remove(lane);
    }
  }

  /// `place` is that of the record in its batch.
  void write(const PlainSpan& span, SpanRecord& record, std::size_t place) {
    PlainSpan::Form& form = form_at(place);
    const bool is_same = form == span.form;
    if (!is_same) form = span.form;
    span.form.write(span, record, is_same);
  }
  void write(PendingSpan& span, SpanRecord& record, std::size_t place) {
    form_at(place) = {};
    span.move_to(record);
  }

 private:
  std::vector<std::shared_ptr<SpanLane>> lanes_now() {
    const std::scoped_lock hold(mutex_);
    return lanes_;
  }
  void remove(const std::shared_ptr<SpanLane>& lane) {
    const std::scoped_lock hold(mutex_);
    std::erase(lanes_, lane);
  }
  PlainSpan::Form& form_at(std::size_t place) {
    if (place >= forms_.size()) forms_.resize(place + 1);
    return forms_[place];
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<SpanLane>> lanes_;

  // Of the thread that exports: of the last span that was written to each place of a batch.
  std::vector<PlainSpan::Form> forms_;
};

}  // namespace weir::telemetry
