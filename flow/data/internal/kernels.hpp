#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/data/function.hpp>

// Loops over columns: what built-in functions are made of.
namespace weir::flow::data::internal {

/// A function from a row to its value, as it is stored, for an operand that has all rows.
template <class T>
auto values_of(const Evaluated& operand) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return [&strings = operand.column->strings()](std::size_t row) { return strings[row]; };
  } else {
    return [values = operand.column->values<T>().data()](std::size_t row) { return values[row]; };
  }
}

/// The same for a constant.
template <class T>
auto constant_of(const Evaluated& operand) {
  return [value = values_of<T>(operand)(0)](std::size_t) { return value; };
}

/// The same for either, known only when it runs.
template <class T>
auto values_or_constant_of(const Evaluated& operand) {
  return [values = values_of<T>(operand), is_constant = operand.is_constant](std::size_t row) {
    return values(is_constant ? 0 : row);
  };
}

/// Whether the compiler may compute several rows at once. Such loops are compiled for each choice
/// of operands that are constant; others take longer for a row than it takes to ask.
template <class... Ts>
constexpr bool may_be_vectorised =
    ((std::is_arithmetic_v<Ts> && sizeof(Ts) <= sizeof(std::uint64_t)) && ...);

/// Rows that are null in an operand are null in the result.
inline void add_nulls(const Evaluated& operand, std::size_t rows, Nulls& nulls) {
  if (!operand.column->has_nulls()) return;
  if (operand.is_constant) {
    nulls.add_first(rows);
  } else {
    nulls.add_all(operand.column->nulls());
  }
}

/// Collects a result row by row.
template <class R>
class Output {
 public:
  Output(DataType type, std::size_t rows) : column_(std::make_shared<Column>(type)), rows_(rows) {
    if constexpr (std::is_same_v<R, std::string>) {
      column_->reserve(rows);
    } else {
      values_ = column_->resize<R>(rows).data();
    }
  }

  Nulls& nulls() noexcept { return column_->nulls(); }

  /// Computes all rows with `compute(row, R&)`, which gives an error or `Errc{}`.
  template <class Compute>
  void compute_all(Compute compute) {
    if constexpr (std::is_same_v<R, std::string>) {
      std::string text;
      for (std::size_t row = 0; row < rows_; ++row) {
        text.clear();
        const Errc error = column_->is_null(row) ? Errc{} : compute(row, text);
        column_->push<std::string_view>(text);
        if (error != Errc{}) fail(row, error);
      }
    } else {
      // Also null rows: what they hold is valid, and testing each costs more. The copies tell the
      // compiler that writing a value changes neither.
      R* const values = values_;
      const std::size_t rows = rows_;
      for (std::size_t row = 0; row < rows; ++row) compute_one(row, values[row], compute);
    }
  }
  /// The same row by row: where rows are much wider than results, computing several at once takes
  /// longer, as what comes of it lies far apart.
  template <class Compute>
  void compute_singly(Compute compute) {
    R* const values = values_;
    const std::size_t rows = rows_;
#pragma clang loop vectorize(disable) unroll_count(8)
    for (std::size_t row = 0; row < rows; ++row) compute_one(row, values[row], compute);
  }

  Evaluated finish(bool is_constant) && {
    return {std::move(column_), is_constant, std::move(errors_)};
  }

 private:
  template <class Compute>
  void compute_one(std::size_t row, R& value, Compute& compute) {
    const Errc error = compute(row, value);
    if (error != Errc{}) [[unlikely]] {
      value = R{};  // also what is null is valid
      fail(row, error);
    }
  }
  [[gnu::noinline]] void fail(std::size_t row, Errc error) {
    if (column_->is_null(row)) return;
    column_->nulls().add(row);
    errors_.push_back({static_cast<std::uint32_t>(row), error});
  }

  std::shared_ptr<Column> column_;
  std::size_t rows_;
  R* values_ = nullptr;
  RowErrors errors_;
};

/// `compute(A, R&) -> Errc` for each row that is not null.
template <class A, class R, class Compute>
Evaluated map_one(const Evaluated& a, DataType type, std::size_t rows, Compute compute) {
  Output<R> output(type, rows);
  add_nulls(a, rows, output.nulls());
  // Also of a constant: then there is one row.
  output.compute_all([value = values_of<A>(a), &compute](std::size_t row, R& out) {
    return compute(value(row), out);
  });
  return std::move(output).finish(a.is_constant);
}

/// `compute(A, B, R&) -> Errc` for each row where neither is null.
template <class A, class B, class R, class Compute>
Evaluated map_two(const Evaluated& a, const Evaluated& b, DataType type, std::size_t rows,
                  Compute compute) {
  Output<R> output(type, rows);
  add_nulls(a, rows, output.nulls());
  add_nulls(b, rows, output.nulls());
  const auto compute_with = [&](auto left, auto right) {
    const auto compute_row = [left, right, &compute](std::size_t row, R& out) {
      return compute(left(row), right(row), out);
    };
    if constexpr (may_be_vectorised<A, R> && sizeof(A) > 4 * sizeof(R)) {
      output.compute_singly(compute_row);
    } else {
      output.compute_all(compute_row);
    }
  };
  if constexpr (!may_be_vectorised<A, B, R>) {
    compute_with(values_or_constant_of<A>(a), values_or_constant_of<B>(b));
  } else if (a.is_constant == b.is_constant) {
    // Also of two constants: then there is one row.
    compute_with(values_of<A>(a), values_of<B>(b));
  } else if (a.is_constant) {
    compute_with(constant_of<A>(a), values_of<B>(b));
  } else {
    compute_with(values_of<A>(a), constant_of<B>(b));
  }
  return std::move(output).finish(a.is_constant && b.is_constant);
}

/// The same for three.
template <class A, class B, class C, class R, class Compute>
Evaluated map_three(std::span<const Evaluated> arguments, DataType type, std::size_t rows,
                    Compute compute) {
  Output<R> output(type, rows);
  bool is_constant = true;
  for (const Evaluated& argument : arguments) {
    add_nulls(argument, rows, output.nulls());
    is_constant = is_constant && argument.is_constant;
  }
  const auto first = values_or_constant_of<A>(arguments[0]);
  const auto second = values_or_constant_of<B>(arguments[1]);
  const auto third = values_or_constant_of<C>(arguments[2]);
  output.compute_all(
      [&](std::size_t row, R& out) { return compute(first(row), second(row), third(row), out); });
  return std::move(output).finish(is_constant);
}

/// A function of one argument that cannot fail, as a kernel.
template <class A, class R, class Compute>
Kernel kernel_of(DataType type, Compute compute) {
  return [type, compute](std::span<const Evaluated> arguments, std::size_t rows) {
    return map_one<A, R>(arguments[0], type, rows, [compute](const A& a, R& out) {
      out = compute(a);
      return Errc{};
    });
  };
}

/// Adds the errors of an argument. Both are in the order of rows, and the first of a row counts.
void add_errors(const Evaluated& argument, std::size_t rows, RowErrors& errors);

}  // namespace weir::flow::data::internal
