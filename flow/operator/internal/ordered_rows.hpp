#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/window_order.hpp>
#include <weir/flow/operator/window.hpp>

namespace weir::flow::operators::internal {

/// Adds the weight of a row to that of an item. `unknown_row` if less than nothing is left.
Result<> add_weight(GroupTable::Group& group, std::string_view item, const data::ChangeBatch& batch,
                    std::size_t row);

/// Bytes whose order is the opposite, of items that do not begin with each other.
std::string complement(std::string_view bytes);

/// The bytes of a time that is not null.
inline constexpr std::size_t time_size = 9;

/// The time at the beginning of an item, which has no null, and the bytes of a time.
std::int64_t time_of(std::string_view item) noexcept;
std::string time_bytes(std::int64_t time);

/// Whether windows of this form have an end by time, not by rows.
bool is_by_time(WindowForm form) noexcept;

/// The rows of groups, in the order that windows go by.
///
///     item    the order, then all columns of the row
///     value   how often it is there
class OrderedRows {
 public:
  /// What becomes of one row in a cycle.
  struct Change {
    std::string group;
    std::string item;
    std::size_t row;  // in the batch
  };
  struct Changes {
    data::ChangeBatch batch;
    std::vector<Change> rows;  // by group and item, each once
  };
  /// A row that is there before the cycle or after it.
  struct Entry {
    std::string item;
    data::Weight before;
    data::Weight after;
  };

  /// Rows of one window that are equal, by their entries and those of its first and last row.
  struct Part {
    std::size_t row;
    std::size_t first;
    std::size_t last;
    data::Weight weight;

    auto place() const noexcept { return std::tie(row, first, last); }
  };
  /// The first rows of a group, if it is ordered by time.
  struct Front {
    std::vector<Entry> rows = {};
    data::Weight count = 0;                 // of all these
    std::optional<std::int64_t> next = {};  // the time of the row behind them
  };

  static Result<OrderedRows> make(const Window& window, const data::Schema& input,
                                  const Library& library);
  /// The times all of whose windows can be written down.
  static TimeRange range_of(const Window& window) noexcept;

  data::DataType order_type() const noexcept { return order_.type(); }
  void open(State& state) { rows_ = &state.add_groups(); }

  Result<Changes> changes(const data::ChangeBatch& batch, Output& out) const;
  /// Calls `step(batch, changes, given)` with those of each group, in order, again and again until
  /// it has taken them all, and emits what it gave, rows of `schema`.
  template <class Step>
  Result<> apply(const data::ChangeBatch& input, const data::SchemaRef& schema, Output& out,
                 Step step);
  GroupTable::Group find(std::string_view group) { return rows_->find(group); }

  /// The changes of one group and the rows that are there from `from` on, in order, until
  /// `is_enough(entry, changes behind it)`, asked for each in turn, is true for one that is not
  /// changed. Takes the changes that it met.
  template <class IsEnough>
  Result<std::vector<Entry>> merge(std::string_view group, std::string_view from,
                                   const data::ChangeBatch& batch, std::span<const Change>& changes,
                                   IsEnough is_enough);
  /// Makes the changes of these rows.
  void write(std::string_view group, const std::vector<Entry>& entries);

  /// Those until a time, and at it.
  Result<Front> front(std::string_view group, std::int64_t until);
  /// Lets the first `count` of these go.
  static void take(std::vector<Entry>& rows, data::Weight count) noexcept;

  /// The order of an item, as bytes.
  std::string_view order_of(std::string_view item) const noexcept;
  /// Adds the row of an item, in a window whose bounds are bytes.
  Result<> give(std::string_view item, std::string_view start, std::string_view end,
                data::Weight weight, data::BatchBuilder& out) const;
  /// Adds all that is left of them, each once.
  Result<> give(const std::vector<Entry>& entries, std::vector<Part>& parts,
                data::BatchBuilder& out) const;

 private:
  OrderedRows(WindowOrder order, std::vector<std::size_t> per, std::size_t columns)
      : order_(std::move(order)), per_(std::move(per)), columns_(columns) {}
  static Result<data::Weight> weight_after(data::Weight before, const data::ChangeBatch& batch,
                                           std::size_t row);

  WindowOrder order_;
  std::vector<std::size_t> per_;
  std::size_t columns_;  // of a row
  GroupTable* rows_ = nullptr;
};

/// The changes of the group that comes first; `all` loses them.
std::span<const OrderedRows::Change> take_group(std::span<const OrderedRows::Change>& all) noexcept;

template <class Step>
Result<> OrderedRows::apply(const data::ChangeBatch& input, const data::SchemaRef& schema,
                            Output& out, Step step) {
  auto changes = this->changes(input, out);
  if (!changes) return std::move(changes).error();
  data::BatchBuilder given(schema);
  std::span<const Change> all = changes->rows;
  while (!all.empty()) {
    for (std::span<const Change> group = take_group(all); !group.empty();)
      if (auto done = step(changes->batch, group, given); !done) return done;
  }
  out.emit(given.finish());
  return {};
}

template <class IsEnough>
Result<std::vector<OrderedRows::Entry>> OrderedRows::merge(std::string_view group,
                                                           std::string_view from,
                                                           const data::ChangeBatch& batch,
                                                           std::span<const Change>& changes,
                                                           IsEnough is_enough) {
  std::vector<Entry> entries;
  GroupTable::Group rows = find(group);
  auto cursor = rows.scan(from);
  auto more = cursor.next();
  for (;;) {
    if (!more) return std::move(more).error();
    if (!*more && changes.empty()) break;
    const bool is_change = !changes.empty() && (!*more || changes.front().item <= cursor.item());
    const bool is_row = *more && (!is_change || changes.front().item == cursor.item());
    Entry entry{std::string(is_change ? changes.front().item : cursor.item()), 0, 0};
    if (is_row) {
      auto weight = weight_of(cursor.value());
      if (!weight) return std::move(weight).error();
      entry.before = entry.after = *weight;
    }
    if (is_change) {
      auto after = weight_after(entry.before, batch, changes.front().row);
      if (!after) return std::move(after).error();
      entry.after = *after;
      changes = changes.subspan(1);
    }
    const bool is_done = is_enough(entry, changes);
    if (is_done && !is_change) break;
    entries.push_back(std::move(entry));
    if (is_row) more = cursor.next();
  }
  return entries;
}

}  // namespace weir::flow::operators::internal
