#include <algorithm>
#include <limits>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>

namespace weir::flow::operators::internal {
namespace {

using Change = OrderedRows::Change;
using Entry = OrderedRows::Entry;

constexpr data::Weight unlimited = std::numeric_limits<data::Weight>::max();

/// Where rows in order are cut into windows: after so many, and at a gap.
class Cutter {
 public:
  Cutter(std::int64_t gap, data::Weight rows) noexcept : gap_(gap), rows_(rows) {}

  bool begins_at(std::string_view item) const noexcept {
    return count_ == 0 || (gap_ > 0 && time_of(item) - last_ >= gap_);
  }
  /// How many of `weight` equal rows are in the same window.
  data::Weight take(std::string_view item, data::Weight weight) noexcept {
    if (begins_at(item)) count_ = 0;
    const data::Weight taken = std::min(weight, rows_ - count_);
    if (gap_ > 0) last_ = time_of(item);
    count_ += taken;
    if (rows_ != unlimited && count_ == rows_) count_ = 0;
    return taken;
  }
  void take_all(std::string_view item, data::Weight weight) noexcept {
    while (weight > 0) weight -= take(item, weight);
  }

 private:
  std::int64_t gap_;  // zero: there is none
  data::Weight rows_;
  data::Weight count_ = 0;  // in the window so far; zero: the next row begins one
  std::int64_t last_ = 0;
};

/// Equal rows that are in one window.
struct CutPart {
  std::size_t entry;
  data::Weight weight;
  std::string start = {};
  std::string end = {};
  bool is_given = true;

  friend bool operator==(const CutPart&, const CutPart&) = default;
};

/// The rows before or after a cycle, in their windows.
struct Cut {
  std::vector<CutPart> parts;        // in order
  std::vector<std::size_t> entries;  // that windows begin with, all of the entry's rows in them
};

struct CutOptions {
  std::int64_t gap = 0;
  data::Weight rows_max = unlimited;
  /// Whether windows that may still have more rows are not given.
  bool only_full = false;
};

/// Windows that are runs of the rows of a group.
///
///     rows     as `OrderedRows`
///     begins   the items that windows begin with, complemented so that the last one before any
///              other is found; no value. Windows that begin amid equal rows have none.
class CutOperator final : public GroupedWindows {
 public:
  CutOperator(data::SchemaRef schema, OrderedRows rows, const CutOptions& options)
      : GroupedWindows(std::move(schema)), rows_(std::move(rows)), options_(options) {}

  void open(State& state) override {
    rows_.open(state);
    begins_ = &state.add_groups();
  }

  Result<> apply(const Input& input, Output& out) override {
    return rows_.apply(input.batch, schema(), out,
                       [this](const data::ChangeBatch& batch, std::span<const Change>& changes,
                              data::BatchBuilder& given) { return recut(batch, changes, given); });
  }

  Result<std::optional<std::int64_t>> forget(std::string_view group,
                                             std::int64_t closed_until) override {
    auto front = rows_.front(group, closed_until - options_.gap);
    if (!front) return std::move(front).error();
    std::vector<Entry>& rows = front->rows;
    const std::vector<std::size_t> begins = cut(rows, &Entry::before).entries;
    OrderedRows::take(rows, count_closed(*front, begins));
    rows_.write(group, rows);
    GroupTable::Group begun = begins_->find(group);
    for (const std::size_t entry : begins)
      if (rows[entry].after == 0) begun.remove(complement(rows[entry].item));
    return front->next ? std::optional(*front->next + options_.gap) : std::nullopt;
  }

 private:
  /// How many of the rows at the front are in windows that have closed.
  data::Weight count_closed(const OrderedRows::Front& front,
                            const std::vector<std::size_t>& begins) const {
    if (options_.gap == 0) return front.count - front.count % options_.rows_max;
    const bool goes_on = !front.rows.empty() && front.next &&
                         *front.next - time_of(front.rows.back().item) < options_.gap;
    if (!goes_on) return front.count;
    data::Weight count = 0;
    for (std::size_t entry = 0; entry < begins.back(); ++entry) count += front.rows[entry].before;
    return count;
  }

  /// From the window before the first change until both cuts agree again.
  Result<> recut(const data::ChangeBatch& batch, std::span<const Change>& changes,
                 data::BatchBuilder& given) {
    const std::string group = changes.front().group;
    auto from = window_before(changes.front());
    if (!from) return std::move(from).error();
    Cutter before(options_.gap, options_.rows_max);
    Cutter after(options_.gap, options_.rows_max);
    bool has_changed = false;
    const std::size_t count = changes.size();
    auto entries = rows_.merge(
        group, *from, batch, changes, [&](const Entry& entry, std::span<const Change> left) {
          has_changed |= left.size() < count;
          const bool is_same = has_changed && entry.before == entry.after &&
                               before.begins_at(entry.item) && after.begins_at(entry.item);
          if (is_same) return true;
          before.take_all(entry.item, entry.before);
          after.take_all(entry.item, entry.after);
          return false;
        });
    if (!entries) return std::move(entries).error();
    const Cut was = cut(*entries, &Entry::before);
    const Cut is = cut(*entries, &Entry::after);
    rows_.write(group, *entries);
    write_begins(group, *entries, was.entries, is.entries);
    return give(*entries, was.parts, is.parts, given);
  }

