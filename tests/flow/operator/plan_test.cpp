#include <weir/flow/operator/plan.hpp>

#include <gtest/gtest.h>

#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>

namespace weir::flow::operators::test {
namespace {

TEST(Plan, IsTheSameAfterItWasBytes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    data::test::RandomData random(seed);
    const std::vector<RandomTable> tables{RandomTable::make("left", 'l', 4, random),
                                          RandomTable::make("right", 'r', 4, random)};
    const Plan plan = RandomPlan(tables, random).make(6);
    const std::string bytes = plan.encode();
    const Plan decoded = Plan::decode(bytes).value();
    ASSERT_EQ(describe(decoded), describe(plan)) << "seed " << seed;
    ASSERT_EQ(decoded.encode(), bytes);
  }
}

TEST(Plan, RefusesBytesThatAreCutOrChanged) {
  const auto schema = make_schema({{"id", data::Kind::int64, false}}, {"id"});
  const std::string bytes = from("a", schema)
                                .filter(data::col("id") > 5)
                                .apply("mine", {data::Value(1), data::Value("x")})
                                .append({from("a", schema)})
                                .encode();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Plan::decode(bytes.substr(0, size))) << size;
  EXPECT_FALSE(Plan::decode(bytes + "x"));
  // Whatever it makes of them, it comes back.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      (void)Plan::decode(changed);
    }
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
