#include <algorithm>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>

namespace weir::flow::operators::internal {
namespace {

using Change = OrderedRows::Change;
using Entry = OrderedRows::Entry;
using Part = OrderedRows::Part;

bool has_changed(const Entry& entry) noexcept { return entry.before != entry.after; }

/// For each time that there is, the rows of that time and of a duration before it; windows that
/// slide have another one for each time that is the duration behind a row, and do not have their
/// start. State: the rows, as `OrderedRows`.
class RollingOperator final : public GroupedWindows {
 public:
  RollingOperator(data::SchemaRef schema, OrderedRows rows, std::int64_t size, bool slides)
      : GroupedWindows(std::move(schema)), rows_(std::move(rows)), size_(size), slides_(slides) {}

  void open(State& state) override { rows_.open(state); }

  Result<> apply(const Input& input, Output& out) override {
    return rows_.apply(input.batch, schema(), out,
                       [this](const data::ChangeBatch& batch, std::span<const Change>& changes,
                              data::BatchBuilder& given) { return roll(batch, changes, given); });
  }

  Result<std::optional<std::int64_t>> forget(std::string_view group,
                                             std::int64_t closed_until) override {
    auto front = rows_.front(group, closed_until - size_);
    if (!front) return std::move(front).error();
    OrderedRows::take(front->rows, front->count);
    rows_.write(group, front->rows);
    return front->next ? std::optional(*front->next + size_) : std::nullopt;
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
    for (const std::int64_t end : ends(*entries, last + size_))
      if (auto done = give(*entries, end, given); !done) return done;
    return {};
  }

  /// Where windows of these rows may end, not behind `until`.
  std::vector<std::int64_t> ends(const std::vector<Entry>& entries, std::int64_t until) const {
    std::vector<std::int64_t> ends;
    for (const Entry& entry : entries) {
      const std::int64_t time = time_of(entry.item);
      if (ends.empty() || ends.back() != time) ends.push_back(time);
    }
    if (!slides_) return ends;
    const std::size_t times = ends.size();
    for (std::size_t at = 0; at < times && ends[at] + size_ <= until; ++at)
      ends.push_back(ends[at] + size_);
    std::ranges::sort(ends);
    ends.erase(std::ranges::unique(ends).begin(), ends.end());
    return ends;
  }

  /// Those from one time to another, both with it.
  static std::span<const Entry> between(const std::vector<Entry>& entries, std::int64_t from,
                                        std::int64_t until) {
    const auto time = [](const Entry& entry) { return time_of(entry.item); };
    return {std::ranges::lower_bound(entries, from, {}, time),
            std::ranges::upper_bound(entries, until, {}, time)};
  }

  /// Whether a window ends there.
  bool has_window(const std::vector<Entry>& entries, std::int64_t end,
                  data::Weight Entry::* weight) const {
    const auto has_row = [&](std::int64_t time) {
      return std::ranges::any_of(between(entries, time, time),
                                 [&](const Entry& row) { return row.*weight > 0; });
    };
    return has_row(end) || (slides_ && has_row(end - size_));
  }

  /// What became of the window that ends there.
  Result<> give(const std::vector<Entry>& entries, std::int64_t end,
                data::BatchBuilder& given) const {
    const bool was = has_window(entries, end, &Entry::before);
    const bool is = has_window(entries, end, &Entry::after);
    const std::span<const Entry> rows = between(entries, end - size_ + (slides_ ? 1 : 0), end);
    if (rows.empty() || (!was && !is)) return {};
    if (was && is) {
      // Of a window that stays only the rows that changed: there may be many windows with many.
      auto at = std::ranges::lower_bound(changed_, rows.data());
      for (; at != changed_.end() && *at < rows.data() + rows.size(); ++at)
        if (auto done = give(**at, end, (*at)->after - (*at)->before, given); !done) return done;
      return {};
    }
    for (const Entry& row : rows)
      if (auto done = give(row, end, is ? row.after : -row.before, given); !done) return done;
    return {};
  }

  Result<> give(const Entry& row, std::int64_t time, data::Weight weight,
                data::BatchBuilder& given) const {
    if (weight == 0) return {};
    return rows_.give(row.item, time_bytes(time - size_), time_bytes(time), weight, given);
  }

  OrderedRows rows_;
  std::int64_t size_;
  bool slides_;
  std::vector<const Entry*> changed_;  // of the current run, in order
};

/// For each row, that row and a number of rows before it.
///
///     rows      as `OrderedRows`
///     mirror    the same, each item complemented: to find those before another
class RollingRowsOperator final : public GroupedWindows {
 public:
  RollingRowsOperator(data::SchemaRef schema, OrderedRows rows, std::size_t preceding)
      : GroupedWindows(std::move(schema)), rows_(std::move(rows)), preceding_(preceding) {}

  void open(State& state) override {
    rows_.open(state);
    mirror_ = &state.add_groups();
  }

  Result<> apply(const Input& input, Output& out) override {
    return rows_.apply(input.batch, schema(), out,
                       [this](const data::ChangeBatch& batch, std::span<const Change>& changes,
                              data::BatchBuilder& given) { return roll(batch, changes, given); });
  }

  Result<std::optional<std::int64_t>> forget(std::string_view group,
                                             std::int64_t closed_until) override {
    auto front = rows_.front(group, closed_until);
    if (!front) return std::move(front).error();
    data::Weight spare = front->count - static_cast<data::Weight>(preceding_);
    for (Entry& row : front->rows) {
      if (row.before > spare) break;
      spare -= row.before;
      row.after = 0;
    }
    write(group, front->rows);
    return front->next;
  }

 private:
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
    return rows_.give(*entries, parts, given);
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

  OrderedRows rows_;
  std::size_t preceding_;
  GroupTable* mirror_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<GroupedWindows>> make_rolling(const Window& window,
                                                     const data::Schema& input,
                                                     const Library& library) {
  const bool is_rows = window.form == WindowForm::rolling_rows;
  const bool slides = window.form == WindowForm::sliding;
  auto rows = OrderedRows::make(window, input, library);
  if (!rows) return std::move(rows).error();
  auto schema = window_schema(input, rows->order_type(),
                              grouped_key(window, is_rows ? WindowKey::none : WindowKey::with_end));
  if (!schema) return std::move(schema).error();
  if (is_rows) {
    return std::make_unique<RollingRowsOperator>(*std::move(schema), *std::move(rows),
                                                 static_cast<std::size_t>(window.rows));
  }
  return std::make_unique<RollingOperator>(*std::move(schema), *std::move(rows),
                                           window.size.count(), slides);
}

}  // namespace weir::flow::operators::internal
