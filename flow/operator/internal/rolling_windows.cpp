#include <algorithm>
#include <tuple>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>

namespace weir::flow::operators::internal {
namespace {

using Change = OrderedRows::Change;
using Entry = OrderedRows::Entry;

bool has_changed(const Entry& entry) noexcept { return entry.before != entry.after; }

/// For each time that there is, the rows of that time and of a duration before it. State: the rows,
/// as `OrderedRows`.
class RollingOperator final : public Operator {
 public:
  RollingOperator(data::SchemaRef schema, OrderedRows rows, std::int64_t size)
      : Operator(std::move(schema)), rows_(std::move(rows)), size_(size) {}

  void open(State& state) override { rows_.open(state); }

  Result<> apply(const Input& input, Output& out) override {
    data::BatchBuilder given(schema());
    auto done = rows_.for_each_run(
        input.batch, out, [&](const data::ChangeBatch& batch, std::span<const Change>& changes) {
          return roll(batch, changes, given);
        });
    if (!done) return done;
    out.emit(given.finish());
    return {};
  }

 private:
  /// A change is part of the windows that end up to `size_` behind it, and their rows are not
  /// earlier than `size_` before it.
  Result<> roll(const data::ChangeBatch& batch, std::span<const Change>& changes,
                data::BatchBuilder& given) {
    const std::string group = changes.front().group;
    const std::string from = time_bytes(time_of(changes.front().item) - size_);
    std::int64_t last = time_of(changes.front().item);
    auto entries =
        rows_.merge(group, from, batch, changes, [&](const Entry& entry, std::span<const Change>) {
          const std::int64_t time = time_of(entry.item);
          if (has_changed(entry)) last = time;
          return time > last + size_;
        });
    if (!entries) return std::move(entries).error();
    rows_.write(group, *entries);
    changed_.clear();
    for (const Entry& entry : *entries)
      if (has_changed(entry)) changed_.push_back(&entry);
    for (std::size_t begin = 0; begin < entries->size();) {
      const std::int64_t time = time_of((*entries)[begin].item);
      std::size_t end = begin;
      while (end < entries->size() && time_of((*entries)[end].item) == time) ++end;
      if (auto done = give(*entries, begin, end, given); !done) return done;
      begin = end;
    }
    return {};
  }

  /// The window of the time that the entries from `begin` to `end` have.
  Result<> give(const std::vector<Entry>& entries, std::size_t begin, std::size_t end,
                data::BatchBuilder& given) const {
    const std::span<const Entry> own(entries.data() + begin, end - begin);
    const bool was = std::ranges::any_of(own, [](const Entry& row) { return row.before > 0; });
    const bool is = std::ranges::any_of(own, [](const Entry& row) { return row.after > 0; });
    const std::int64_t time = time_of(own.front().item);
    if (was && is) {
      // Of a window that stays only the rows that changed: there may be many windows with many.
      const Entry* until = entries.data() + end;
      const auto first = std::ranges::lower_bound(
          changed_, time - size_, {}, [](const Entry* entry) { return time_of(entry->item); });
      for (auto at = first; at != changed_.end() && *at < until; ++at)
        if (auto done = give(**at, time, (*at)->after - (*at)->before, given); !done) return done;
      return {};
    }
    auto row = std::ranges::lower_bound(entries, time - size_, {},
                                        [](const Entry& entry) { return time_of(entry.item); });
    for (; row != entries.begin() + static_cast<std::ptrdiff_t>(end); ++row)
      if (auto done = give(*row, time, is ? row->after : -row->before, given); !done) return done;
    return {};
  }

  Result<> give(const Entry& row, std::int64_t time, data::Weight weight,
                data::BatchBuilder& given) const {
    if (weight == 0) return {};
    return rows_.give(row.item, time_bytes(time - size_), time_bytes(time), weight, given);
  }

  OrderedRows rows_;
  std::int64_t size_;
  std::vector<const Entry*> changed_;  // of the current run, in order
};

/// For each row, that row and a number of rows before it.
///
///     rows      as `OrderedRows`
///     mirror    the same, each item complemented: to find those before another
class RollingRowsOperator final : public Operator {
 public:
  RollingRowsOperator(data::SchemaRef schema, OrderedRows rows, std::size_t preceding)
      : Operator(std::move(schema)), rows_(std::move(rows)), preceding_(preceding) {}

  void open(State& state) override {
    rows_.open(state);
    mirror_ = &state.add_groups();
  }

  Result<> apply(const Input& input, Output& out) override {
    data::BatchBuilder given(schema());
    auto done = rows_.for_each_run(
        input.batch, out, [&](const data::ChangeBatch& batch, std::span<const Change>& changes) {
          return roll(batch, changes, given);
        });
    if (!done) return done;
    out.emit(given.finish());
    return {};
  }

 private:
  /// Rows of one window that are equal, by their entries.
  struct Part {
    std::size_t row;
    std::size_t first;
    std::size_t last;
    data::Weight weight;

