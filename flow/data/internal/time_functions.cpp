#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

namespace weir::flow::data::internal {
namespace {

Timestamp moment(std::int64_t microseconds) noexcept {
  return Timestamp(std::chrono::microseconds(microseconds));
}

/// The first argument names a part of a date, and is a literal: it decides what is computed.
Result<CalendarField> field_of(const ArgumentType& argument) {
  const auto* name =
      argument.literal ? std::get_if<std::string>(&argument.literal->content()) : nullptr;
  if (!name)
    return Error(Errc::invalid_argument, "the first argument is a literal such as 'month'");
  return parse_field(*name);
}

Result<> expect_time(const ArgumentType& argument) {
  const bool is_time = !argument.type || argument.type->kind == Kind::timestamp ||
                       argument.type->kind == Kind::date || argument.literal;
  if (is_time) return {};
  return Error(Errc::type_mismatch,
               "timestamp or date is expected, not " + to_string(*argument.type));
}

/// A function of a literal field and a time.
template <class Make>
Bind bind_field(Make make) {
  return [make](std::span<const ArgumentType> arguments) -> Result<BoundFunction> {
    if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
    auto field = field_of(arguments[0]);
    if (!field) return field.error();
    if (auto checked = expect_time(arguments[1]); !checked) return checked.error();
    return make(*field);
  };
}

Result<BoundFunction> bind_extract(CalendarField field) {
  return BoundFunction{.result = Kind::int64,
                       .kernel =
                           [field](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_one<std::int64_t, std::int64_t>(
                                 operands[1], Kind::int64, rows,
                                 [field](std::int64_t at, std::int64_t& out) {
                                   out = extract(field, moment(at));
                                   return Errc{};
                                 });
                           },
                       .parameters = {Kind::text, Kind::timestamp}};
}

Result<BoundFunction> bind_truncate(CalendarField field) {
  if (!can_truncate(field)) {
    return Error(Errc::invalid_argument, std::string(to_string(field)) + " has no beginning");
  }
  return BoundFunction{.result = Kind::timestamp,
                       .kernel =
                           [field](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_one<std::int64_t, std::int64_t>(
                                 operands[1], Kind::timestamp, rows,
                                 [field](std::int64_t at, std::int64_t& out) {
                                   out = truncate(field, moment(at)).time_since_epoch().count();
                                   return Errc{};
                                 });
                           },
                       .parameters = {Kind::text, Kind::timestamp}};
}

Result<BoundFunction> bind_add_months(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
  if (auto checked = expect_time(arguments[0]); !checked) return checked.error();
  return BoundFunction{.result = Kind::timestamp,
                       .kernel =
                           [](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_two<std::int64_t, std::int64_t, std::int64_t>(
                                 operands[0], operands[1], Kind::timestamp, rows,
                                 [](std::int64_t at, std::int64_t months, std::int64_t& out) {
                                   Timestamp later;
                                   if (!add_months(moment(at), months, later))
                                     return Errc::overflow;
                                   out = later.time_since_epoch().count();
                                   return Errc{};
                                 });
                           },
                       .parameters = {Kind::timestamp, Kind::int64}};
}

}  // namespace

void add_time_functions(FunctionRegistry& registry) {
  (void)registry.add("extract", bind_field(&bind_extract));
  (void)registry.add("truncate", bind_field(&bind_truncate));
  (void)registry.add("add_months", &bind_add_months);
}

}  // namespace weir::flow::data::internal
