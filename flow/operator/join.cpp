#include <weir/flow/operator/join.hpp>

#include <array>
#include <memory>

#include <weir/flow/operator/internal/join_operator.hpp>

namespace weir::flow::operators {
namespace {

struct KeyProjections {
  internal::Projection left;
  internal::Projection right;
};

Result<internal::Projection> make_half(std::vector<NamedExpression> columns, const char* side,
                                       const data::Schema& schema, const Library& library) {
  auto keys = internal::Projection::make(columns, schema, library);
  if (keys) return keys;
  return Error(keys.error().code(),
               std::string("the key of the ") + side + " side: " + keys.error().detail());
}

/// Null equals nothing, so that a type is all that both halves need to have in common.
Result<KeyProjections> make_keys(const std::vector<JoinKey>& on, const data::Schema& left,
                                 const data::Schema& right, const Library& library) {
  if (on.empty()) return Error(Errc::invalid_argument, "there must be a column to join on");
  std::vector<NamedExpression> left_columns;
  std::vector<NamedExpression> right_columns;
  for (const JoinKey& key : on) {
    left_columns.push_back({to_string(key.left.value), key.left.value});
    right_columns.push_back({to_string(key.right.value), key.right.value});
  }
  auto left_keys = make_half(std::move(left_columns), "left", left, library);
  if (!left_keys) return std::move(left_keys).error();
  auto right_keys = make_half(std::move(right_columns), "right", right, library);
  if (!right_keys) return std::move(right_keys).error();
  for (std::size_t index = 0; index < on.size(); ++index) {
    const data::Field& a = left_keys->fields()[index];
    const data::Field& b = right_keys->fields()[index];
    if (a.type == b.type) continue;
    return Error(data::Errc::type_mismatch, "'" + a.name + "' of the left side is " +
                                                to_string(a.type) + ", but '" + b.name +
                                                "' of the right side is " + to_string(b.type));
  }
  return KeyProjections{*std::move(left_keys), *std::move(right_keys)};
}

void add_side(const data::Schema& side, const std::string& prefix, bool is_nullable,
              std::vector<data::Field>& fields, std::vector<std::string>& key) {
  for (data::Field field : side.fields()) {
    field.name = prefix + field.name;
    field.is_nullable |= is_nullable;
    fields.push_back(std::move(field));
  }
  for (const std::size_t column : side.primary_key()) key.push_back(prefix + side[column].name);
}

/// The columns of both sides.
Result<data::Schema> make_pairs(const JoinOptions& options, const data::Schema& left,
                                const data::Schema& right) {
  const JoinKind kind = options.kind;
  std::vector<data::Field> fields;
  std::vector<std::string> key;
  add_side(left, options.left_prefix, kind == JoinKind::right || kind == JoinKind::full, fields,
           key);
  add_side(right, options.right_prefix, kind == JoinKind::left || kind == JoinKind::full, fields,
           key);
  const bool is_keyed =
      kind == JoinKind::inner && !left.primary_key().empty() && !right.primary_key().empty();
  if (!is_keyed) key.clear();
  auto schema = data::Schema::make(std::move(fields), key);
  if (schema || schema.error().code() != data::Errc::duplicate_column) return schema;
  return Error(schema.error().code(), "both sides have a column '" +
                                          std::string(schema.error().detail()) +
                                          "': give a left_prefix or a right_prefix");
}

data::SchemaRef share(data::Schema schema) {
  return std::make_shared<const data::Schema>(std::move(schema));
}

}  // namespace

Result<std::unique_ptr<Operator>> Join::make(std::span<const data::SchemaRef> inputs,
                                             const Library& library) const {
  const data::SchemaRef& left = inputs[0];
  const data::SchemaRef& right = inputs[1];
  auto keys = make_keys(options.on, *left, *right, library);
  if (!keys) return std::move(keys).error();
  internal::CheckedJoin join{
      .kind = options.kind,
      .sides = {{{left, std::move(keys->left)}, {right, std::move(keys->right)}}}};

  // Where the right side is only looked for, its names do not matter.
  const bool is_filter = options.kind == JoinKind::semi || options.kind == JoinKind::anti;
  if (!is_filter || options.condition) {
    auto pairs = make_pairs(options, *left, *right);
    if (!pairs) return std::move(pairs).error();
    join.pairs = share(*std::move(pairs));
  }
  join.schema = is_filter ? left : join.pairs;
  if (options.condition) {
    auto condition = internal::Condition::make(*options.condition, *join.pairs, library);
    if (!condition) return std::move(condition).error();
    join.condition = *std::move(condition);
  }
  return std::make_unique<internal::JoinOperator>(std::move(join));
}

}  // namespace weir::flow::operators
