#pragma once

#include <weir/flow/operator/join.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a join gives: every row of one side is compared with every row of the other.
Rows evaluate(const Join& spec, const Rows& left, const data::SchemaRef& left_schema,
              const Rows& right, const data::SchemaRef& right_schema);

}  // namespace weir::flow::operators::test
