#include <weir/flow/operator/row_number.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators {
namespace {

using data::Kind;
using data::SchemaRef;

const SchemaRef sales = test::make_schema({{"city", Kind::text}, {"amount", Kind::int64}});
const Plan numbered =
    from("sales", sales).row_number("place", {.per = {"city"}, .order = {descending("amount")}});

std::string run(Graph& graph, const std::vector<std::pair<test::Row, data::Weight>>& changes) {
  auto result = graph.run({{"sales", test::make_batch(sales, changes)}});
  if (!result) return result.error().message();
  graph.commit();
  return to_string(*result);
}

TEST(RowNumber, CountsTheRowsOfEachGroupInOrder) {
  auto graph = Graph::make(numbered).value();
  EXPECT_EQ(run(*graph, {{{"Rom", 5}, 1}, {{"Rom", 7}, 1}, {{"Ulm", 1}, 1}}),
            "+1 ('Rom', 7, 1)\n+1 ('Rom', 5, 2)\n+1 ('Ulm', 1, 1)\n");
  EXPECT_EQ(run(*graph, {{{"Rom", 6}, 1}}),
            "+1 ('Rom', 6, 2)\n-1 ('Rom', 5, 2)\n+1 ('Rom', 5, 3)\n");
  EXPECT_EQ(run(*graph, {{{"Rom", 5}, -1}}), "-1 ('Rom', 5, 3)\n");
}

TEST(RowNumber, GivesEveryCopyOfARowANumber) {
  auto graph = Graph::make(numbered).value();
  EXPECT_EQ(run(*graph, {{{"Rom", 5}, 2}}), "+1 ('Rom', 5, 1)\n+1 ('Rom', 5, 2)\n");
  EXPECT_EQ(run(*graph, {{{"Rom", 9}, 1}}),
            "+1 ('Rom', 9, 1)\n-1 ('Rom', 5, 1)\n+1 ('Rom', 5, 3)\n");
}

TEST(RowNumber, NamesARowThatWentButNeverCame) {
  auto graph = Graph::make(numbered).value();
  EXPECT_EQ(run(*graph, {{{"Rom", 5}, -1}}),
            "unknown row: row_number: row ('Rom', 5) went more often than it came");
}

TEST(RowNumber, AddsAColumnThatIsNeverNull) {
  EXPECT_EQ(to_string(*Graph::make(numbered).value()->schema()),
            "(city text, amount int64, place int64 not null)");
  EXPECT_EQ(Graph::make(from("sales", sales).row_number("city", {})).error().message(),
            "duplicate column: row_number: city");
}

}  // namespace
}  // namespace weir::flow::operators
