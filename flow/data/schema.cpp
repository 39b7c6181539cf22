#include <weir/flow/data/schema.hpp>

#include <algorithm>
#include <set>

#include <weir/flow/data/errc.hpp>

namespace weir::flow::data {
namespace {

std::string list_names(const std::vector<Field>& fields) {
  std::string names;
  for (const Field& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  return names.empty() ? "none" : names;
}

Result<> check_fields(const std::vector<Field>& fields) {
  std::set<std::string_view> names;
  for (const Field& field : fields) {
    if (field.name.empty()) return Error(Errc::invalid_argument, "a column without a name");
    if (!names.insert(field.name).second) return Error(Errc::duplicate_column, field.name);
    if (is_valid(field.type)) continue;
    const char* why = field.type.kind == Kind::decimal ? " has more than 38 digits behind the point"
                                                       : " has no digits behind the point";
    return Error(Errc::invalid_argument, field.name + ": " + to_string(field.type) + why);
  }
  return {};
}

}  // namespace

Result<Schema> Schema::make(std::vector<Field> fields,
                            const std::vector<std::string>& primary_key) {
  if (auto checked = check_fields(fields); !checked) return checked.error();
  Schema schema;
  schema.fields_ = std::move(fields);
  for (const std::string& name : primary_key) {
    auto column = schema.index_of(name);
    if (!column) return column.error();
    if (std::ranges::count(schema.primary_key_, *column) != 0) {
      return Error(Errc::duplicate_column, "primary key: " + name);
    }
    schema.fields_[*column].is_nullable = false;
    schema.primary_key_.push_back(*column);
  }
  return schema;
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(fields_, name, &Field::name);
  if (found == fields_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields_.begin());
}

Result<std::size_t> Schema::index_of(std::string_view name) const {
  if (const auto column = find(name)) return *column;
  return Error(Errc::unknown_column,
               "'" + std::string(name) + "'; there are: " + list_names(fields_));
}

Result<> Schema::check_row(std::span<const Value> row) const {
  if (row.size() != fields_.size()) {
    return Error(Errc::invalid_argument, "a row of " + std::to_string(row.size()) + " values for " +
                                             std::to_string(fields_.size()) + " columns");
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto type = row[i].type();
    if (!type && !fields_[i].is_nullable) return Error(Errc::null_not_allowed, fields_[i].name);
    if (type && *type != fields_[i].type) {
      return Error(Errc::type_mismatch, fields_[i].name + " is " + to_string(fields_[i].type) +
                                            ", not " + to_string(*type) + ": " + to_string(row[i]));
    }
    if (auto checked = check_value(row[i]); !checked)
      return Error(checked.error().code(), fields_[i].name + ": " + checked.error().detail());
  }
  return {};
}

std::string to_string(const Schema& schema) {
  std::string out = "(";
  for (const Field& field : schema.fields()) {
    if (out.size() > 1) out += ", ";
    out += field.name + " " + to_string(field.type) + (field.is_nullable ? "" : " not null");
  }
  std::string key;
  for (const std::size_t column : schema.primary_key()) {
    key += (key.empty() ? ", primary key " : " ") + schema[column].name;
  }
  return out + key + ")";
}

}  // namespace weir::flow::data
