#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/aggregate_function.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/state.hpp>

namespace weir::flow::operators::internal {

/// The rows of one batch, and the groups that they belong to: numbered from zero in the order of
/// their first rows.
struct GroupedRows {
  // By row.
  std::span<const data::Weight> weights;
  std::vector<std::uint32_t> group_of;
  // By group.
  std::vector<std::uint32_t> first_row;
  std::vector<std::string_view> keys;
  std::vector<data::Weight> before;  // how many rows it had; zero: there was none
  std::vector<data::Weight> after;
  /// What the state of a group had before, without what was taken of it.
  std::vector<std::string_view> states;

  data::Columns key_columns;

  std::size_t rows() const noexcept { return group_of.size(); }
  std::size_t groups() const noexcept { return first_row.size(); }
  /// `(1, 'text')`
  std::string describe(std::size_t group) const;
  Error unknown_row(std::size_t group) const;
  void clear() noexcept;
};

/// One row of the output: a group as it was before the batch, or as it is after it.
struct OutputRow {
  std::uint32_t group;
  bool is_after;
};

/// Computes one aggregate for all groups that a batch touches: each call goes through all rows or
/// all groups, in loops that know their types.
///
///     apply   what the groups' states say, and what the rows make of it
///     compare, emit   as often as needed
///     save    the new states
class Accumulator {
 public:
  /// As long as there are rows; null if it has none.
  struct Arguments {
    const data::Column* value = nullptr;
    const data::Column* order = nullptr;
    const data::Column* condition = nullptr;
  };
  enum class Status : std::uint8_t { value, null, overflow };

  virtual ~Accumulator() = default;

  /// Of what it gives.
  virtual data::DataType type() const noexcept = 0;
  virtual void open(State& /*state*/) {}
  /// Takes its part of each group's state. `unknown_row` if more went than had come.
  virtual Result<> apply(GroupedRows& rows, const Arguments& arguments) = 0;
  /// By group; empty: nothing overflows.
  virtual std::span<const Status> statuses(bool /*is_after*/) const noexcept { return {}; }
  /// Sets those that are not what they were.
  virtual void compare(std::span<std::uint8_t> is_changed) const noexcept = 0;
  virtual Result<> emit(std::span<const OutputRow> rows, data::Column& out) const = 0;
  /// Appends to the state of each group; null: the group is gone.
  virtual void save(std::span<std::string* const> states) const = 0;
};

/// What an aggregate is computed from.
struct AccumulatorInput {
  AggregateFunction function;
  const data::Field* value = nullptr;  // none: rows are counted
  const data::Field* order = nullptr;
  bool has_condition = false;
};

/// `type_mismatch` if the function does not take values of that type.
Result<std::unique_ptr<Accumulator>> make_accumulator(const AccumulatorInput& input);

std::unique_ptr<Accumulator> make_count(const AccumulatorInput& input);
/// Null if there are no sums of the type.
std::unique_ptr<Accumulator> make_sum(const AccumulatorInput& input);
std::unique_ptr<Accumulator> make_float_sum(const AccumulatorInput& input);
std::unique_ptr<Accumulator> make_multiset(const AccumulatorInput& input);

}  // namespace weir::flow::operators::internal
