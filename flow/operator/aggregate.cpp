#include <weir/flow/operator/aggregate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/encoded_rows.hpp>
#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators {
namespace {

using internal::Accumulator;
using internal::GroupedRows;

/// Of so many rows groups are fetched together: more would not stay in the nearest cache.
constexpr std::size_t rows_ahead = 64;

/// One aggregate, and where its arguments are among the columns that are computed; zero: nowhere.
struct AggregatePart {
  std::unique_ptr<Accumulator> accumulator;
  std::size_t value = 0;
  std::size_t order = 0;
  std::size_t condition = 0;
};

struct Parts {
  internal::Projection projection;  // the group columns, then the arguments of aggregates
  std::size_t group_columns = 0;
  std::vector<AggregatePart> aggregates = {};
  /// Then a group may seem changed although its row is the same.
  bool has_order = false;
};

class AggregateOperator final : public Operator {
 public:
  AggregateOperator(data::SchemaRef schema, Parts parts)
      : Operator(std::move(schema)), parts_(std::move(parts)) {}

  /// The group columns: how many rows the group has, then the states of the aggregates. Tables of
  /// aggregates follow.
  void open(State& state) override {
    groups_ = &state.add_table();
    for (AggregatePart& part : parts_.aggregates) part.accumulator->open(state);
  }

  Result<> apply(const Input& input, Output& out) override {
    auto computed = parts_.projection.compute(input.batch, out);
    if (!computed) return std::move(computed).error();
    if (auto found = find_groups(*computed); !found) return found;
    if (auto counted = count_rows(); !counted) return counted;
    for (AggregatePart& part : parts_.aggregates) {
      if (auto done = part.accumulator->apply(rows_, arguments(part, computed->columns)); !done)
        return done;
    }
    for (const std::string_view state : rows_.states)
      if (!state.empty()) return Error(Errc::corruption, "state: a group");
    if (auto chosen = choose_output(out); !chosen) return chosen;
    if (auto emitted = emit(out); !emitted) return emitted;
    save();
    return {};
  }

 private:
  static Accumulator::Arguments arguments(const AggregatePart& part, const data::Columns& columns) {
    const auto column = [&](std::size_t at) { return at == 0 ? nullptr : columns[at - 1].get(); };
    return {column(part.value), column(part.order), column(part.condition)};
  }

  /// Which group each row belongs to: one look at the table for each.
  Result<> find_groups(const internal::Projection::Computed& computed) {
    const std::size_t rows = computed.batch.size();
    rows_.clear();
    rows_.weights = computed.batch.weights();
    rows_.key_columns.assign(
        computed.columns.begin(),
        computed.columns.begin() + static_cast<std::ptrdiff_t>(parts_.group_columns));
    rows_.group_of.resize(rows);
    encode_keys(rows);
    slots_.clear();
    // Marks of batches before this one, in the same cycle, are not above `mark_base_`.
    mark_base_ += last_groups_;
    last_groups_ = 0;
    if (mark_base_ > std::numeric_limits<std::uint32_t>::max() / 2) mark_base_ = 0;
    for (std::size_t at = 0; at < rows; at += rows_ahead) {
      const auto keys = std::span(keys_).subspan(at, std::min(rows_ahead, rows - at));
      if (auto found = groups_->find_all(keys, found_); !found) return found;
      for (std::size_t index = 0; index < keys.size(); ++index)
        note_group(static_cast<std::uint32_t>(at + index), found_[index]);
    }
    return {};
  }
  void note_group(std::uint32_t row, StateTable::Slot& slot) {
    std::uint32_t& mark = slot.mark();
    if (mark <= mark_base_ || mark > mark_base_ + last_groups_) {
      mark = mark_base_ + ++last_groups_;
      slots_.push_back(slot);
      rows_.first_row.push_back(row);
      rows_.keys.push_back(keys_[row]);
    }
    rows_.group_of[row] = mark - mark_base_ - 1;
  }
  void encode_keys(std::size_t rows) {
    encoded_keys_.encode(rows_.key_columns, rows);
    keys_.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) keys_[row] = encoded_keys_[row];
  }

