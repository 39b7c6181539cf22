#pragma once

#include <map>
#include <string>
#include <utility>

#include <weir/flow/operator/plan.hpp>
#include <weir/tests/flow/operator/support/oracle_history.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a query gives, computed from all rows of its sources, one by one: written apart from the
/// operators, so that both are not wrong in the same way.
///
/// Rows that cannot be computed are left out, as by the policy `drop`.
Rows evaluate(const Plan& plan, const std::map<std::string, Rows>& sources);

/// The same for a query that depends on what happened, commit by commit.
class History {
 public:
  explicit History(Plan plan) : plan_(std::move(plan)) {}

  /// What the query gives after one more commit, which made the tables what they are.
  Rows next(const std::map<std::string, Rows>& sources);

 private:
  Rows evaluate(const Plan& plan, const std::map<std::string, Rows>& sources,
                std::map<const Plan::Node*, Rows>& known);

  struct Closing {
    Closing(const Window& window, data::SchemaRef schema) : history(window, std::move(schema)) {}
    ClosingHistory history;
    Rows before = {};
  };

  Plan plan_;
  std::map<const Plan::Node*, LatchHistory> latches_;
  std::map<const Plan::Node*, ArrivalHistory> arrivals_;
  std::map<const Plan::Node*, Closing> closing_;
};

}  // namespace weir::flow::operators::test
