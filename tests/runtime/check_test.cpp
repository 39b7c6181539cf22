#include <weir/runtime/check.hpp>

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Check, PassesWhenTheInvariantHolds) { check(true, "never printed"); }

TEST(CheckDeathTest, AbortsWithTheMessageAndThePlace) {
  EXPECT_DEATH(check(false, "two owners"),
               "broken invariant: two owners \\(.*runtime/check_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace weir
