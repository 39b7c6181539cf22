#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/window.hpp>

// What windows that close remember, each a part of their operator's state.
namespace weir::flow::operators::internal {

/// Before all times, and all ends of windows.
inline constexpr std::int64_t nothing_closed = std::numeric_limits<std::int64_t>::min();

/// How far times have come, in microseconds. It never goes back. While a flow takes the rows that
/// were there before it, it does not move, so that none of them is late.
///
///     no key: the watermark, a timestamp as in a key
///     "held": where it goes as soon as it moves
class Watermark {
 public:
  explicit Watermark(const Window& window) noexcept : lateness_(window.lateness) {}

  void open(State& state) { table_ = &state.add_table(); }
  /// `nothing_closed` if there is none yet.
  Result<std::int64_t> current();
  /// What it is then.
  Result<std::int64_t> advance(std::int64_t to, const Output& out);

  /// Where the rows that came bring it.
  std::int64_t after(const data::ChangeBatch& batch,
                     std::span<const std::int64_t> times) const noexcept;
  /// Where the clock brings it.
  std::int64_t at(data::Timestamp now) const noexcept;

 private:
  Result<std::int64_t> read(std::string_view key);

  std::optional<std::chrono::microseconds> lateness_;
  StateTable* table_ = nullptr;
};

/// Rows of windows that are given when they close.
///
///     end, start, row: how often it is there
class WaitingRows {
 public:
  void open(State& state) { rows_ = &state.add_groups(); }
  /// Changes of rows whose last columns are their window, each once.
  Result<> add(const data::ChangeBatch& batch);
  /// Gives those whose windows end at `until` or before.
  Result<> close(std::int64_t until, const data::SchemaRef& schema, Output& out);

 private:
  GroupTable* rows_ = nullptr;
  std::string bytes_;  // to use its memory again
};

/// Groups by when something is to be done about them.
///
///     due     time, group: no value
///     times   group: its time
class DueGroups {
 public:
  void open(State& state) {
    due_ = &state.add_groups();
    times_ = &state.add_table();
  }
  /// At this time, if not earlier.
  Result<> mark(std::string_view group, std::int64_t time);
  /// Those that are due by then; they are not any more.
  Result<std::vector<std::string>> take(std::int64_t until);

 private:
  GroupTable* due_ = nullptr;
  StateTable* times_ = nullptr;
};

}  // namespace weir::flow::operators::internal
