// Worker processes that are killed at any point, and a server that is restarted and killed
// underneath them: every execution ends once, no place of a lane is lost, and no notice either.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

/// Another process, which is killed when this object goes.
class Worker {
 public:
  Worker(const std::string& connection, std::uint64_t seed) {
    const std::string number = std::to_string(seed);
    process_ = ::fork();
    if (process_ != 0) return;
    ::execl(WEIR_WORKER, WEIR_WORKER, connection.c_str(), number.c_str(), nullptr);
    ::_exit(127);
  }
  ~Worker() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
  }
  Worker(Worker&& other) noexcept : process_(std::exchange(other.process_, 0)) {}
  Worker& operator=(Worker&& other) noexcept {
    std::swap(process_, other.process_);
    return *this;
  }

 private:
  pid_t process_ = 0;
};

class ProcessTest : public StoreTest {
 protected:
  /// Whatever happens to the server, it is made once.
  void make(const Engine& engine, std::mt19937_64& random) {
    const RetryPolicy retry{.retries_max = 3, .backoff = 1ms};
    if (random() % 3 > 0) {
      const std::string key = "key" + std::to_string(random());
      for (;;) {
        auto made =
            run(engine.create_execution({.kind = "work", .idempotency_key = key, .retry = retry}));
        if (!made) continue;
        all_.push_back(made->id);
        return;
      }
    }
    NewGraph graph{.executions = std::vector<NewExecution>(4, {.kind = "node", .retry = retry}),
                   .edges = {{0, 1}, {0, 2}, {1, 3, "left"}, {2, 3, "right"}}};
    if (random() % 2 == 0) {
      graph.policies = {{3, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}};
    }
    graph.workflow.id = WorkflowId{make_timed_uuid(random(), random(), random())};
    for (;;) {
      auto made = run(engine.create_graph(graph));
      if (!made) continue;
      all_.insert(all_.end(), made->executions.begin(), made->executions.end());
      workflows_.push_back(made->workflow);
      return;
    }
  }

  void judge(const Engine& engine) {
    std::map<ExecutionId, int> told;
    for (std::uint64_t from = 1;;) {
      const auto notices = run(engine.notices(from, 1000)).value();
      if (notices.empty()) break;
      for (const auto& [number, notice] : notices) {
        ASSERT_EQ(number, from++);
        if (notice.kind == NoticeKind::completion) ++told[notice.execution];
      }
    }
    EXPECT_EQ(std::to_string(all_.size()), query("select count(*) from workflow_executions"));
    for (const ExecutionId& id : all_) {
      const auto info = run(engine.describe(id)).value();
      ASSERT_TRUE(info) << to_string(id) << " was answered, and is lost";
      EXPECT_TRUE(info->execution.has_ended()) << to_string(info->execution.state);
      EXPECT_EQ(told[id], 1) << to_string(id);
    }
    for (const WorkflowId& id : workflows_) {
      const Workflow workflow = run(engine.describe(id)).value()->workflow;
      EXPECT_TRUE(workflow.has_ended()) << to_string(id);
      EXPECT_EQ(workflow.counts.terminal(), 4U) << to_string(id);
    }
    EXPECT_EQ(run(engine.lane("default")).value().active, 0U);
  }

  std::vector<ExecutionId> all_;
  std::vector<WorkflowId> workflows_;
};

TEST_F(ProcessTest, EveryExecutionEndsOnceHoweverManyProcessesAndServersDie) {
  const std::uint64_t seed = storage::test::first_seed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const std::string connection = options_for(server()).database.connection;
  const Engine engine = open();
  std::vector<Worker> workers;
  std::uint64_t born = seed * 1000;
  while (workers.size() < 3) workers.emplace_back(connection, ++born);
  const std::uint64_t rounds = storage::test::long_round() == 0 ? 6 : 120;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < 25; ++i) make(engine, random);
    workers[random() % workers.size()] = Worker(connection, ++born);
    if (round % 3 == 1) server().restart();
    if (round % 3 == 2) {
      server().kill();
      server().revive();
    }
  }
  weir::testing::eventually("the end of all", [&] {
    return query("select count(*) from workflow_executions where phase <> 'terminal'") == "0" &&
           query("select count(*) from workflow_workflows where is_cancelling") == "0";
  });
  workers.clear();
  judge(engine);
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
