#include <weir/flow/operator/append.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::Kind;

const data::SchemaRef left =
    make_schema({{"id", Kind::int64, false}, {"note", Kind::text, false}}, {"id"});
const data::SchemaRef right = make_schema({{"number", Kind::int64, false}, {"text", Kind::text}});

TEST(Append, GivesTheRowsOfAllItsInputs) {
  auto graph = Graph::make(from("left", left).append({from("right", right)})).value();
  EXPECT_EQ(data::to_string(*graph->schema()), "(id int64 not null, note text)");
  EXPECT_EQ(to_string(graph
                          ->run({{"left", make_batch(left, Rows{{{1, "a"}, 1}})},
                                 {"right", make_batch(right, Rows{{{1, "a"}, 2}, {{2, "b"}, 1}})}})
                          .value()),
            "+3 (1, 'a')\n+1 (2, 'b')\n");
}

TEST(Append, RefusesInputsOfOtherTypes) {
  const auto narrow = make_schema({{"id", Kind::int64}});
  const auto other = make_schema({{"id", Kind::int64}, {"price", Kind::float64}});
  EXPECT_EQ(Graph::make(from("left", left).append({from("n", narrow)})).error().message(),
            "wrong schema: append: an input has 1 columns, the first one has 2");
  EXPECT_EQ(Graph::make(from("left", left).append({from("o", other)})).error().message(),
            "type mismatch: append: column 'price' is float64, but 'note' of the first input is "
            "text");
  EXPECT_EQ(Graph::make(from("left", left).append({})).error().message(),
            "invalid argument: append: it cannot have 1 inputs");
}

}  // namespace
}  // namespace weir::flow::operators::test
