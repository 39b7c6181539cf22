#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/data/function.hpp>

// Loops over columns: what built-in functions are made of.
namespace weir::flow::data::internal {

/// Calls `use` with a function from a row to its value, as it is stored.
template <class T, class Use>
void with_values(const Evaluated& operand, Use use) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    const Strings& strings = operand.column->strings();
    if (operand.is_constant) {
      use([value = strings[0]](std::size_t) { return value; });
    } else {
      use([&strings](std::size_t row) { return strings[row]; });
    }
  } else {
    const T* values = operand.column->values<T>().data();
    if (operand.is_constant) {
      use([value = *values](std::size_t) { return value; });
    } else {
      use([values](std::size_t row) { return values[row]; });
    }
  }
}

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
      for (std::size_t row = 0; row < rows; ++row) {
        const Errc error = compute(row, values[row]);
        if (error != Errc{}) [[unlikely]]
          fail(row, error);
      }
    }
  }

  Evaluated finish(bool is_constant) && {
    return {std::move(column_), is_constant, std::move(errors_)};
  }

 private:
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
  with_values<A>(a, [&](auto value) {
    output.compute_all(
        [value, &compute](std::size_t row, R& out) { return compute(value(row), out); });
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
  with_values<A>(a, [&](auto left) {
    with_values<B>(b, [&](auto right) {
      output.compute_all([left, right, &compute](std::size_t row, R& out) {
        return compute(left(row), right(row), out);
      });
    });
  });
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
  with_values<A>(arguments[0], [&](auto first) {
    with_values<B>(arguments[1], [&](auto second) {
      with_values<C>(arguments[2], [&](auto third) {
        output.compute_all([&](std::size_t row, R& out) {
          return compute(first(row), second(row), third(row), out);
        });
      });
    });
  });
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
