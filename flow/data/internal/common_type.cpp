#include <weir/flow/data/internal/builtin.hpp>

#include <algorithm>

namespace weir::flow::data::internal {
namespace {

Error mismatch(const ArgumentType& a, const ArgumentType& b) {
  const ArgumentType both[] = {a, b};
  return Error(Errc::type_mismatch, name_types(both) + " do not fit together; cast one of them");
}

bool is_whole(Kind kind) noexcept { return kind == Kind::int64 || kind == Kind::uint64; }

/// Text that stands for a value of a type that is not written as a number.
bool is_written_as_text(Kind kind) noexcept {
  return kind == Kind::timestamp || kind == Kind::date || kind == Kind::duration ||
         kind == Kind::uuid || kind == Kind::decimal;
}

/// The type of `other` if a literal can take it, which is found out when it is converted.
std::optional<DataType> adapt(const ArgumentType& literal, DataType other) {
  if (!literal.literal) return std::nullopt;
  const Kind kind = literal.type->kind;
  if (kind == Kind::text && is_written_as_text(other.kind)) return other;
  if (is_whole(kind) && is_whole(other.kind)) return other;
  if (kind == Kind::decimal && other.kind == Kind::float64) return other;
  if (kind == Kind::float64 && other.kind == Kind::decimal) {
    const auto written = written_decimal(*literal.literal);
    if (written) return DataType::decimal(std::max(written->scale, other.scale));
  }
  return std::nullopt;
}

/// The wider of two types, in this order.
std::optional<DataType> widen(DataType narrow, DataType wide) {
  if (is_whole(narrow.kind) && wide.kind == Kind::float64) return wide;
  if (is_whole(narrow.kind) && wide.kind == Kind::decimal) return wide;
  if (narrow.kind == Kind::date && wide.kind == Kind::timestamp) return wide;
  if (narrow.kind == Kind::decimal && wide.kind == Kind::decimal) {
    return DataType::decimal(std::max(narrow.scale, wide.scale));
  }
  return std::nullopt;
}

}  // namespace

std::string name_types(std::span<const ArgumentType> arguments) {
  std::string names;
  for (const ArgumentType& argument : arguments) {
    names += (names.empty() ? "" : " and ") + (argument.type ? to_string(*argument.type) : "null");
  }
  return names.empty() ? "nothing" : names;
}

Result<> expect_count(std::span<const ArgumentType> arguments, std::size_t count) {
  if (arguments.size() == count) return {};
  return Error(Errc::invalid_argument, "takes " + std::to_string(count) + " arguments, not " +
                                           std::to_string(arguments.size()));
}

std::optional<DataType> written_decimal(const Value& literal) {
  if (!std::holds_alternative<double>(literal.content())) return std::nullopt;
  const auto decimal = parse_decimal(to_string(literal));
  if (!decimal) return std::nullopt;
  return DataType::decimal(decimal->scale);
}

Result<DataType> common_type(const ArgumentType& a, const ArgumentType& b) {
  if (!a.type && !b.type) return Error(Errc::type_mismatch, "only nulls, so there is no type");
  if (!a.type) return *b.type;
  if (!b.type || *a.type == *b.type) return *a.type;
  std::optional<DataType> type = a.literal && b.literal ? std::nullopt : adapt(a, *b.type);
  if (!type && !(a.literal && b.literal)) type = adapt(b, *a.type);
  if (!type) type = widen(*a.type, *b.type);
  if (!type) type = widen(*b.type, *a.type);
  if (!type) return mismatch(a, b);
  return *type;
}

}  // namespace weir::flow::data::internal
