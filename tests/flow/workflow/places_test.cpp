// Crashes at every commit that begins or ends a lease: no place of a lane or of a limit is lost.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::EngineTest;

/// What leases there are is what is counted, in the lane and under each key.
class PlacesTest : public EngineTest {
 protected:
  void expect_counted(const std::vector<ExecutionId>& ids) {
    std::map<std::string, std::uint64_t> leased = {{"a", 0}, {"b:1", 0}, {"b:2", 0}};
    std::uint64_t all = 0;
    for (const ExecutionId& id : ids) {
      const Execution execution = describe(id).execution;
      if (execution.state.ownership != Ownership::leased) continue;
      ++all;
      for (const std::string& key : execution.limit_keys) ++leased[key];
    }
    EXPECT_EQ(run(engine().lane("default")).value().active, all);
    for (const auto& [key, active] : leased) {
      EXPECT_EQ(run(engine().limit(key)).value().active, active) << key;
    }
  }
  std::vector<ExecutionId> prepare() {
    std::vector<ExecutionId> ids;
    static_cast<void>(run(engine().set_limit("a", 2)));
    static_cast<void>(run(engine().set_limit("b:*", 1)));
    for (int i = 0; i < 6; ++i) {
      auto made = run(
          engine().create_execution({.kind = "work",
                                     .limit_keys = i % 2 == 0 ? std::vector<std::string>{"a", "b:1"}
                                                              : std::vector<std::string>{"b:2"}}));
      if (made) ids.push_back(made->id);
    }
    return ids;
  }
  /// Everything that begins and ends leases; false as soon as the engine does not answer.
  bool play() {
    for (int round = 0; round < 4; ++round) {
      auto claimed = run(engine().claim({.worker = "w", .lease = 5s, .executions_max = 10}));
      if (!claimed) return false;
      int way = round;
      for (const Claimed& one : *claimed) {
        const ExecutionId id = one.handle.execution;
        switch (way++ % 5) {
          case 0:
            if (!run(engine().complete(one.handle))) return false;
            break;
          case 1:
            if (!run(engine().fail(one.handle, {"no"}))) return false;
            break;
          case 2:
            if (!run(engine().cancel(id))) return false;
            break;
          case 3:
            if (!run(engine().suspend(one.handle, {.condition = WaitCondition::all_of({"x"})}))) {
              return false;
            }
            if (!run(engine().approve({id, "x"}))) return false;
            break;
          default: pass(6s); break;
        }
      }
    }
    return true;
  }
};

TEST_F(PlacesTest, NoPlaceIsLostWhereverItCrashes) {
  bool is_through = false;
  for (std::uint64_t write = 1; !is_through; ++write) {
    ASSERT_LT(write, 1000U);
    const auto ids = prepare();
    fail_commit(write);
    is_through = play();
    crash();
    expect_counted(ids);
    // Once all leases are over, all places are free.
    for (const ExecutionId& id : ids) ASSERT_TRUE(run(engine().cancel(id)));
    expect_counted(ids);
    EXPECT_EQ(run(engine().lane("default")).value().active, 0U) << write;
  }
}

}  // namespace
}  // namespace weir::flow::workflow
