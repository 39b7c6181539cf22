#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weir::flow::data::internal {
namespace {

constexpr std::uint8_t quotient_scale_min = 6;

Errc overflow_if(bool is_overflow) noexcept { return is_overflow ? Errc::overflow : Errc{}; }

template <class T>
concept Integer = std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>;

struct Add {
  static constexpr const char* sign = "+";
  template <Integer T>
  static Errc compute(T a, T b, T& out) noexcept {
    return overflow_if(__builtin_add_overflow(a, b, &out));
  }
  static Errc compute(double a, double b, double& out) noexcept {
    out = a + b;
    return Errc{};
  }
  static Errc compute(const Int128& a, const Int128& b, Int128& out) noexcept {
    return overflow_if(!add(a, b, out));
  }
};
struct Subtract {
  static constexpr const char* sign = "-";
  template <Integer T>
  static Errc compute(T a, T b, T& out) noexcept {
    return overflow_if(__builtin_sub_overflow(a, b, &out));
  }
  static Errc compute(double a, double b, double& out) noexcept {
    out = a - b;
    return Errc{};
  }
  static Errc compute(const Int128& a, const Int128& b, Int128& out) noexcept {
    return overflow_if(!subtract(a, b, out));
  }
};
struct Multiply {
  static constexpr const char* sign = "*";
  template <Integer T>
  static Errc compute(T a, T b, T& out) noexcept {
    return overflow_if(__builtin_mul_overflow(a, b, &out));
  }
  static Errc compute(double a, double b, double& out) noexcept {
    out = a * b;
    return Errc{};
  }
  static Errc compute(const Int128& a, const Int128& b, Int128& out) noexcept {
    return overflow_if(!multiply(a, b, out));
  }
};
struct Divide {
  static constexpr const char* sign = "/";
  template <Integer T>
  static Errc compute(T a, T b, T& out) noexcept {
    if (b == 0) return Errc::division_by_zero;
    if constexpr (std::is_signed_v<T>) {
      if (a == std::numeric_limits<T>::min() && b == -1) return Errc::overflow;
    }
    out = a / b;
    return Errc{};
  }
  static Errc compute(double a, double b, double& out) noexcept {
    if (b == 0) return Errc::division_by_zero;
    out = a / b;
    return Errc{};
  }
};
struct Remainder {
  static constexpr const char* sign = "%";
  template <Integer T>
  static Errc compute(T a, T b, T& out) noexcept {
    if (b == 0) return Errc::division_by_zero;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) {
        out = 0;
        return Errc{};
      }
    }
    out = a % b;
    return Errc{};
  }
  static Errc compute(double a, double b, double& out) noexcept {
    if (b == 0) return Errc::division_by_zero;
    out = std::fmod(a, b);
    return Errc{};
  }
  static Errc compute(const Int128& a, const Int128& b, Int128& out) noexcept {
    if (b == 0) return Errc::division_by_zero;
    return overflow_if(!remainder(a, b, out));
  }
};

template <class Operation, class... Ts>
constexpr bool is_division =
    (std::is_same_v<Operation, Divide> || std::is_same_v<Operation, Remainder>) &&
    (Integer<Ts> && ...);

/// By a power of two, rounding towards zero like any other: without the machine's division, which
/// takes longer than all else in a row.
template <class Operation, Integer T>
Evaluated divide_by_power(const Evaluated& operand, T divisor, DataType type, std::size_t rows) {
  const T mask = divisor - 1;
  const int shift = std::countr_zero(static_cast<std::uint64_t>(divisor));
  return map_one<T, T>(operand, type, rows, [=](const T& number, T& out) {
    T bias = 0;
    if constexpr (std::is_signed_v<T>) bias = (number >> 63) & mask;
    if constexpr (std::is_same_v<Operation, Divide>) {
      out = (number + bias) >> shift;
    } else {
      out = ((number + bias) & mask) - bias;
    }
    return Errc{};
  });
}

/// The power of two that is the same in all rows; zero if there is none.
template <Integer T>
T power_in(const Evaluated& operand) {
  if (!operand.is_constant || operand.column->is_null(0)) return 0;
  const T number = operand.column->values<T>()[0];
  return number > 0 && std::has_single_bit(static_cast<std::uint64_t>(number)) ? number : 0;
}

template <class A, class B, class R, class Operation>
BoundFunction bound(DataType a, DataType b, DataType result) {
  return {.result = result,
          .kernel =
              [result](std::span<const Evaluated> operands, std::size_t rows) {
                if constexpr (is_division<Operation, A, B, R>) {
                  if (const B power = power_in<B>(operands[1]); power != 0)
                    return divide_by_power<Operation>(operands[0], power, result, rows);
                }
                return map_two<A, B, R>(operands[0], operands[1], result, rows,
                                        [](const A& left, const B& right, R& out) {
                                          return Operation::compute(left, right, out);
                                        });
              },
          .parameters = {a, b}};
}

Error no_such_operation(const char* sign, std::span<const ArgumentType> arguments) {
  return Error(Errc::type_mismatch,
               name_types(arguments) + " have no '" + std::string(sign) + "'; cast one of them");
}

