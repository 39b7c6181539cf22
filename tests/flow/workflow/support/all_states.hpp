#pragma once

#include <vector>

#include <weir/flow/workflow/transition.hpp>

namespace weir::flow::workflow::testing {

template <class E>
std::vector<E> all() {
  std::vector<E> values;
  for (std::size_t i = 1; i <= words<E>.size(); ++i) values.push_back(static_cast<E>(i));
  return values;
}

/// Every combination of parts, possible or not.
inline std::vector<StateVector> all_vectors() {
  std::vector<StateVector> vectors;
  for (const auto phase : all<Phase>())
    for (const auto ownership : all<Ownership>())
      for (const auto eligibility : all<Eligibility>())
        for (const auto reason : all<BlockingReason>())
          for (const auto outcome : all<Outcome>())
            for (const auto attempt : all<AttemptState>())
              vectors.push_back({phase, ownership, eligibility, reason, outcome, attempt});
  return vectors;
}

/// Every event, with every reason.
inline std::vector<Event> all_events() {
  std::vector<Event> events;
  for (const auto kind : all<EventKind>()) {
    const bool has_reason =
        kind == EventKind::block || kind == EventKind::unblock || kind == EventKind::suspend;
    if (!has_reason) events.push_back({kind});
    for (const auto reason : all<BlockingReason>()) {
      if (has_reason) events.push_back({kind, reason});
    }
  }
  return events;
}

}  // namespace weir::flow::workflow::testing
