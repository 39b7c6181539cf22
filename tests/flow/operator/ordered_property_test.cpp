#include <gtest/gtest.h>

#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle_ordered.hpp>
#include <weir/tests/flow/operator/support/random_changes.hpp>

namespace weir::flow::operators {
namespace {

using data::SchemaRef;
using data::test::RandomData;
using test::RandomChanges;
using test::Rows;

OrderOptions random_order(RandomData& random, const data::Schema& schema) {
  OrderOptions options;
  for (const data::Field& field : schema.fields()) {
    if (random.one_in(4)) {
      options.per.push_back(field.name);
    } else if (random.one_in(2)) {
      options.order.push_back(random.one_in(2) ? ascending(field.name) : descending(field.name));
    }
  }
  return options;
}

SchemaRef random_schema(RandomData& random) {
  std::vector<data::Field> fields;
  for (std::size_t i = 1 + random.below(4); i > 0; --i)
    fields.push_back({"c" + std::to_string(fields.size()), random.type(), !random.one_in(3)});
  return test::make_schema(std::move(fields));
}

template <class Spec>
void compare_with_sorting(const Spec& spec, const SchemaRef& schema, RandomData& random) {
  auto graph = Graph::make(Plan::make(spec, {from("t", schema)})).value();
  RandomChanges changes(random, schema, 5);
  Rows result;
  for (int cycle = 0; cycle < 8; ++cycle) {
    auto given = graph->run({{"t", changes.next(8)}});
    ASSERT_TRUE(given) << given.error().message();
    graph->commit();
    test::add(result, *given);
    const Rows expected = test::evaluate(spec, changes.rows(), schema);
    ASSERT_TRUE(result == expected) << "cycle " << cycle << "\n"
                                    << test::to_string(result) << "instead of\n"
                                    << test::to_string(expected);
  }
}

TEST(OrderedProperty, GivesWhatSortingAllRowsGivesAfterEveryCycle) {
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const SchemaRef schema = random_schema(random);
    const OrderOptions options = random_order(random, *schema);
    compare_with_sorting(Top(1 + random.below(4), options), schema, random);
    compare_with_sorting(RowNumber("number", options), schema, random);
  }
}

TEST(OrderedProperty, KeepsWhatEveryFlowReliesOn) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const SchemaRef schema = random_schema(random);
    const OrderOptions options = random_order(random, *schema);
    const Plan source = from("t", schema);
    const Plan top = source.top(1 + random.below(4), options);
    OperatorHarness harness(random.one_in(2)   ? top
                            : random.one_in(2) ? source.row_number("number", options)
                                               : top.row_number("number", options));
    RandomChanges changes(random, schema, 5);
    for (int cycle = 0; cycle < 6; ++cycle) harness.add("t", changes.next(8));
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
}

TEST(OrderedProperty, HoldsForGroupsThatAreNotAllInMemory) {
  const SchemaRef schema = test::make_schema({{"n", data::Kind::int64}});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    OperatorHarness harness(from("t", schema).take(3, {descending("n")}));
    RandomChanges changes(random, schema, 4000);
    for (int cycle = 0; cycle < 6; ++cycle) harness.add("t", changes.next(600));
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators
