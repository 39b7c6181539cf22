#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/working_set.hpp>
#include <weir/tests/flow/workflow/support/board_store.hpp>

namespace weir::flow::workflow::testing {

/// The same for the same numbers.
inline data::Uuid make_uuid(std::uint64_t high, std::uint64_t low) {
  return make_timed_uuid(high, high, low);
}

/// Runs commands on records that are all in memory, as a store without storage; or on those of a
/// store, if the test program has one.
class Board {
 public:
  Time now = Time(std::chrono::hours(24 * 365 * 50));

  Board();

  /// Runs `command(draft)`; what it did is kept if it succeeded.
  template <class Command>
  auto run(Command command) {
    if (store_ != nullptr) return run_stored(std::move(command));
    const std::uint64_t seed = ++seed_ * 0x9e3779b97f4a7c15U;
    for (;;) {
      internal::Draft draft(records_, now, seed);
      auto result = command(draft);
      if (draft.missing().is_empty()) {
        if (result) draft.apply(records_);
        return result;
      }
      learn(draft.missing());
    }
  }

  template <class R>
  const R* find(const internal::KeyOf<R>& key) const {
    if (store_ != nullptr && records_.find<R>(key) == nullptr) {
      internal::Missing asked;
      asked.add<R>(key);
      known_.add<R>(key);
      read(asked);
    }
    const auto* slot = records_.find<R>(key);
    return slot != nullptr && slot->current ? &*slot->current : nullptr;
  }
  /// What has been told since it was last asked.
  std::vector<Notice> take_notices();
  const internal::WorkingSet& records() const noexcept { return records_; }

  void pass(Duration time) { now += std::chrono::duration_cast<Time::duration>(time); }

 private:
  /// What is not in memory is not there.
  void learn(const internal::Missing& missing);

  template <class Command>
  auto run_stored(Command command) {
    auto made = std::make_shared<internal::CommandOf<Command>>(std::move(command));
    store_->run(now, made);
    // Who holds a record sees it change.
    if (!known_.is_empty()) read(known_);
    return made->take();
  }
  void read(const internal::Missing& asked) const;

  BoardStore* const store_ = board_store();
  mutable internal::WorkingSet records_;  // of a store, a copy of those that were asked for
  mutable internal::Missing known_;
  std::uint64_t seed_ = 0;
};

/// How many there is time for: fewer on a store, where each command is a transaction.
inline std::size_t board_size(std::size_t in_memory, std::size_t on_store) {
  return board_store() == nullptr ? in_memory : on_store;
}

}  // namespace weir::flow::workflow::testing