  Result<> count_rows() {
    rows_.before.assign(rows_.groups(), 0);
    rows_.states.resize(rows_.groups());
    for (std::size_t group = 0; group < rows_.groups(); ++group) {
      std::string_view& state = rows_.states[group];
      state = slots_[group].value();
      if (!state.empty() && !internal::take_weight(state, rows_.before[group]))
        return Error(Errc::corruption, "state: the rows of a group");
    }
    rows_.after.assign(rows_.before.begin(), rows_.before.end());
    for (std::size_t row = 0; row < rows_.rows(); ++row)
      rows_.after[rows_.group_of[row]] += rows_.weights[row];
    for (std::size_t group = 0; group < rows_.groups(); ++group)
      if (rows_.after[group] < 0) return rows_.unknown_row(group);
    return {};
  }

  /// The rows of groups that are not what they were.
  Result<> choose_output(Output& out) {
    const std::size_t groups = rows_.groups();
    is_visible_[false].resize(groups);
    is_visible_[true].resize(groups);
    is_changed_.resize(groups);
    for (std::size_t group = 0; group < groups; ++group) {
      is_visible_[false][group] = rows_.before[group] != 0 ? 1 : 0;
      is_visible_[true][group] = rows_.after[group] != 0 ? 1 : 0;
    }
    if (auto answered = answer_errors(out); !answered) return answered;
    for (std::size_t group = 0; group < groups; ++group)
      is_changed_[group] = is_visible_[false][group] ^ is_visible_[true][group];
    for (const AggregatePart& part : parts_.aggregates) part.accumulator->compare(is_changed_);

    output_.clear();
    weights_.clear();
    for (std::uint32_t group = 0; group < groups; ++group) {
      if (is_changed_[group] == 0) continue;
      for (const bool is_after : {false, true}) {
        if (is_visible_[is_after][group] == 0) continue;
        output_.push_back({group, is_after});
        weights_.push_back(is_after ? 1 : -1);
      }
    }
    return {};
  }

  /// What becomes of groups with an aggregate that cannot be computed.
  Result<> answer_errors(Output& out) {
    using Status = Accumulator::Status;
    std::vector<std::uint8_t> had_error;
    std::vector<std::uint8_t> has_error;
    std::size_t failed = 0;  // one of the aggregates that cannot be computed
    for (std::size_t index = 0; index < parts_.aggregates.size(); ++index) {
      const Accumulator& accumulator = *parts_.aggregates[index].accumulator;
      for (const bool is_after : {false, true}) {
        const auto statuses = accumulator.statuses(is_after);
        if (std::ranges::find(statuses, Status::overflow) == statuses.end()) continue;
        auto& errors = is_after ? has_error : had_error;
        errors.resize(rows_.groups());
        for (std::size_t group = 0; group < rows_.groups(); ++group) {
          if (statuses[group] != Status::overflow) continue;
          if (is_after && out.row_error_policy() == RowErrorPolicy::fail)
            return overflow(index, group);
          errors[group] = 1;
          if (is_after) failed = index;
        }
      }
    }
    for (std::size_t group = 0; group < has_error.size(); ++group)
      if (has_error[group] != 0 && (had_error.empty() || had_error[group] == 0))
        out.add_row_errors(1, [&] { return overflow(failed, group); });
    if (out.row_error_policy() != RowErrorPolicy::drop) return {};
    for (std::size_t group = 0; group < had_error.size(); ++group)
      if (had_error[group] != 0) is_visible_[false][group] = 0;
    for (std::size_t group = 0; group < has_error.size(); ++group)
      if (has_error[group] != 0) is_visible_[true][group] = 0;
    return {};
  }
  Error overflow(std::size_t aggregate, std::size_t group) const {
    return Error(Errc::row_error, "column '" + (*schema())[parts_.group_columns + aggregate].name +
                                      "': " + make_error_code(data::Errc::overflow).message() +
                                      " in group " + rows_.describe(group));
  }

