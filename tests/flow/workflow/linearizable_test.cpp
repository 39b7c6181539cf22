#include <weir/tests/flow/workflow/support/linearizable.hpp>

#include <gtest/gtest.h>

#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/workflow/support/clients.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// What clients see who claim, complete, fail, revoke and cancel at the same time could have been
// seen by one who does it all alone.
namespace weir::flow::workflow {
namespace {

using testing::Asked;
using testing::AskSome;
using testing::Call;
using testing::Client;
using testing::History;
using testing::is_linearizable;

TEST(Linearizable, OneAfterTheOtherIsWhatItIs) {
  EXPECT_TRUE(is_linearizable({}));
  EXPECT_TRUE(is_linearizable({{Asked::claim, 1, 2, true, 1},
                               {Asked::fail, 3, 4, true, 1},
                               {Asked::claim, 5, 6, true, 3},
                               {Asked::fail, 7, 8, false, 1},
                               {Asked::revoke, 9, 10, true},
                               {Asked::complete, 11, 12, false, 3},
                               {Asked::claim, 13, 14, true, 4},
                               {Asked::describe, 15, 16, false, 4, true},
                               {Asked::complete, 17, 18, true, 4},
                               {Asked::cancel, 19, 20, false},
                               {Asked::describe, 21, 22, true, 5}}));
}

TEST(Linearizable, ThoseAtTheSameTimeMayHaveBeenInAnyOrder) {
  // The cancel was asked first and done last.
  EXPECT_TRUE(is_linearizable({{Asked::claim, 1, 2, true, 1},
                               {Asked::cancel, 3, 6, false},
                               {Asked::complete, 4, 5, true, 1}}));
  // One without an answer may have been done, or not.
  EXPECT_TRUE(is_linearizable({{Asked::claim, 1, {}}, {Asked::claim, 2, 3, false}}));
  EXPECT_TRUE(is_linearizable({{Asked::claim, 1, {}}, {Asked::claim, 2, 3, true, 1}}));
}

TEST(Linearizable, WhatCannotBeIsSeen) {
  const Call claim{Asked::claim, 1, 2, true, 1};
  // Two have the same lease.
  EXPECT_FALSE(is_linearizable({claim, {Asked::claim, 3, 4, true, 1}}));
  // Two leases at a time.
  EXPECT_FALSE(is_linearizable({claim, {Asked::claim, 3, 4, true, 2}}));
  // It ends twice.
  EXPECT_FALSE(
      is_linearizable({claim, {Asked::complete, 3, 4, true, 1}, {Asked::cancel, 5, 6, true}}));
  EXPECT_FALSE(
      is_linearizable({claim, {Asked::complete, 3, 6, true, 1}, {Asked::complete, 4, 5, true, 1}}));
  // A worker whose lease was taken is heard.
  EXPECT_FALSE(
      is_linearizable({claim, {Asked::revoke, 3, 4, true}, {Asked::complete, 5, 6, true, 1}}));
  // What was answered is not seen.
  EXPECT_FALSE(is_linearizable(
      {claim, {Asked::complete, 3, 4, true, 1}, {Asked::describe, 5, 6, false, 1, true}}));
  // Nothing is there to claim, although nobody has it.
  EXPECT_FALSE(is_linearizable({{Asked::claim, 1, 2, false}}));
}

class LinearizableTest : public testing::EngineTest {
 protected:
  void make(History& history, int executions) {
    for (int i = 0; i < executions; ++i) {
      const std::string lane = "lane" + std::to_string(i);
      history.add(lane, create({.kind = "w",
                                .lane = lane,
                                .retry = {.retries_max = 1000, .backoff = Duration::zero()}}));
    }
  }
  void expect_linearizable(const History& history) {
    for (const std::string& lane : history.lanes()) {
      const auto calls = history.calls(lane);
      std::string text;
      for (const Call& call : calls) text += to_string(call) + "\n";
      EXPECT_TRUE(is_linearizable(calls)) << lane << "\n" << text;
    }
  }
};

Task<> ask(RefOf<Client> client, int calls) {
  EXPECT_TRUE((co_await client.ask<AskSome>(calls).within(forever)).value());
}
Task<> ask_all(std::vector<RefOf<Client>> clients, int calls) {
  TaskScope scope;
  for (const auto& client : clients) scope.spawn(ask(client, calls));
  co_await scope.join();
}
Task<bool> ask_together(std::vector<RefOf<Client>> clients, int calls) {
  co_await ask_all(std::move(clients), calls);
  co_return true;
}

TEST_F(LinearizableTest, WhatManyClientsSeeCouldHaveBeenSeenByOne) {
  std::size_t planted = 0;
  for (int round = 0; round < 20; ++round) {
    History history;
    make(history, 3);
    std::vector<RefOf<Client>> clients;
    for (int i = 0; i < 6; ++i) clients.push_back(system().spawn<Client>(&engine(), &history));
    ASSERT_TRUE(run(ask_together(clients, 25)));
    expect_linearizable(history);
    for (const auto& client : clients) client.stop();
    // The same with a lie: somebody whose lease was gone is said to have been heard.
    for (const std::string& lane : history.lanes()) {
      auto calls = history.calls(lane);
      const auto liar = std::ranges::find_if(calls, [](const Call& call) {
        return (call.asked == Asked::complete || call.asked == Asked::fail) && !call.is_done;
      });
      if (liar == calls.end()) continue;
      liar->is_done = true;
      planted += is_linearizable(calls) ? 0 : 1;
    }
    for (const std::string& lane : history.lanes()) {
      static_cast<void>(run(engine().cancel(history.id(lane))));
    }
  }
  // Hardly any lie could have been the truth.
  EXPECT_GE(planted, 20U);
}

}  // namespace
}  // namespace weir::flow::workflow
