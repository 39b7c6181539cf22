// What clients of several engines see, while the server goes away underneath.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>
#include <weir/tests/flow/workflow/support/clients.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using testing::Asked;
using testing::AskSome;
using testing::Call;
using testing::Client;
using testing::History;

/// Who gets no answer asks nothing more: what became of its question is not known.
Task<> ask_some(RefOf<Client> client, int calls) {
  static_cast<void>(co_await client.ask<AskSome>(calls).within(forever));
}
Task<bool> ask_together(std::vector<RefOf<Client>> clients, int calls) {
  TaskScope scope;
  for (const auto& client : clients) scope.spawn(ask_some(client, calls));
  co_await scope.join();
  co_return true;
}

class SharedHistoryTest : public StoreTest {
 protected:
  void make(const Engine& engine, History& history, int executions) {
    for (int i = 0; i < executions; ++i) {
      const std::string lane = "lane" + std::to_string(i);
      const RetryPolicy retry{.retries_max = 1000, .backoff = Duration::zero()};
      auto made = run(engine.create_execution({.kind = "w", .lane = lane, .retry = retry}));
      history.add(lane, made.value().id);
    }
  }
  static std::size_t answers(const History& history) {
    std::size_t count = 0;
    for (const std::string& lane : history.lanes()) {
      for (const Call& call : history.calls(lane)) count += call.end ? 1 : 0;
    }
    return count;
  }
};

TEST_F(SharedHistoryTest, IsThatOfOneStoreAlsoAcrossARestartOfTheServer) {
  const std::vector<Engine> engines = [&] {
    std::vector<Engine> opened;
    for (int i = 0; i < 2; ++i) opened.push_back(open());
    return opened;
  }();
  History history;
  make(engines[0], history, 4);
  std::vector<RefOf<Client>> clients;
  for (std::size_t i = 0; i < 8; ++i) {
    clients.push_back(system().spawn<Client>(&engines[i % 2], &history));
  }
  std::thread asking([&] { EXPECT_TRUE(run(ask_together(clients, 22))); });
  weir::testing::eventually("the first answers", [&] { return answers(history) >= 30; });
  server().restart();
  asking.join();
  EXPECT_GT(answers(history), 60U) << "hardly anybody went on";
  for (const std::string& lane : history.lanes()) {
    auto calls = history.calls(lane);
    // Who claims passes over what another engine looks at: that it got nothing says nothing.
    std::erase_if(calls, [](const Call& call) {
      return call.asked == Asked::claim && call.end && !call.is_done;
    });
    std::string text;
    for (const Call& call : calls) text += to_string(call) + "\n";
    EXPECT_TRUE(is_linearizable(calls)) << lane << "\n" << text;
  }
  for (const auto& client : clients) client.stop();
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