  Result<> emit(Output& out) {
    if (output_.empty()) return {};
    data::Columns columns;
    taken_.clear();
    for (const auto& [group, is_after] : output_) taken_.push_back(rows_.first_row[group]);
    for (const data::ColumnRef& key : rows_.key_columns) {
      auto column = std::make_shared<data::Column>(key->take(taken_));
      if (key->type() == data::Kind::float64) make_canonical(*column);
      columns.push_back(std::move(column));
    }
    for (const AggregatePart& part : parts_.aggregates) {
      auto column = std::make_shared<data::Column>(part.accumulator->type());
      if (auto emitted = part.accumulator->emit(output_, *column); !emitted) return emitted;
      columns.push_back(std::move(column));
    }
    data::ChangeBatch batch(schema(), std::move(columns), weights_);
    if (!parts_.has_order) batch.note_consolidated();
    out.emit(std::move(batch));
    return {};
  }
  /// A group has one zero and one NaN, whichever its rows have.
  static void make_canonical(data::Column& column) {
    for (double& number : column.resize<double>(column.size())) {
      if (number == 0) number = 0;
      if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
    }
  }

  void save() {
    states_.resize(rows_.groups());
    for (std::size_t group = 0; group < rows_.groups(); ++group) {
      states_[group] = nullptr;
      if (rows_.after[group] == 0) {
        slots_[group].remove();
        continue;
      }
      states_[group] = &slots_[group].edit();
      states_[group]->clear();
      internal::append_weight(rows_.after[group], *states_[group]);
    }
    for (const AggregatePart& part : parts_.aggregates) part.accumulator->save(states_);
  }

  Parts parts_;
  StateTable* groups_ = nullptr;
  std::uint32_t mark_base_ = 0;
  std::uint32_t last_groups_ = 0;

  // Of one batch, kept to use their memory again. By row:
  GroupedRows rows_;
  internal::EncodedRows encoded_keys_;
  std::vector<std::string_view> keys_;
  std::vector<StateTable::Slot> found_;
  // By group:
  std::vector<StateTable::Slot> slots_;
  std::vector<std::uint8_t> is_visible_[2];  // before and after
  std::vector<std::uint8_t> is_changed_;
  std::vector<std::string*> states_;
  // By row of the output:
  std::vector<internal::OutputRow> output_;
  data::Weights weights_;
  std::vector<std::uint32_t> taken_;
};

/// All expressions of a specification, and which of them each aggregate needs.
class PartsBuilder {
 public:
  explicit PartsBuilder(const Aggregate& spec) : spec_(spec), expressions_(spec.groups) {}

  Result<Parts> make(const data::Schema& schema, const Library& library) {
    std::vector<AggregatePart> aggregates;
    for (const AggregateColumn& column : spec_.columns) {
      const std::string& name = name_of(column);
      aggregates.push_back({.accumulator = nullptr,
                            .value = add(name, column.value),
                            .order = add(name, column.order),
                            .condition = add(name, column.condition)});
    }
    auto projection = internal::Projection::make(expressions_, schema, library);
    if (!projection) return std::move(projection).error();
    for (std::size_t index = 0; index < aggregates.size(); ++index) {
      if (auto made = make_one(spec_.columns[index], projection->fields(), aggregates[index]);
          !made)
        return std::move(made).error();
    }
    const bool has_order =
        std::ranges::any_of(aggregates, [](const AggregatePart& part) { return part.order != 0; });
    return Parts{*std::move(projection), spec_.groups.size(), std::move(aggregates), has_order};
  }

