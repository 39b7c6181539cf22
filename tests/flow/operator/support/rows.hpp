#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/schema.hpp>

namespace weir::flow::operators::test {

using Row = std::vector<data::Value>;
/// A bag: each row, and how often it is there.
using Rows = std::map<Row, data::Weight>;

/// Throws if it is refused.
data::SchemaRef make_schema(std::vector<data::Field> fields,
                            const std::vector<std::string>& primary_key = {});
data::ChangeBatch make_batch(const data::SchemaRef& schema,
                             const std::vector<std::pair<Row, data::Weight>>& rows);
data::ChangeBatch make_batch(const data::SchemaRef& schema, const Rows& rows);

/// Rows that come to nothing are gone.
void add(Rows& rows, const Row& row, data::Weight weight);
void add(Rows& rows, const data::ChangeBatch& batch);

/// What an expression gives for one row; none if it cannot be computed. Throws if it is refused.
std::optional<data::Value> try_evaluate(const data::Expression& expression,
                                        const data::SchemaRef& schema, const Row& row);
/// The same; throws if it cannot be computed.
data::Value evaluate(const data::Expression& expression, const data::SchemaRef& schema,
                     const Row& row);
bool is_true(const data::Expression& condition, const data::SchemaRef& schema, const Row& row);

/// A line for each row.
std::string to_string(const Rows& rows);

}  // namespace weir::flow::operators::test
