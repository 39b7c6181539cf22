#include <algorithm>
#include <limits>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>

namespace weir::flow::operators::internal {
namespace {

using Change = OrderedRows::Change;
using Entry = OrderedRows::Entry;
using Part = OrderedRows::Part;

struct HoppingRows {
  data::Weight rows;
  data::Weight hop;
  /// Whether windows that may still have more rows are not given.
  bool only_full;

  /// How many windows a row may be in.
  data::Weight overlap() const noexcept { return (rows - 1) / hop + 1; }
};

/// Windows of so many rows of a group, every `hop` rows.
///
///     rows     as `OrderedRows`
///     begins   the items that windows begin with, complemented so that those before any other are
///              found; no value. Windows that begin amid equal rows have none.
class HoppingRowsOperator final : public GroupedWindows {
 public:
  HoppingRowsOperator(data::SchemaRef schema, OrderedRows rows, const HoppingRows& windows)
      : GroupedWindows(std::move(schema)), rows_(std::move(rows)), windows_(windows) {}

  void open(State& state) override {
    rows_.open(state);
    begins_ = &state.add_groups();
  }

  Result<> apply(const Input& input, Output& out) override {
    return rows_.apply(input.batch, schema(), out,
                       [this](const data::ChangeBatch& batch, std::span<const Change>& changes,
                              data::BatchBuilder& given) { return hop(batch, changes, given); });
  }

  Result<std::optional<std::int64_t>> forget(std::string_view group,
                                             std::int64_t closed_until) override {
    auto front = rows_.front(group, closed_until);
    if (!front) return std::move(front).error();
    if (front->count >= windows_.rows) {
      const data::Weight closed = (front->count - windows_.rows) / windows_.hop + 1;
      OrderedRows::take(front->rows, std::min(closed, front->count / windows_.hop) * windows_.hop);
      // The first row that is left begins a window, whether that is written down or not.
      write(group, front->rows);
    }
    return front->next;
  }

 private:
  /// From the first window that a change may be in until windows begin at the same rows again, and
  /// as far as those that began before.
  Result<> hop(const data::ChangeBatch& batch, std::span<const Change>& changes,
               data::BatchBuilder& given) {
    const std::string group = changes.front().group;
    auto from = first_before(changes.front());
    if (!from) return std::move(from).error();
    const std::size_t count = changes.size();
    data::Weight before = 0;
    data::Weight after = 0;
    std::optional<data::Weight> agree;  // so many rows ago
    auto entries = rows_.merge(
        group, *from, batch, changes, [&](const Entry& entry, std::span<const Change> left) {
          const bool is_same = entry.before == entry.after;
          const bool begins = before % windows_.hop == 0 && after % windows_.hop == 0;
          if (!is_same) {
            agree.reset();
          } else if (!agree && left.size() < count && begins) {
            agree = 0;
          }
          if (agree && *agree >= windows_.rows) return true;
          if (agree) *agree += entry.after;
          before += entry.before;
          after += entry.after;
          return false;
        });
    if (!entries) return std::move(entries).error();
    write(group, *entries);
    std::vector<Part> parts;
    add_windows(*entries, &Entry::before, -1, parts);
    add_windows(*entries, &Entry::after, 1, parts);
    return rows_.give(*entries, parts, given);
  }

  /// The first item of the first window that the change is in or behind; empty if it is among the
  /// first.
  Result<std::string> first_before(const Change& change) {
    GroupTable::Group begins = begins_->find(change.group);
    auto cursor = begins.scan(complement(change.item));
    std::string first;
    for (data::Weight left = windows_.overlap(); left > 0; --left) {
      auto more = cursor.next();
      if (!more) return std::move(more).error();
      if (!*more) return std::string();
      first = complement(cursor.item());
    }
    return first;
  }

  /// Makes the changes of these rows, the first of which begins a window.
  void write(std::string_view group, const std::vector<Entry>& entries) {
    rows_.write(group, entries);
    GroupTable::Group begins = begins_->find(group);
    data::Weight before = 0;
    data::Weight after = 0;
    for (const Entry& entry : entries) {
      const bool was = entry.before > 0 && before % windows_.hop == 0;
      const bool is = entry.after > 0 && after % windows_.hop == 0;
      before += entry.before;
      after += entry.after;
      if (was && !is) begins.remove(complement(entry.item));
      if (is && !was) begins.put(complement(entry.item), {});
    }
  }

  /// Windows that are cut off at the end are the same before and after.
  void add_windows(const std::vector<Entry>& entries, data::Weight Entry::* weight, int sign,
                   std::vector<Part>& parts) const {
    std::vector<std::size_t> rows;
    for (std::size_t entry = 0; entry < entries.size(); ++entry)
      rows.insert(rows.end(), static_cast<std::size_t>(entries[entry].*weight), entry);
    const auto size = static_cast<std::size_t>(windows_.rows);
    for (std::size_t first = 0; first < rows.size();
         first += static_cast<std::size_t>(windows_.hop)) {
      const bool is_full = size <= rows.size() - first;
      if (windows_.only_full && !is_full) break;
      const std::size_t end = is_full ? first + size : rows.size();
      for (std::size_t row = first; row < end; ++row)
        parts.push_back({rows[row], rows[first], rows[end - 1], sign});
    }
  }

  OrderedRows rows_;
  HoppingRows windows_;
  GroupTable* begins_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<GroupedWindows>> make_hopping_rows(const Window& window,
                                                          const data::Schema& input,
                                                          const Library& library) {
  auto rows = OrderedRows::make(window, input, library);
  if (!rows) return std::move(rows).error();
  const bool is_once = window.hop_rows >= window.rows;
  auto schema = window_schema(input, rows->order_type(),
                              grouped_key(window, is_once ? WindowKey::as_it_is : WindowKey::none));
  if (!schema) return std::move(schema).error();
  const auto limited = [](std::uint64_t count) {
    constexpr data::Weight most = std::numeric_limits<data::Weight>::max();
    return static_cast<data::Weight>(std::min(count, static_cast<std::uint64_t>(most)));
  };
  return std::make_unique<HoppingRowsOperator>(
      *std::move(schema), *std::move(rows),
      HoppingRows{.rows = limited(window.rows),
                  .hop = limited(window.hop_rows),
                  .only_full = window.emit == WindowEmit::on_close});
}

}  // namespace weir::flow::operators::internal
