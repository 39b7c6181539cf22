#include <optional>

#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/row_selection.hpp>
#include <weir/flow/operator/internal/small_multiset.hpp>

namespace weir::flow::operators::internal {
namespace {

void invert(std::string& bytes) noexcept {
  for (char& byte : bytes) byte = static_cast<char>(~byte);
}

/// The values of each group and how often they are there, in order: what is wanted is always the
/// first, as for `max` and `last` the bytes are complemented. `first` and `last` have the order in
/// front of the value.
class Values {
 public:
  void open(State& state) { table_ = &state.add_groups(); }

  /// Before other calls for a batch. `keys` are those of groups that will be looked for.
  void start(const GroupedRows& rows, std::span<const std::string_view> keys) {
    groups_.assign(rows.groups(), std::nullopt);
    table_->prefetch(keys);
  }
  GroupTable::Group& group(const GroupedRows& rows, std::size_t group) {
    std::optional<GroupTable::Group>& found = groups_[group];
    if (!found) found = table_->find(rows.keys[group]);
    return *found;
  }
  static Result<ItemChange> add(GroupTable::Group& group, std::string_view bytes,
                                data::Weight weight) {
    auto item = group.find(bytes);
    if (!item) return std::move(item).error();
    auto before = weight_of(item->value());
    if (!before) return std::move(before).error();
    const data::Weight after = *before + weight;
    if (after < 0) return ItemChange::is_missing;
    if (after == 0) {
      item->remove();
      return ItemChange::went;
    }
    std::string& value = item->edit();
    value.clear();
    append_weight(after, value);
    return *before == 0 ? ItemChange::came : ItemChange::none;
  }

 private:
  GroupTable* table_ = nullptr;
  std::vector<std::optional<GroupTable::Group>> groups_;
};

/// Calls `use` for what comes, then for what goes: so nothing goes before it came.
template <class Use>
Result<> add_then_remove(const RowSelection& selection, std::span<const data::Weight> weights,
                         Use use) {
  Result<> done;
  bool has_removals = false;
  selection.for_each([&](std::uint32_t row) {
    if (weights[row] < 0) has_removals = true;
    if (weights[row] > 0 && done) done = use(row);
  });
  if (!has_removals || !done) return done;
  selection.for_each([&](std::uint32_t row) {
    if (weights[row] < 0 && done) done = use(row);
  });
  return done;
}

/// State: how many there are.
class DistinctCountAccumulator final : public Accumulator {
 public:
  data::DataType type() const noexcept override { return data::Kind::int64; }
  void open(State& state) override { values_.open(state); }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    before_.assign(rows.groups(), 0);
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (rows.before[group] != 0 && !take_weight(rows.states[group], before_[group]))
        return Error(Errc::corruption, "state: a count of values");
    }
    after_.assign(before_.begin(), before_.end());
    values_.start(rows, rows.keys);
    selection_.select(rows.rows(), arguments.condition, arguments.value);
    auto added = add_then_remove(selection_, rows.weights, [&](std::uint32_t row) -> Result<> {
      const std::uint32_t group = rows.group_of[row];
      item_.clear();
      data::append_ordered(*arguments.value, row, item_);
      auto change = Values::add(values_.group(rows, group), item_, rows.weights[row]);
      if (!change) return std::move(change).error();
      if (*change == ItemChange::is_missing) return rows.unknown_row(group);
      if (*change == ItemChange::came) ++after_[group];
      if (*change == ItemChange::went) --after_[group];
      return {};
    });
    if (!added) return added;
    for (std::size_t group = 0; group < rows.groups(); ++group)
      if (after_[group] > rows.after[group]) return rows.unknown_row(group);
    return {};
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    for (std::size_t group = 0; group < is_changed.size(); ++group)
      is_changed[group] |= before_[group] != after_[group] ? 1 : 0;
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    std::int64_t* to = out.resize<std::int64_t>(rows.size()).data();
    for (const auto [group, is_after] : rows) *to++ = (is_after ? after_ : before_)[group];
    return {};
  }
  void save(std::span<std::string* const> states) const override {
    for (std::size_t group = 0; group < states.size(); ++group)
      if (states[group] != nullptr) append_weight(after_[group], *states[group]);
  }

 private:
  Values values_;
  RowSelection selection_;
  std::string item_;
  std::vector<data::Weight> before_;
  std::vector<data::Weight> after_;
};

/// The least or greatest value, or that of the first or last row.
///
/// State: all items if they are few. Otherwise they are in a table, and the state is the first of
/// them, so that the table need only be looked at if that goes.
class FirstItemAccumulator final : public Accumulator {
 public:
  FirstItemAccumulator(const AccumulatorInput& input, bool is_descending)
      : type_(input.value->type), is_descending_(is_descending) {
    if (input.order != nullptr) order_type_ = input.order->type;
  }

