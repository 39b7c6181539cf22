#include <cstdio>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/random_run.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow {
namespace {

using testing::RandomRun;

// WEIR_SEED=n runs one of them again.
TEST(Model, RandomWorkflowsAreWhatTheModelSaysAfterEveryStep) {
  const auto count = testing::board_size(static_cast<std::size_t>(weir::testing::scaled(6000)), 20);
  for (const std::uint64_t seed : storage::test::seeds(count)) {
    RandomRun run(seed);
    std::string problem;
    const std::size_t steps = 20 + 8 * run.size();
    for (std::size_t i = 0; i < steps && problem.empty(); ++i) problem = run.step();
    if (problem.empty()) problem = run.finish();
    ASSERT_EQ(problem, "") << "seed " << seed << "\n" << run.history();
  }
}

}  // namespace
}  // namespace weir::flow::workflow
