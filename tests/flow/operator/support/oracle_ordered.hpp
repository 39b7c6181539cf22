#pragma once

#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/top.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// All rows of each group are sorted, and then counted.
Rows evaluate(const Top& spec, const Rows& rows, const data::SchemaRef& schema);
Rows evaluate(const RowNumber& spec, const Rows& rows, const data::SchemaRef& schema);

}  // namespace weir::flow::operators::test