    auto place() const noexcept { return std::tie(row, first, last); }
  };

  /// A change is part of the windows of the rows behind it, and those have rows before it.
  Result<> roll(const data::ChangeBatch& batch, std::span<const Change>& changes,
                data::BatchBuilder& given) {
    const std::string group = changes.front().group;
    auto from = first_before(changes.front());
    if (!from) return std::move(from).error();
    bool has_begun = false;
    std::size_t unchanged = 0;  // since the last change
    auto entries =
        rows_.merge(group, *from, batch, changes, [&](const Entry& entry, std::span<const Change>) {
          if (has_begun && !has_changed(entry) && unchanged >= preceding_) return true;
          has_begun |= has_changed(entry);
          unchanged = has_changed(entry) ? 0 : unchanged + static_cast<std::size_t>(entry.after);
          return false;
        });
    if (!entries) return std::move(entries).error();
    write(group, *entries);
    std::vector<Part> parts;
    add_windows(*entries, &Entry::before, -1, parts);
    add_windows(*entries, &Entry::after, 1, parts);
    return give(*entries, parts, given);
  }

  /// The item that as many rows as a window has before its own are from; empty if there are not so
  /// many.
  Result<std::string> first_before(const Change& change) {
    GroupTable::Group mirror = mirror_->find(change.group);
    const std::string from = complement(change.item);
    auto cursor = mirror.scan(from);
    std::string first = change.item;
    for (data::Weight left = static_cast<data::Weight>(preceding_); left > 0;) {
      auto more = cursor.next();
      if (!more) return std::move(more).error();
      if (!*more) return std::string();
      if (cursor.item() == from) continue;
      auto weight = weight_of(cursor.value());
      if (!weight) return std::move(weight).error();
      left -= *weight;
      first = complement(cursor.item());
    }
    return first;
  }

  void write(std::string_view group, const std::vector<Entry>& entries) {
    rows_.write(group, entries);
    GroupTable::Group mirror = mirror_->find(group);
    std::string value;
    for (const Entry& entry : entries) {
      if (!has_changed(entry)) continue;
      value.clear();
      append_weight(entry.after, value);
      if (entry.after == 0) {
        mirror.remove(complement(entry.item));
      } else {
        mirror.put(complement(entry.item), value);
      }
    }
  }

  /// The windows of the rows from the first change on.
  void add_windows(const std::vector<Entry>& entries, data::Weight Entry::* weight, int sign,
                   std::vector<Part>& parts) const {
    std::vector<std::size_t> rows;
    for (std::size_t entry = 0; entry < entries.size(); ++entry)
      rows.insert(rows.end(), static_cast<std::size_t>(entries[entry].*weight), entry);
    const auto changed =
        static_cast<std::size_t>(std::ranges::find_if(entries, has_changed) - entries.begin());
    for (std::size_t last = 0; last < rows.size(); ++last) {
      if (rows[last] < changed) continue;
      const std::size_t first = last < preceding_ ? 0 : last - preceding_;
      for (std::size_t row = first; row <= last; ++row)
        parts.push_back({rows[row], rows[first], rows[last], sign});
    }
  }

  Result<> give(const std::vector<Entry>& entries, std::vector<Part>& parts,
                data::BatchBuilder& given) const {
    std::ranges::sort(parts, [](const Part& a, const Part& b) { return a.place() < b.place(); });
    for (std::size_t begin = 0; begin < parts.size();) {
      const Part& part = parts[begin];
      data::Weight weight = 0;
      std::size_t end = begin;
      for (; end < parts.size() && parts[end].place() == part.place(); ++end)
        weight += parts[end].weight;
      begin = end;
      if (weight == 0) continue;
      auto done = rows_.give(entries[part.row].item, rows_.order_of(entries[part.first].item),
                             rows_.order_of(entries[part.last].item), weight, given);
      if (!done) return done;
    }
    return {};
  }

  OrderedRows rows_;
  std::size_t preceding_;
  GroupTable* mirror_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Operator>> make_rolling(const Window& window, const data::SchemaRef& input,
                                               const Library& library) {
  const TimeRange range{(data::timestamp_min + window.size).time_since_epoch().count(),
                        data::timestamp_max.time_since_epoch().count()};
  auto rows = OrderedRows::make(window, range, *input, library);
  if (!rows) return std::move(rows).error();
  const bool is_rows = window.form == WindowForm::rolling_rows;
  auto schema =
      window_schema(*input, rows->order_type(), is_rows ? WindowKey::none : WindowKey::with_end);
  if (!schema) return std::move(schema).error();
  if (is_rows) {
    return std::make_unique<RollingRowsOperator>(*std::move(schema), *std::move(rows),
                                                 static_cast<std::size_t>(window.rows));
  }
  return std::make_unique<RollingOperator>(*std::move(schema), *std::move(rows),
                                           window.size.count());
}

}  // namespace weir::flow::operators::internal
