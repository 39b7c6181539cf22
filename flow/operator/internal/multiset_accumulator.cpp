#include <optional>

#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/group_results.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/row_selection.hpp>

namespace weir::flow::operators::internal {
namespace {

void complement(std::string& bytes, std::size_t from = 0) noexcept {
  for (std::size_t at = from; at < bytes.size(); ++at) bytes[at] = static_cast<char>(~bytes[at]);
}

/// The values of each group and how often they are there, in order: what is wanted is always the
/// first, as for `max` and `last` the bytes are complemented. `first` and `last` have the order in
/// front of the value.
class Values {
 public:
  using Arguments = Accumulator::Arguments;

  explicit Values(bool is_descending) : is_descending_(is_descending) {}

  void open(State& state) { table_ = &state.add_groups(); }

  /// Before other calls for a batch.
  void start(std::size_t groups) { groups_.assign(groups, std::nullopt); }
  GroupTable::Group& group(const GroupedRows& rows, std::size_t group) {
    std::optional<GroupTable::Group>& found = groups_[group];
    if (!found) found = table_->find(rows.keys[group]);
    return *found;
  }

  /// What came of adding `weight` of the item of a row.
  enum class Change : std::uint8_t { none, came, went, is_missing };
  Result<Change> add(const GroupedRows& rows, const Arguments& arguments, std::uint32_t row) {
    item_.clear();
    if (arguments.order != nullptr) data::append_ordered(*arguments.order, row, item_);
    data::append_ordered(*arguments.value, row, item_);
    if (is_descending_) complement(item_);
    auto item = group(rows, rows.group_of[row]).edit(item_);
    if (!item) return std::move(item).error();
    auto before = weight_of(item->value());
    if (!before) return std::move(before).error();
    const data::Weight after = *before + rows.weights[row];
    if (after < 0) return Change::is_missing;
    if (after == 0) {
      item->remove();
      return Change::went;
    }
    std::string& value = item->edit();
    value.clear();
    append_weight(after, value);
    return *before == 0 ? Change::came : Change::none;
  }
  /// Of the row that was added last.
  std::string_view item() const noexcept { return item_; }

 private:
  bool is_descending_;
  GroupTable* table_ = nullptr;
  std::vector<std::optional<GroupTable::Group>> groups_;
  std::string item_;
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
    values_.start(rows.groups());
    selection_.select(rows.rows(), arguments.condition, arguments.value);
    auto added = add_then_remove(selection_, rows.weights, [&](std::uint32_t row) -> Result<> {
      auto change = values_.add(rows, arguments, row);
      if (!change) return std::move(change).error();
      const std::uint32_t group = rows.group_of[row];
      if (*change == Values::Change::is_missing) return rows.unknown_row(group);
      if (*change == Values::Change::came) ++after_[group];
      if (*change == Values::Change::went) --after_[group];
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
  Values values_{false};
  RowSelection selection_;
  std::vector<data::Weight> before_;
  std::vector<data::Weight> after_;
};

/// The least or greatest value, or that of the first or last row. State: the first item, so that
/// values need only be looked at if it goes.
class FirstItemAccumulator final : public Accumulator {
 public:
  FirstItemAccumulator(const AccumulatorInput& input, bool is_descending)
      : type_(input.value->type), is_descending_(is_descending), values_(is_descending) {
    if (input.order != nullptr) order_type_ = input.order->type;
  }

  data::DataType type() const noexcept override { return type_; }
  void open(State& state) override { values_.open(state); }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    if (auto loaded = load(rows); !loaded) return loaded;
    values_.start(rows.groups());
    // The first row has its value, also if that is null; others are looked for among values.
    selection_.select(rows.rows(), arguments.condition,
                      order_type_ ? arguments.order : arguments.value);
    auto added = add_then_remove(selection_, rows.weights, [&](std::uint32_t row) -> Result<> {
      auto change = values_.add(rows, arguments, row);
      if (!change) return std::move(change).error();
      const std::uint32_t group = rows.group_of[row];
      if (*change == Values::Change::is_missing) return rows.unknown_row(group);
      std::string& best = after_[group];
      if (*change == Values::Change::came && (best.empty() || values_.item() < best)) {
        best.assign(values_.item());
      } else if (*change == Values::Change::went && values_.item() == best) {
        has_lost_first_[group] = 1;
      }
      return {};
    });
    return added ? find_first(rows) : std::move(added);
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    for (std::size_t group = 0; group < is_changed.size(); ++group)
      is_changed[group] |= before_[group] != after_[group] ? 1 : 0;
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    std::optional<data::Column> orders;
    if (order_type_) orders.emplace(*order_type_);
    std::string bytes;
    out.reserve(rows.size());
    for (const auto [group, is_after] : rows) {
      std::string_view item = is_after ? std::string_view(after_[group]) : before_[group];
      if (item.empty()) {
        out.append_null();
        continue;
      }
      if (is_descending_) {
        bytes.assign(item);
        complement(bytes);
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
      append_weight(static_cast<data::Weight>(after_[group].size()), *states[group]);
      states[group]->append(after_[group]);
    }
  }

 private:
  Result<> load(GroupedRows& rows) {
    before_.assign(rows.groups(), {});
    if (after_.size() < rows.groups()) after_.resize(rows.groups());
    has_lost_first_.assign(rows.groups(), 0);
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (rows.before[group] != 0) {
        std::string_view& state = rows.states[group];
        data::Weight size = 0;
        if (!take_weight(state, size) || static_cast<std::uint64_t>(size) > state.size())
          return Error(Errc::corruption, "state: the first of some values");
        before_[group] = state.substr(0, static_cast<std::size_t>(size));
        state.remove_prefix(static_cast<std::size_t>(size));
      }
      after_[group].assign(before_[group]);
    }
    return {};
  }
  Result<> find_first(const GroupedRows& rows) {
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (has_lost_first_[group] != 0) {
        auto cursor = values_.group(rows, group).scan();
        auto has_item = cursor.next();
        if (!has_item) return std::move(has_item).error();
        after_[group].assign(*has_item ? cursor.item() : std::string_view());
      }
      if (rows.after[group] == 0 && !after_[group].empty()) return rows.unknown_row(group);
    }
    return {};
  }

  data::DataType type_;
  std::optional<data::DataType> order_type_;
  bool is_descending_;
  Values values_;
  RowSelection selection_;
  // By group: the first item, empty if there is none.
  std::vector<std::string_view> before_;
  std::vector<std::string> after_;  // longer if a batch had more groups, to use their memory again
  std::vector<std::uint8_t> has_lost_first_;
};

}  // namespace

std::unique_ptr<Accumulator> make_multiset(const AccumulatorInput& input) {
  using enum AggregateFunction;
  if (input.function == count_distinct) return std::make_unique<DistinctCountAccumulator>();
  return std::make_unique<FirstItemAccumulator>(input,
                                                input.function == max || input.function == last);
}

}  // namespace weir::flow::operators::internal
