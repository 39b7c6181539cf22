#include <weir/flow/operator/distinct.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

const data::SchemaRef words = make_schema({{"word", data::Kind::text}});

std::string run(Graph& graph, const std::vector<std::pair<Row, data::Weight>>& changes) {
  auto result = graph.run({{"words", make_batch(words, changes)}});
  if (!result) return result.error().message();
  graph.commit();
  return to_string(*result);
}

TEST(Distinct, GivesEachRowOnceHoweverOftenItCame) {
  auto graph = Graph::make(from("words", words).distinct()).value();
  EXPECT_EQ(run(*graph, {{{"a"}, 1}, {{"b"}, 1}, {{"a"}, 1}}), "+1 ('a')\n+1 ('b')\n");
  EXPECT_EQ(run(*graph, {{{"a"}, -1}}), "");
  EXPECT_EQ(run(*graph, {{{"a"}, -1}, {{"b"}, -1}, {{"b"}, 2}}), "-1 ('a')\n");
}

TEST(Distinct, TakesNullsForEqual) {
  auto graph = Graph::make(from("words", words).distinct()).value();
  EXPECT_EQ(run(*graph, {{{data::Value()}, 1}, {{data::Value()}, 1}}), "+1 (null)\n");
}

TEST(Distinct, NamesARowThatWentWithoutHavingCome) {
  auto graph = Graph::make(from("words", words).distinct()).value();
  EXPECT_EQ(run(*graph, {{{"a"}, -1}}),
            "unknown row: distinct: row ('a') went more often than it came");
}

}  // namespace
}  // namespace weir::flow::operators::test
