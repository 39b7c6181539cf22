#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

#include <cmath>

namespace weir::flow::data::internal {
namespace {

/// The order of stored values: as everywhere, NaN comes last and equals itself.
template <class T>
bool is_less(const T& a, const T& b) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}

template <class T>
bool is_equal(const T& a, const T& b) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return equal_floats(a, b);
  } else {
    return a == b;
  }
}

struct Equal {
  template <class T>
  bool operator()(const T& a, const T& b) const noexcept {
    return is_equal(a, b);
  }
};
struct Unequal {
  template <class T>
  bool operator()(const T& a, const T& b) const noexcept {
    return !is_equal(a, b);
  }
};
struct Less {
  template <class T>
  bool operator()(const T& a, const T& b) const noexcept {
    return is_less(a, b);
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(const T& a, const T& b) const noexcept {
    return !is_less(b, a);
  }
};

template <class Compare, class T>
Evaluated compare(const Evaluated& a, const Evaluated& b, std::size_t rows) {
  return map_two<T, T, std::uint8_t>(a, b, Kind::boolean, rows,
                                     [](const T& left, const T& right, std::uint8_t& out) {
                                       out = Compare()(left, right) ? 1 : 0;
                                       return Errc{};
                                     });
}

/// Which operand is on the left of the comparison: `a > b` is `b < a`.
enum class Left : std::uint8_t { first, second };

template <class Compare>
Kernel compare_kernel(DataType type, Left left) {
  return visit_kind(type.kind, [left](auto kind) -> Kernel {
    return [left, of_type = &compare<Compare, StoredType<kind()>>](
               std::span<const Evaluated> arguments, std::size_t rows) {
      const std::size_t place = left == Left::first ? 0 : 1;
      return of_type(arguments[place], arguments[1 - place], rows);
    };
  });
}

template <class Compare, Left Side = Left::first>
Result<BoundFunction> bind_comparison(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
  auto type = common_type(arguments[0], arguments[1]);
  if (!type) return type.error();
  return BoundFunction{.result = Kind::boolean,
                       .kernel = compare_kernel<Compare>(*type, Side),
                       .parameters = {*type, *type}};
}

/// Null is a value like any other.
Evaluated compare_distinct(std::span<const Evaluated> arguments, std::size_t rows) {
  auto column = std::make_shared<Column>(Kind::boolean);
  const std::span<std::uint8_t> out = column->resize<std::uint8_t>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    out[row] = equal_rows({&arguments[0].column, 1}, arguments[0].at(row),
                          {&arguments[1].column, 1}, arguments[1].at(row))
                   ? 0
                   : 1;
  }
  return {std::move(column), arguments[0].is_constant && arguments[1].is_constant};
}

Result<BoundFunction> bind_distinct(std::span<const ArgumentType> arguments) {
  auto bound = bind_comparison<Equal>(arguments);
  if (bound) bound->kernel = &compare_distinct;
  return bound;
}

Result<BoundFunction> bind_null_if(std::span<const ArgumentType> arguments) {
  auto bound = bind_comparison<Equal>(arguments);
  if (!bound) return bound;
  bound->result = bound->parameters[0];
  bound->kernel = [equal = std::move(bound->kernel), type = bound->result](
                      std::span<const Evaluated> operands, std::size_t rows) {
    const Evaluated is_same = equal(operands, rows);
    auto column = std::make_shared<Column>(type);
    column->reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t place = is_same.at(row);
      const bool goes =
          !is_same.column->is_null(place) && is_same.column->values<std::uint8_t>()[place] != 0;
      if (goes) {
        column->append_null();
      } else {
        column->append_from(*operands[0].column, operands[0].at(row));
      }
    }
    return Evaluated{std::move(column), operands[0].is_constant && operands[1].is_constant};
  };
  return bound;
}

}  // namespace

void add_comparisons(FunctionRegistry& registry) {
  (void)registry.add("=", &bind_comparison<Equal>);
  (void)registry.add("<>", &bind_comparison<Unequal>);
  (void)registry.add("<", &bind_comparison<Less>);
  (void)registry.add("<=", &bind_comparison<LessOrEqual>);
  (void)registry.add(">", &bind_comparison<Less, Left::second>);
  (void)registry.add(">=", &bind_comparison<LessOrEqual, Left::second>);
  (void)registry.add("is_distinct", &bind_distinct);
  (void)registry.add("null_if", &bind_null_if);
}

}  // namespace weir::flow::data::internal
