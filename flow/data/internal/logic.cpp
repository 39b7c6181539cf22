#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

#include <algorithm>

namespace weir::flow::data::internal {
namespace {

enum class Truth : std::uint8_t { no, yes, unknown, failed };

/// The error at a place of the operand's column, or `Errc{}`.
Errc error_at(const Evaluated& operand, std::size_t place) noexcept {
  if (operand.errors.empty()) [[likely]]
    return Errc{};
  const auto found = std::ranges::lower_bound(operand.errors, place, {}, &RowError::row);
  return found != operand.errors.end() && found->row == place ? found->code : Errc{};
}

/// Reads a condition with its errors.
class Truths {
 public:
  explicit Truths(const Evaluated& operand)
      : operand_(operand), values_(operand.column->values<std::uint8_t>()) {}

  Truth at(std::size_t row) noexcept {
    const std::size_t place = operand_.at(row);
    error_ = error_at(operand_, place);
    if (error_ != Errc{}) return Truth::failed;
    if (operand_.column->is_null(place)) return Truth::unknown;
    return values_[place] != 0 ? Truth::yes : Truth::no;
  }
  /// Why the last one asked for failed.
  Errc error() const noexcept { return error_; }

 private:
  const Evaluated& operand_;
  std::span<const std::uint8_t> values_;
  Errc error_{};
};

/// Collects choices, each a value, null or an error.
class Choices {
 public:
  Choices(DataType type, std::size_t rows) : column_(std::make_shared<Column>(type)) {
    column_->reserve(rows);
  }

  void add_null() { column_->append_null(); }
  void add_error(Errc code) {
    errors_.push_back({static_cast<std::uint32_t>(column_->size()), code});
    column_->append_null();
  }
  /// The value of an operand, or its error.
  void add(const Evaluated& operand, std::size_t row) {
    const std::size_t place = operand.at(row);
    const Errc error = error_at(operand, place);
    if (error != Errc{}) return add_error(error);
    column_->append_from(*operand.column, place);
  }

  Evaluated finish(std::span<const Evaluated> operands) && {
    const bool is_constant = std::ranges::all_of(operands, &Evaluated::is_constant);
    return {std::move(column_), is_constant, std::move(errors_)};
  }