std::uint8_t scale_of(const ArgumentType& argument, DataType common) {
  if (!argument.type) return common.scale;
  const auto written = argument.literal ? written_decimal(*argument.literal) : std::nullopt;
  return written ? written->scale : argument.type->scale;
}

template <class Operation>
Result<BoundFunction> bind_decimals(std::uint8_t a, std::uint8_t b) {
  if constexpr (std::is_same_v<Operation, Multiply>) {
    if (a + b > decimal_digits_max) {
      return Error(Errc::invalid_argument, "the product of decimal(" + std::to_string(a) +
                                               ") and decimal(" + std::to_string(b) +
                                               ") has more than 38 digits behind the point");
    }
    const auto scale = static_cast<std::uint8_t>(a + b);
    return bound<Int128, Int128, Int128, Multiply>(DataType::decimal(a), DataType::decimal(b),
                                                   DataType::decimal(scale));
  } else if constexpr (std::is_same_v<Operation, Divide>) {
    const DataType result = DataType::decimal(std::max({a, b, quotient_scale_min}));
    return BoundFunction{
        .result = result,
        .kernel =
            [a, b, result](std::span<const Evaluated> operands, std::size_t rows) {
              return map_two<Int128, Int128, Int128>(
                  operands[0], operands[1], result, rows,
                  [a, b, result](const Int128& left, const Int128& right, Int128& out) {
                    if (right == 0) return Errc::division_by_zero;
                    return overflow_if(!divide(left, a, right, b, result.scale, out));
                  });
            },
        .parameters = {DataType::decimal(a), DataType::decimal(b)}};
  } else {
    const DataType type = DataType::decimal(std::max(a, b));
    return bound<Int128, Int128, Int128, Operation>(type, type, type);
  }
}

template <class Operation>
Result<BoundFunction> bind_numbers(std::span<const ArgumentType> arguments) {
  auto common = common_type(arguments[0], arguments[1]);
  if (!common) return no_such_operation(Operation::sign, arguments);
  switch (common->kind) {
    case Kind::int64:
      return bound<std::int64_t, std::int64_t, std::int64_t, Operation>(*common, *common, *common);
    case Kind::uint64:
      return bound<std::uint64_t, std::uint64_t, std::uint64_t, Operation>(*common, *common,
                                                                           *common);
    case Kind::float64: return bound<double, double, double, Operation>(*common, *common, *common);
    case Kind::decimal:
      return bind_decimals<Operation>(scale_of(arguments[0], *common),
                                      scale_of(arguments[1], *common));
    default: return no_such_operation(Operation::sign, arguments);
  }
}

/// Days, as a date and its difference are counted.
template <class Operation>
BoundFunction bound_days() {
  return {.result = Kind::date,
          .kernel =
              [](std::span<const Evaluated> operands, std::size_t rows) {
                return map_two<std::int32_t, std::int64_t, std::int32_t>(
                    operands[0], operands[1], Kind::date, rows,
                    [](std::int32_t date, std::int64_t days, std::int32_t& out) {
                      std::int64_t sum = 0;
                      const Errc error = Operation::compute(std::int64_t{date}, days, sum);
                      if (error != Errc{}) return error;
                      if (sum < date_min.time_since_epoch().count() ||
                          sum > date_max.time_since_epoch().count())
                        return Errc::overflow;
                      out = static_cast<std::int32_t>(sum);
                      return Errc{};
                    });
              },
          .parameters = {Kind::date, Kind::int64}};
}

template <class Operation>
BoundFunction bound_moment() {
  return {.result = Kind::timestamp,
          .kernel =
              [](std::span<const Evaluated> operands, std::size_t rows) {
                return map_two<std::int64_t, std::int64_t, std::int64_t>(
                    operands[0], operands[1], Kind::timestamp, rows,
                    [](std::int64_t moment, std::int64_t by, std::int64_t& out) {
                      // What is null goes through what follows, too, and must be a time.
                      std::int64_t sum = 0;
                      const Errc error = Operation::compute(moment, by, sum);
                      if (error != Errc{}) return error;
                      if (!is_in_range(Timestamp(std::chrono::microseconds(sum))))
                        return Errc::overflow;
                      out = sum;
                      return Errc{};
                    });
              },
          .parameters = {Kind::timestamp, Kind::duration}};
}

struct DaysBetween {
  static Errc compute(std::int32_t a, std::int32_t b, std::int64_t& out) noexcept {
    out = std::int64_t{a} - b;
    return Errc{};
  }
};