  /// The first item of the window that the change is in or behind; empty if it is before all.
  Result<std::string> window_before(const Change& change) {
    GroupTable::Group begins = begins_->find(change.group);
    auto cursor = begins.scan(complement(change.item));
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    return *more ? complement(cursor.item()) : std::string();
  }

  Cut cut(const std::vector<Entry>& entries, data::Weight Entry::* weight) const {
    Cut cut;
    Cutter cutter(options_.gap, options_.rows_max);
    std::size_t first = 0;
    for (std::size_t index = 0; index < entries.size(); ++index) {
      const std::string& item = entries[index].item;
      data::Weight left = entries[index].*weight;
      if (left > 0 && cutter.begins_at(item)) cut.entries.push_back(index);
      while (left > 0) {
        if (cutter.begins_at(item)) {
          close(entries, std::span(cut.parts).subspan(first));
          first = cut.parts.size();
        }
        cut.parts.push_back({.entry = index, .weight = cutter.take(item, left)});
        left -= cut.parts.back().weight;
      }
    }
    close(entries, std::span(cut.parts).subspan(first));
    return cut;
  }

  void close(const std::vector<Entry>& entries, std::span<CutPart> parts) const {
    if (parts.empty()) return;
    const std::string& last = entries[parts.back().entry].item;
    const std::string start(rows_.order_of(entries[parts.front().entry].item));
    const std::string end = options_.gap > 0 ? time_bytes(time_of(last) + options_.gap)
                                             : std::string(rows_.order_of(last));
    data::Weight count = 0;
    for (const CutPart& part : parts) count += part.weight;
    for (CutPart& part : parts) {
      part.start = start;
      part.end = end;
      part.is_given = !options_.only_full || count == options_.rows_max;
    }
  }

  void write_begins(std::string_view group, const std::vector<Entry>& entries,
                    const std::vector<std::size_t>& was, const std::vector<std::size_t>& is) {
    GroupTable::Group begins = begins_->find(group);
    for (const std::size_t entry : was)
      if (!std::ranges::binary_search(is, entry)) begins.remove(complement(entries[entry].item));
    for (const std::size_t entry : is)
      if (!std::ranges::binary_search(was, entry)) begins.put(complement(entries[entry].item), {});
  }

  /// What is not the same before and after.
  Result<> give(const std::vector<Entry>& entries, std::span<const CutPart> was,
                std::span<const CutPart> is, data::BatchBuilder& given) const {
    const auto take = [](std::span<const CutPart>& parts, std::size_t entry) {
      std::size_t count = 0;
      while (count < parts.size() && parts[count].entry == entry) ++count;
      const auto taken = parts.first(count);
      parts = parts.subspan(count);
      return taken;
    };
    for (std::size_t entry = 0; entry < entries.size(); ++entry) {
      const auto gone = take(was, entry);
      const auto come = take(is, entry);
      if (std::ranges::equal(gone, come)) continue;
      for (const auto& [parts, sign] : {std::pair(gone, -1), std::pair(come, 1)}) {
        for (const CutPart& part : parts) {
          if (!part.is_given) continue;
          auto done =
              rows_.give(entries[entry].item, part.start, part.end, sign * part.weight, given);
          if (!done) return done;
        }
      }
    }
    return {};
  }

  OrderedRows rows_;
  CutOptions options_;
  GroupTable* begins_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<GroupedWindows>> make_cut(const Window& window, const data::Schema& input,
                                                 const Library& library) {
  auto rows = OrderedRows::make(window, input, library);
  if (!rows) return std::move(rows).error();
  auto schema = window_schema(input, rows->order_type(), grouped_key(window, WindowKey::as_it_is));
  if (!schema) return std::move(schema).error();
  CutOptions options;
  if (window.form == WindowForm::session) {
    options.gap = window.size.count();
  } else {
    options.rows_max =
        static_cast<data::Weight>(std::min(window.rows, static_cast<std::uint64_t>(unlimited)));
    options.only_full = window.emit == WindowEmit::on_close;
  }
  return std::make_unique<CutOperator>(*std::move(schema), *std::move(rows), options);
}

}  // namespace weir::flow::operators::internal
