#pragma once

#include <map>
#include <string>

#include <weir/flow/operator/plan.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a query gives, computed from all rows of its sources, one by one: written apart from the
/// operators, so that both are not wrong in the same way.
///
/// Rows that cannot be computed are left out, as by the policy `drop`.
Rows evaluate(const Plan& plan, const std::map<std::string, Rows>& sources);

}  // namespace weir::flow::operators::test
