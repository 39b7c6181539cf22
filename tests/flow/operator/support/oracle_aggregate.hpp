#pragma once

#include <weir/flow/operator/aggregate.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What an aggregate gives, computed from all rows at once and with the slowest arithmetic. What
/// overflows is null, or its row is dropped. Throws if an expression cannot be computed.
Rows evaluate(const Aggregate& spec, const Rows& input, const data::SchemaRef& input_schema,
              RowErrorPolicy overflows = RowErrorPolicy::null);

}  // namespace weir::flow::operators::test
