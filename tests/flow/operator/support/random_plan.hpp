#pragma once

#include <vector>

#include <weir/flow/operator/plan.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>

namespace weir::flow::operators::test {

/// Which operators a query is made of.
enum class PlanKind {
  plain,       // those whose result depends on nothing but the rows that there are
  historical,  // also those that depend on how they came: `History` evaluates it
};

/// Queries over some tables.
class RandomPlan {
 public:
  RandomPlan(const std::vector<RandomTable>& tables, data::test::RandomData& random,
             PlanKind kind = PlanKind::plain)
      : tables_(tables), random_(random), kind_(kind) {}

  /// Operators one behind the other, at most so many; parts are used more than once.
  Plan make(std::size_t depth);

 private:
  Plan step(const Plan& input, std::size_t depth);
  Plan filter(const Plan& input);
  Plan map(const Plan& input);
  Plan extend(const Plan& input);
  Plan aggregate(const Plan& input);
  Plan join(const Plan& input, std::size_t depth);
  Plan ordered(const Plan& input);
  Plan window(const Plan& input);
  Plan closing(const Plan& input);
  Plan historical(const Plan& input);
  AggregateColumn aggregate_column(const data::Schema& schema);
  std::string column_of(const data::Schema& schema) {
    return schema[random_.below(schema.size())].name;
  }
  data::Expression condition(const data::Schema& schema);
  data::Expression value(const data::Schema& schema);

  const std::vector<RandomTable>& tables_;
  data::test::RandomData& random_;
  PlanKind kind_;
  std::vector<Plan> made_;
};

/// The query as text, for a failure.
std::string describe(const Plan& plan);

}  // namespace weir::flow::operators::test