 private:
  std::shared_ptr<Column> column_;
  RowErrors errors_;
};

bool is_plain(const Evaluated& operand) noexcept {
  return !operand.column->has_nulls() && operand.errors.empty();
}

/// `Decisive` is the value of one side that settles the outcome.
template <Truth Decisive>
Evaluated combine(std::span<const Evaluated> operands, std::size_t rows) {
  if (is_plain(operands[0]) && is_plain(operands[1])) {
    using Byte = std::uint8_t;
    return map_two<Byte, Byte, Byte>(
        operands[0], operands[1], Kind::boolean, rows, [](Byte a, Byte b, Byte& out) {
          out = static_cast<Byte>(Decisive == Truth::no ? a & b : a | b);
          return Errc{};
        });
  }
  Output<std::uint8_t> output(Kind::boolean, rows);
  Truths left(operands[0]);
  Truths right(operands[1]);
  output.compute_all([&](std::size_t row, std::uint8_t& out) {
    const Truth a = left.at(row);
    const Truth b = right.at(row);
    const bool is_settled = a == Decisive || b == Decisive;
    const bool is_unknown = a == Truth::unknown || b == Truth::unknown;
    const bool has_failed = a == Truth::failed || b == Truth::failed;
    const Errc error = a == Truth::failed ? left.error() : right.error();
    if (!is_settled && is_unknown && !has_failed) output.nulls().add(row);
    out = is_settled == (Decisive == Truth::yes) ? 1 : 0;
    return !is_settled && has_failed ? error : Errc{};
  });
  return std::move(output).finish(operands[0].is_constant && operands[1].is_constant);
}

Result<> expect_boolean(const ArgumentType& argument) {
  if (!argument.type || argument.type->kind == Kind::boolean) return {};
  return Error(Errc::type_mismatch, "a condition is bool, not " + to_string(*argument.type));
}

template <Truth Decisive>
Result<BoundFunction> bind_combination(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
  for (const ArgumentType& argument : arguments) {
    if (auto checked = expect_boolean(argument); !checked) return checked.error();
  }
  return BoundFunction{.result = Kind::boolean,
                       .kernel = &combine<Decisive>,
                       .parameters = {Kind::boolean, Kind::boolean},
                       .handles_errors = true};
}

Result<BoundFunction> bind_not(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
  if (auto checked = expect_boolean(arguments[0]); !checked) return checked.error();
  return BoundFunction{
      .result = Kind::boolean,
      .kernel = kernel_of<std::uint8_t, std::uint8_t>(
          Kind::boolean, [](std::uint8_t a) { return static_cast<std::uint8_t>(a == 0); }),
      .parameters = {Kind::boolean}};
}

Result<BoundFunction> bind_is_null(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
  return BoundFunction{.result = Kind::boolean,
                       .kernel =
                           [](std::span<const Evaluated> operands, std::size_t rows) {
                             auto column = std::make_shared<Column>(Kind::boolean);
                             const auto out = column->resize<std::uint8_t>(rows);
                             for (std::size_t row = 0; row < rows; ++row) {
                               out[row] = operands[0].column->is_null(operands[0].at(row)) ? 1 : 0;
                             }
                             return Evaluated{std::move(column), operands[0].is_constant};
                           },
                       .parameters = {arguments[0].type.value_or(Kind::boolean)}};
}

/// What the error of each row says; null where there is none.
Evaluated say_errors(std::span<const Evaluated> operands, std::size_t rows) {
  auto column = std::make_shared<Column>(Kind::text);
  column->reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Errc error = error_at(operands[0], operands[0].at(row));
    if (error == Errc{}) {
      column->append_null();
    } else {
      column->push<std::string_view>(make_error_code(error).message());
    }
  }
  return {std::move(column), operands[0].is_constant};
}

Result<BoundFunction> bind_error_of(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
  return BoundFunction{.result = Kind::text,
                       .kernel = &say_errors,
                       .parameters = {arguments[0].type.value_or(Kind::boolean)},
                       .handles_errors = true};
}

/// The type that all choices can take.
Result<DataType> type_of_choices(std::span<const ArgumentType> choices) {
  ArgumentType all = choices[0];
  for (const ArgumentType& choice : choices.subspan(1)) {
    if (!all.type && !choice.type) continue;
    auto type = common_type(all, choice);
    if (!type) return type.error();
    // A literal may adapt only as long as no column has decided.
    const Value* literal = all.literal && choice.literal ? all.literal : nullptr;
    all = {*type, literal};
  }
  if (!all.type) return Error(Errc::type_mismatch, "only nulls, so there is no type");
  return *all.type;
}

Evaluated first_not_null(std::span<const Evaluated> operands, std::size_t rows, DataType type) {
  Choices choices(type, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Evaluated* chosen = &operands.back();
    for (const Evaluated& operand : operands) {
      const std::size_t place = operand.at(row);
      const bool has_failed = error_at(operand, place) != Errc{};
      if (operand.column->is_null(place) && !has_failed) continue;
      chosen = &operand;
      break;
    }
    choices.add(*chosen, row);
  }
  return std::move(choices).finish(operands);
}

Result<BoundFunction> bind_coalesce(std::span<const ArgumentType> arguments) {
  if (arguments.empty()) return Error(Errc::invalid_argument, "no arguments");
  auto type = type_of_choices(arguments);
  if (!type) return type.error();
  return BoundFunction{
      .result = *type,
      .kernel = [type = *type](std::span<const Evaluated> operands,
                               std::size_t rows) { return first_not_null(operands, rows, type); },
      .parameters = std::vector<DataType>(arguments.size(), *type),
      .handles_errors = true};
}

/// Condition, value, condition, value, ... and perhaps one value more.
Evaluated choose(std::span<const Evaluated> operands, std::size_t rows, DataType type) {
  Choices choices(type, rows);
  std::vector<Truths> conditions;
  for (std::size_t i = 0; i + 1 < operands.size(); i += 2) conditions.emplace_back(operands[i]);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t branch = 0;
    Truth truth = Truth::no;
    for (; branch < conditions.size(); ++branch) {
      truth = conditions[branch].at(row);
      if (truth == Truth::yes || truth == Truth::failed) break;
    }
    if (branch < conditions.size() && truth == Truth::failed) {
      choices.add_error(conditions[branch].error());
    } else if (branch < conditions.size()) {
      choices.add(operands[2 * branch + 1], row);
    } else if (operands.size() % 2 == 1) {
      choices.add(operands.back(), row);
    } else {
      choices.add_null();
    }
  }
  return std::move(choices).finish(operands);
}

/// Whether the argument is one of the conditions of a `case`.
constexpr bool is_condition(std::size_t index, std::size_t count) noexcept {
  return index % 2 == 0 && index + 1 < count;
}

Result<BoundFunction> bind_case(std::span<const ArgumentType> arguments) {
  if (arguments.size() < 2) return Error(Errc::invalid_argument, "a case needs a condition");
  std::vector<ArgumentType> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_condition(i, arguments.size())) {
      values.push_back(arguments[i]);
    } else if (auto checked = expect_boolean(arguments[i]); !checked) {
      return checked.error();
    }
  }
  auto type = type_of_choices(values);
  if (!type) return type.error();
  std::vector<DataType> parameters;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_bool = is_condition(i, arguments.size());
    parameters.push_back(is_bool ? DataType(Kind::boolean) : *type);
  }
  return BoundFunction{
      .result = *type,
      .kernel = [type = *type](std::span<const Evaluated> operands,
                               std::size_t rows) { return choose(operands, rows, type); },
      .parameters = std::move(parameters),
      .handles_errors = true};
}

}  // namespace

void add_logic(FunctionRegistry& registry) {
  (void)registry.add("and", &bind_combination<Truth::no>);
  (void)registry.add("or", &bind_combination<Truth::yes>);
  (void)registry.add("not", &bind_not);
  (void)registry.add("is_null", &bind_is_null);
  (void)registry.add("error_of", &bind_error_of);
  (void)registry.add("coalesce", &bind_coalesce);
  (void)registry.add("case", &bind_case);
}

}  // namespace weir::flow::data::internal