/// What is not a pair of numbers. Nothing if there is no such operation.
template <class Operation>
std::optional<BoundFunction> bind_times(Kind a, Kind b) {
  constexpr bool is_sum = std::is_same_v<Operation, Add> || std::is_same_v<Operation, Subtract>;
  constexpr bool is_difference = std::is_same_v<Operation, Subtract>;
  constexpr bool is_scaling =
      std::is_same_v<Operation, Multiply> || std::is_same_v<Operation, Divide>;
  if constexpr (is_sum) {
    if (a == Kind::timestamp && b == Kind::duration) return bound_moment<Operation>();
    if (a == Kind::date && b == Kind::int64) return bound_days<Operation>();
    if (a == Kind::duration && b == Kind::duration) {
      return bound<std::int64_t, std::int64_t, std::int64_t, Operation>(a, b, Kind::duration);
    }
  }
  if constexpr (is_difference) {
    if (a == Kind::timestamp && b == Kind::timestamp) {
      return bound<std::int64_t, std::int64_t, std::int64_t, Operation>(a, b, Kind::duration);
    }
    if (a == Kind::date && b == Kind::date) {
      return bound<std::int32_t, std::int32_t, std::int64_t, DaysBetween>(a, b, Kind::int64);
    }
  }
  if constexpr (is_scaling) {
    if (a == Kind::duration && b == Kind::int64) {
      return bound<std::int64_t, std::int64_t, std::int64_t, Operation>(a, b, Kind::duration);
    }
  }
  return std::nullopt;
}

template <class Operation>
Result<BoundFunction> bind_operation(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
  if (arguments[0].type && arguments[1].type) {
    auto times = bind_times<Operation>(arguments[0].type->kind, arguments[1].type->kind);
    if (times) return *std::move(times);
  }
  return bind_numbers<Operation>(arguments);
}

template <class T, class Compute>
Result<BoundFunction> checked(DataType type, Compute compute) {
  return BoundFunction{.result = type,
                       .kernel =
                           [type, compute](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_one<T, T>(operands[0], type, rows, compute);
                           },
                       .parameters = {type}};
}

template <class T>
Errc negate(const T& a, T& out) noexcept {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return overflow_if(__builtin_sub_overflow(T{0}, a, &out));
  } else {
    out = -a;
    return Errc{};
  }
}

template <class T>
Errc magnitude(const T& a, T& out) noexcept {
  if (a < 0) return negate(a, out);
  out = a;
  return Errc{};
}

/// Functions of one number that keep its type.
enum class Unary : std::uint8_t { negate, magnitude };

template <Unary Function>
Result<BoundFunction> bind_unary(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
  const DataType type = arguments[0].type.value_or(Kind::int64);
  const auto bind_as = [type]<class T>(T) -> Result<BoundFunction> {
    if constexpr (Function == Unary::negate)
      return checked<T>(type, &negate<T>);
    else
      return checked<T>(type, &magnitude<T>);
  };
  switch (type.kind) {
    case Kind::int64:
    case Kind::duration: return bind_as(std::int64_t{});
    case Kind::float64: return bind_as(double{});
    case Kind::decimal: return bind_as(Int128{});
    default:
      return Error(Errc::type_mismatch, "a number with a sign is expected, not " + to_string(type));
  }
}

enum class Rounding : std::uint8_t { down, up, nearest };

template <Rounding Mode>
Errc round_float(double a, double& out) noexcept {
  out = Mode == Rounding::down ? std::floor(a)
        : Mode == Rounding::up ? std::ceil(a)
                               : std::round(a);
  return Errc{};
}

template <Rounding Mode>
Errc round_decimal(const Int128& a, std::uint8_t scale, Int128& out) noexcept {
  // Only the result must fit, not what is on the way to it: 0.99 may have no digit for a 1.
  const Int128 unit = powers_of_ten[scale];
  const Int128 rest = a % unit;
  const bool is_down = rest < 0 && (Mode != Rounding::nearest || -rest >= unit + rest);
  const bool is_up = rest > 0 && (Mode != Rounding::nearest || rest >= unit - rest);
  const Int128 step = is_down && Mode != Rounding::up   ? -1
                      : is_up && Mode != Rounding::down ? 1
                                                        : 0;
  return overflow_if(!multiply(a / unit + step, unit, out));
}

template <Rounding Mode>
Result<BoundFunction> bind_rounding(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
  const DataType type = arguments[0].type.value_or(Kind::float64);
  switch (type.kind) {
    case Kind::float64: return checked<double>(type, &round_float<Mode>);
    case Kind::decimal:
      return checked<Int128>(type, [scale = type.scale](const Int128& a, Int128& out) {
        return round_decimal<Mode>(a, scale, out);
      });
    default:
      return Error(Errc::type_mismatch, "float64 or decimal is expected, not " + to_string(type));
  }
}

}  // namespace

void add_arithmetic(FunctionRegistry& registry) {
  (void)registry.add("+", &bind_operation<Add>);
  (void)registry.add("-", &bind_operation<Subtract>);
  (void)registry.add("*", &bind_operation<Multiply>);
  (void)registry.add("/", &bind_operation<Divide>);
  (void)registry.add("%", &bind_operation<Remainder>);
  (void)registry.add("negate", &bind_unary<Unary::negate>);
  (void)registry.add("abs", &bind_unary<Unary::magnitude>);
  (void)registry.add("floor", &bind_rounding<Rounding::down>);
  (void)registry.add("ceil", &bind_rounding<Rounding::up>);
  (void)registry.add("round", &bind_rounding<Rounding::nearest>);
}

}  // namespace weir::flow::data::internal
