#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include <weir/runtime/explore.hpp>

namespace weir {

/// `explore` inside a GoogleTest: a seed also fails when an `EXPECT` or `ASSERT` of the scenario
/// does, and a failing seed fails the test. For those who use GoogleTest; nothing else includes it.
inline void explore_in_test(ExploreOptions options,
                            const std::function<void(Simulation&)>& scenario) {
  if (::testing::Test::HasFailure()) return;
  options.has_failed = [] { return ::testing::Test::HasFailure(); };
  if (const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info()) {
    options.replay_arguments =
        std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
  }
  const ExploreReport report = explore(options, scenario);
  if (!report.has_failed()) return;
  ADD_FAILURE() << "seed " << *report.failed_seed << ": " << report.failure
                << "\nreplay it: " << report.replay;
}

}  // namespace weir