  /// Group columns, then those of aggregates.
  static std::vector<data::Field> fields(const Aggregate& spec, const Parts& parts) {
    const auto& computed = parts.projection.fields();
    std::vector<data::Field> fields(
        computed.begin(), computed.begin() + static_cast<std::ptrdiff_t>(parts.group_columns));
    for (std::size_t index = 0; index < spec.columns.size(); ++index) {
      const AggregatePart& part = parts.aggregates[index];
      fields.push_back({.name = name_of(spec.columns[index]),
                        .type = part.accumulator->type(),
                        .is_nullable = is_nullable(spec.columns[index], part, computed)});
    }
    return fields;
  }

 private:
  static std::string name_of(const AggregateColumn& column) {
    return column.name.empty() ? to_string(column) : column.name;
  }
  /// Where it is, from one on.
  std::size_t add(const std::string& name, const std::optional<data::Expression>& expression) {
    if (!expression) return 0;
    expressions_.push_back({name, *expression});
    return expressions_.size();
  }
  static Result<> make_one(const AggregateColumn& column, const std::vector<data::Field>& fields,
                           AggregatePart& part) {
    if (part.condition != 0 && fields[part.condition - 1].type != data::Kind::boolean) {
      return Error(data::Errc::type_mismatch, "column '" + name_of(column) +
                                                  "': " + to_string(*column.condition) +
                                                  " is a condition, so it must be bool, not " +
                                                  to_string(fields[part.condition - 1].type));
    }
    const bool needs_order =
        column.function == AggregateFunction::first || column.function == AggregateFunction::last;
    const bool needs_value = column.function != AggregateFunction::count;
    if ((needs_value && part.value == 0) || needs_order != (part.order != 0)) {
      return Error(
          Errc::invalid_argument,
          "column '" + name_of(column) + "': the aggregate has too few or too many arguments");
    }
    auto made =
        internal::make_accumulator({.function = column.function,
                                    .value = part.value != 0 ? &fields[part.value - 1] : nullptr,
                                    .order = part.order != 0 ? &fields[part.order - 1] : nullptr,
                                    .has_condition = part.condition != 0});
    if (!made) {
      return Error(made.error().code(),
                   "column '" + name_of(column) + "': " + made.error().detail());
    }
    part.accumulator = *std::move(made);
    return {};
  }
  /// Counts never are; others unless each row of a group has a value for them.
  static bool is_nullable(const AggregateColumn& column, const AggregatePart& part,
                          const std::vector<data::Field>& fields) {
    switch (column.function) {
      case AggregateFunction::count:
      case AggregateFunction::count_distinct: return false;
      case AggregateFunction::sum:
      case AggregateFunction::avg: return true;
      default: break;
    }
    return part.condition != 0 || fields[part.value - 1].is_nullable ||
           (part.order != 0 && fields[part.order - 1].is_nullable);
  }

  const Aggregate& spec_;
  std::vector<NamedExpression> expressions_;
};

}  // namespace

Result<std::unique_ptr<Operator>> Aggregate::make(std::span<const data::SchemaRef> inputs,
                                                  const Library& library) const {
  if (groups.empty() && columns.empty())
    return Error(Errc::invalid_argument, "an aggregate must have a column");
  auto parts = PartsBuilder(*this).make(*inputs[0], library);
  if (!parts) return std::move(parts).error();
  std::vector<data::Field> fields = PartsBuilder::fields(*this, *parts);
  std::vector<std::string> key;
  const std::span group_fields = std::span(fields).first(groups.size());
  if (std::ranges::none_of(group_fields, &data::Field::is_nullable))
    for (const data::Field& field : group_fields) key.push_back(field.name);
  auto schema = data::Schema::make(std::move(fields), key);
  if (!schema) return std::move(schema).error();
  return std::make_unique<AggregateOperator>(
      std::make_shared<const data::Schema>(*std::move(schema)), *std::move(parts));
}

}  // namespace weir::flow::operators