  data::DataType type() const noexcept override { return type_; }
  void open(State& state) override { values_.open(state); }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    if (auto loaded = load(rows); !loaded) return loaded;
    // The first row has its value, also if that is null; others are looked for among values.
    selection_.select(rows.rows(), arguments.condition,
                      order_type_ ? arguments.order : arguments.value);
    auto added = add_then_remove(selection_, rows.weights, [&](std::uint32_t row) -> Result<> {
      item_.clear();
      if (order_type_) data::append_ordered(*arguments.order, row, item_);
      data::append_ordered(*arguments.value, row, item_);
      if (is_descending_) invert(item_);
      return after_[rows.group_of[row]].is_in_table ? add_to_table(rows, row)
                                                    : add_to_small(rows, row);
    });
    return added ? find_first(rows) : std::move(added);
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    for (std::size_t group = 0; group < is_changed.size(); ++group)
      is_changed[group] |= first_of(before_[group]) != first_of(after_[group]) ? 1 : 0;
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    std::optional<data::Column> orders;
    if (order_type_) orders.emplace(*order_type_);
    std::string bytes;
    out.reserve(rows.size());
    for (const auto [group, is_after] : rows) {
      std::string_view item = is_after ? first_of(after_[group]) : first_of(before_[group]);
      if (item.empty()) {
        out.append_null();
        continue;
      }
      if (is_descending_) {
        bytes.assign(item);
        invert(bytes);
        item = bytes;
      }
      const bool has_order = !orders || data::take_ordered(item, *orders);
      if (!has_order || !data::take_ordered(item, out) || !item.empty())
        return Error(Errc::corruption, "state: the first of some values");
    }
    return {};
  }
  void save(std::span<std::string* const> states) const override {
    for (std::size_t group = 0; group < states.size(); ++group) {
      if (states[group] == nullptr) continue;
      const auto& [bytes, is_in_table] = after_[group];
      append_weight(static_cast<data::Weight>(bytes.size() << 1 | (is_in_table ? 1 : 0)),
                    *states[group]);
      states[group]->append(bytes);
    }
  }

 private:
  /// More bytes than this go to the table.
  static constexpr std::size_t small_bytes_max = 192;

  /// All items, or the first of those in the table.
  template <class Bytes>
  struct Items {
    Bytes bytes = {};
    bool is_in_table = false;
  };
  template <class Bytes>
  static std::string_view first_of(const Items<Bytes>& items) noexcept {
    return items.is_in_table ? std::string_view(items.bytes) : SmallMultiset::first(items.bytes);
  }

  Result<> load(GroupedRows& rows) {
    before_.assign(rows.groups(), {});
    if (after_.size() < rows.groups()) after_.resize(rows.groups());
    has_lost_first_.assign(rows.groups(), 0);
    table_keys_.clear();
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (rows.before[group] != 0 && !take(rows.states[group], before_[group]))
        return Error(Errc::corruption, "state: some values");
      if (before_[group].is_in_table) table_keys_.push_back(rows.keys[group]);
      after_[group].bytes.assign(before_[group].bytes);
      after_[group].is_in_table = before_[group].is_in_table;
    }
    values_.start(rows, table_keys_);
    return {};
  }
  static bool take(std::string_view& state, Items<std::string_view>& items) noexcept {
    data::Weight shape = 0;
    if (!take_weight(state, shape)) return false;
    const auto size = static_cast<std::uint64_t>(shape) >> 1;
    if (size > state.size()) return false;
    items.is_in_table = shape % 2 != 0;
    items.bytes = state.substr(0, size);
    state.remove_prefix(size);
    return items.is_in_table || SmallMultiset::is_valid(items.bytes);
  }

  Result<> add_to_small(const GroupedRows& rows, std::uint32_t row) {
    const std::uint32_t group = rows.group_of[row];
    std::string& bytes = after_[group].bytes;
    const auto change = SmallMultiset::add(bytes, item_, rows.weights[row]);
    if (change == ItemChange::is_missing) return rows.unknown_row(group);
    return bytes.size() <= small_bytes_max ? Result<>() : move_to_table(rows, group);
  }
  Result<> move_to_table(const GroupedRows& rows, std::uint32_t group) {
    std::string& bytes = after_[group].bytes;
    std::string_view rest = bytes;
    std::string_view item;
    data::Weight weight = 0;
    while (SmallMultiset::take(rest, item, weight)) {
      auto change = Values::add(values_.group(rows, group), item, weight);
      if (!change) return std::move(change).error();
    }
    bytes = std::string(SmallMultiset::first(bytes));
    after_[group].is_in_table = true;
    return {};
  }
  Result<> add_to_table(const GroupedRows& rows, std::uint32_t row) {
    const std::uint32_t group = rows.group_of[row];
    auto change = Values::add(values_.group(rows, group), item_, rows.weights[row]);
    if (!change) return std::move(change).error();
    std::string& best = after_[group].bytes;
    switch (*change) {
      case ItemChange::is_missing: return rows.unknown_row(group);
      case ItemChange::came:
        if (item_ < best) best.assign(item_);
        break;
      case ItemChange::went:
        if (item_ == best) has_lost_first_[group] = 1;
        break;
      case ItemChange::none: break;
    }
    return {};
  }
  Result<> find_first(const GroupedRows& rows) {
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      auto& [bytes, is_in_table] = after_[group];
      if (has_lost_first_[group] != 0) {
        auto cursor = values_.group(rows, group).scan();
        auto has_item = cursor.next();
        if (!has_item) return std::move(has_item).error();
        bytes.assign(*has_item ? cursor.item() : std::string_view());
        is_in_table = *has_item;
      }
      if (rows.after[group] == 0 && !bytes.empty()) return rows.unknown_row(group);
    }
    return {};
  }

  data::DataType type_;
  std::optional<data::DataType> order_type_;
  bool is_descending_;
  Values values_;
  RowSelection selection_;
  std::string item_;
  // By group:
  std::vector<Items<std::string_view>> before_;
  std::vector<Items<std::string>> after_;  // also of batches with more, to use their memory again
  std::vector<std::uint8_t> has_lost_first_;
  std::vector<std::string_view> table_keys_;
};

}  // namespace

std::unique_ptr<Accumulator> make_multiset(const AccumulatorInput& input) {
  using enum AggregateFunction;
  if (input.function == count_distinct) return std::make_unique<DistinctCountAccumulator>();
  return std::make_unique<FirstItemAccumulator>(input,
                                                input.function == max || input.function == last);
}

}  // namespace weir::flow::operators::internal
