#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

// Persisted: never renumber.
/// Which rows a join gives. A pair is a row of the left side with one of the right side that has an
/// equal key and fulfils the condition.
enum class JoinKind : std::uint8_t {
  inner,  // pairs
  left,   // pairs, and rows of the left side that are in none, with nulls for the right side
  right,  // the same the other way around
  full,   // pairs, and rows of both sides that are in none
  semi,   // rows of the left side that are in a pair, as often as they came
  anti,   // rows of the left side that are in none
};

/// Half of a key: a column by its name, or what is computed from a row of that side.
struct JoinColumn {
  JoinColumn(const char* name) : value(data::col(name)) {}
  JoinColumn(std::string name) : value(data::col(std::move(name))) {}
  JoinColumn(data::Expression expression) : value(std::move(expression)) {}

  data::Expression value;
};

/// What must be equal on both sides. Null equals nothing.
struct JoinKey {
  /// The column has the same name on both sides.
  JoinKey(const char* both) : left(both), right(both) {}
  JoinKey(JoinColumn left_column, JoinColumn right_column)
      : left(std::move(left_column)), right(std::move(right_column)) {}

  JoinColumn left;
  JoinColumn right;
};

struct JoinOptions {
  /// One or more. Both halves have the same type.
  std::vector<JoinKey> on;
  JoinKind kind = JoinKind::inner;
  /// What else must be true of a pair; it names columns as the result of an inner join does.
  std::optional<data::Expression> condition = std::nullopt;
  /// What the names of all columns of a side begin with in the result.
  std::string left_prefix = {};
  std::string right_prefix = {};
};

/// Rows of two inputs that belong together. Has the columns of the left side, then those of the
/// right side, without semi and anti joins; names must differ.
///
/// Pairs are there as often as the left row times as often as the right row. The primary key of an
/// inner join is that of both sides, that of semi and anti joins is that of the left side; others
/// have none. All rows with a key that can be in the result are kept as state.
struct Join final : OperatorSpec {
  explicit Join(JoinOptions options) : options(std::move(options)) {}

  JoinOptions options;

  std::string_view name() const noexcept override { return "join"; }
  void write(SpecWriter& out) const override;
  bool takes_inputs(std::size_t count) const noexcept override { return count == 2; }
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
