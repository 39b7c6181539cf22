#pragma once

#include <utility>

#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>

namespace weir::flow::workflow::testing {

/// The same for the same numbers.
inline data::Uuid make_uuid(std::uint64_t high, std::uint64_t low) {
  return make_timed_uuid(high, high, low);
}

/// Runs commands on records that are all in memory, as a store without storage.
class Board {
 public:
  Time now = Time(std::chrono::hours(24 * 365 * 50));

  /// Runs `command(draft)`; what it did is kept if it succeeded.
  template <class Command>
  auto run(Command command) {
    const std::uint64_t seed = ++seed_ * 0x9e3779b97f4a7c15U;
    for (;;) {
      internal::Draft draft(records_, now, seed);
      auto result = command(draft);
      if (draft.missing().is_empty()) {
        if (result) std::move(draft).apply(records_);
        return result;
      }
      learn(draft.missing());
    }
  }

  template <class R>
  const R* find(const internal::KeyOf<R>& key) const {
    const auto* slot = records_.find<R>(key);
    return slot != nullptr && slot->current ? &*slot->current : nullptr;
  }
  /// What has been told since it was last asked.
  std::vector<Notice> take_notices() {
    std::vector<Notice> notices = records_.notices();
    records_.note_taken();
    return notices;
  }
  const internal::WorkingSet& records() const noexcept { return records_; }

  void pass(Duration time) { now += std::chrono::duration_cast<Time::duration>(time); }

 private:
  /// What is not in memory is not there.
  void learn(const internal::Missing& missing) {
    missing.each([&](const auto& list) {
      using Record = typename std::remove_cvref_t<decltype(list)>::Record;
      for (const auto& key : list.keys) records_.add<Record>(key, std::nullopt);
    });
  }

  internal::WorkingSet records_;
  std::uint64_t seed_ = 0;
};

}  // namespace weir::flow::workflow::testing
