// Worker processes that are killed at any point, and a server that is restarted and killed
// underneath them: every execution ends once, no place of a lane or of a limit is lost, and no
// notice either.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include <weir/flow/workflow/payload.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

/// Another process, which is killed when this object goes.
class WorkerProcess {
 public:
  WorkerProcess(const std::string& connection, std::uint64_t seed, const std::string& ledger) {
    const std::string number = std::to_string(seed);
    process_ = ::fork();
    if (process_ != 0) return;
    ::execl(WEIR_WORKER, WEIR_WORKER, connection.c_str(), number.c_str(), ledger.c_str(), nullptr);
    ::_exit(127);
  }
  ~WorkerProcess() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
  }
  WorkerProcess(WorkerProcess&& other) noexcept : process_(std::exchange(other.process_, 0)) {}
  WorkerProcess& operator=(WorkerProcess&& other) noexcept {
    std::swap(process_, other.process_);
    return *this;
  }

 private:
  pid_t process_ = 0;
};

using Numbered = std::pair<std::uint64_t, Notice>;

bool is_same(const Numbered& a, const Numbered& b) {
  return a.first == b.first && a.second.kind == b.second.kind &&
         a.second.execution == b.second.execution && a.second.epoch == b.second.epoch;
}

/// Reads what is told while it is told, and remembers how far it is in the database.
class Follower {
 public:
  Follower(ActorSystem* system, const Engine* engine)
      : system_(system), engine_(engine), thread_([this] { follow(); }) {}
  ~Follower() { stop(); }
  /// When it has come to the end.
  void stop() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const std::vector<Numbered>& told() const { return told_; }

 private:
  void follow() {
    for (;;) {
      const bool is_last = is_over_;
      auto more = system_->run(engine_->notices(told_.size() + 1, 100));
      if (!more) continue;  // the server is away
      told_.insert(told_.end(), more->begin(), more->end());
      if (more->empty() && is_last) return;
      if (more->empty()) continue;
      static_cast<void>(system_->run(engine_->acknowledge_notices("follower", told_.size())));
    }
  }

  ActorSystem* const system_;
  const Engine* const engine_;
  std::atomic<bool> is_over_ = false;
  std::vector<Numbered> told_;
  std::thread thread_;
};

class ProcessTest : public StoreTest {
 protected:
  static constexpr std::uint32_t lane_places = 12;
  static constexpr int customers = 5;

  void SetUp() override {
    StoreTest::SetUp();
    const auto* directory = std::getenv("TMPDIR");
    ledger_ = std::string(directory != nullptr ? directory : "/tmp") + "/weir_ledger_" +
              std::to_string(::getpid());
    std::filesystem::remove(ledger_);
  }
  void TearDown() override { std::filesystem::remove(ledger_); }

  /// Whatever happens to the server, it is made once.
  ExecutionId make_one(const Engine& engine, NewExecution request) {
    for (;;) {
      if (auto made = run(engine.create_execution(request))) return made->id;
    }
  }
  void make(const Engine& engine, std::mt19937_64& random) {
    const std::string key = "key" + std::to_string(random());
    const auto choice = random() % 6;
    if (choice < 3) {
      const std::string customer = "customer:" + std::to_string(random() % customers);
      all_.push_back(make_one(
          engine,
          {.kind = "work", .idempotency_key = key, .retry = retry, .limit_keys = {customer}}));
    } else if (choice == 3) {
      const std::uint64_t number = random() % 1000;
      trips_[make_one(engine, {.kind = "trip",
                               .payload = to_payload(number),
                               .lane = "trips",
                               .idempotency_key = key,
                               .retry = retry})] = number;
    } else {
      make_graph(engine, random);
    }
  }
  void make_graph(const Engine& engine, std::mt19937_64& random) {
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

  /// Kills for so many rounds, or, in a long run, for more than a minute.
  void kill_at_random(const Engine& engine, std::mt19937_64& random, std::uint64_t seed) {
    using Clock = std::chrono::steady_clock;  // a long run is as long as it says
    const auto begun = Clock::now();          // tidy: allow time_in_tests: how long a soak lasts
    const std::string connection = options_for(server()).database.connection;
    std::vector<WorkerProcess> workers;
    std::uint64_t born = seed * 1000;
    while (workers.size() < 3) workers.emplace_back(connection, ++born, ledger_);
    const bool is_long = storage::test::long_round() > 0;
    const auto goes_on = [&](std::uint64_t round) {
      return is_long ? Clock::now() - begun < 70s  // tidy: allow time_in_tests: a soak
                     : round < 6;
    };
    std::uint64_t round = 0;
    for (; goes_on(round); ++round) {
      for (int i = 0; i < 25; ++i) make(engine, random);
      workers[random() % workers.size()] = WorkerProcess(connection, ++born, ledger_);
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
    std::printf("%llu rounds, %zu executions, %zu workflows, %zu trips\n",
                static_cast<unsigned long long>(round), all_.size(), workflows_.size(),
                trips_.size());
  }

  std::vector<Numbered> all_notices(const Engine& engine) {
    std::vector<Numbered> all;
    for (;;) {
      const auto more = run(engine.notices(all.size() + 1, 1000)).value();
      if (more.empty()) return all;
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  /// Every one has ended, and was told to have, once.
  void judge_ends(const Engine& engine, const std::vector<Numbered>& notices) {
    std::map<ExecutionId, int> told;
    for (std::size_t i = 0; i < notices.size(); ++i) {
      ASSERT_EQ(notices[i].first, i + 1);
      if (notices[i].second.kind == NoticeKind::completion) ++told[notices[i].second.execution];
    }
    for (const auto& [id, number] : trips_) all_.push_back(id);
    // Each trip has begun one of its own.
    EXPECT_EQ(query("select count(*) from workflow_executions"),
              std::to_string(all_.size() + trips_.size()));
    EXPECT_EQ(told.size(), all_.size() + trips_.size());
    for (const auto& [id, times] : told) EXPECT_EQ(times, 1) << to_string(id);
    for (const ExecutionId& id : all_) {
      const auto info = run(engine.describe(id)).value();
      ASSERT_TRUE(info) << to_string(id) << " was answered, and is lost";
      EXPECT_TRUE(info->execution.has_ended()) << to_string(info->execution.state);
    }
    for (const WorkflowId& id : workflows_) {
      const Workflow workflow = run(engine.describe(id)).value()->workflow;
      EXPECT_TRUE(workflow.has_ended()) << to_string(id);
      EXPECT_EQ(workflow.counts.terminal(), 4U) << to_string(id);
    }
  }
  /// Who was told that it has completed something has; what was drawn was drawn once.
  void judge_ledger(const Engine& engine) {
    std::ifstream file(ledger_);
    std::map<std::string, std::string> done;
    std::map<std::string, std::string> drew;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string what;
      std::string id;
      std::string value;
      words >> what >> id >> value;
      auto& seen = what == "done" ? done : drew;
      const auto [before, is_new] = seen.emplace(id, value);
      EXPECT_TRUE(is_new || (what == "drew" && before->second == value)) << line;
      if (what != "done") continue;
      EXPECT_EQ(run(engine.result(parse_execution_id(id).value())).value(), value) << line;
    }
    EXPECT_FALSE(done.empty());
    for (const auto& [id, number] : trips_) {
      const auto result = run(engine.result(id)).value();
      ASSERT_TRUE(result) << to_string(id) << ": "
                          << run(engine.describe(id)).value()->execution.end_reason;
      EXPECT_EQ(from_payload<std::uint64_t>(*result).value(), 2 * number + number * number);
      EXPECT_TRUE(drew.contains(to_string(id)));
    }
  }
  /// All places are free, and can be taken.
  void judge_places(const Engine& engine) {
    for (const char* lane : {"default", "trips"}) {
      EXPECT_EQ(run(engine.lane(lane)).value().active, 0U) << lane;
    }
    for (int i = 0; i < customers; ++i) {
      const std::string key = "customer:" + std::to_string(i);
      EXPECT_EQ(run(engine.limit(key)).value().active, 0U) << key;
    }
    for (std::uint32_t i = 0; i < 2 * lane_places; ++i) make_one(engine, {.kind = "last"});
    const auto claimed = run(engine.claim({.worker = "last", .executions_max = 100})).value();
    EXPECT_EQ(claimed.size(), lane_places);
  }

  const RetryPolicy retry{.retries_max = 3, .backoff = 1ms};
  std::string ledger_;
  std::vector<ExecutionId> all_;
  std::vector<WorkflowId> workflows_;
  std::map<ExecutionId, std::uint64_t> trips_;  // with what they were given
};

TEST_F(ProcessTest, EveryExecutionEndsOnceHoweverManyProcessesAndServersDie) {
  const std::uint64_t seed = storage::test::seeds(1).front();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const Engine engine = open();
  const Engine followed = open();
  ASSERT_TRUE(run(engine.set_lane_limit("default", lane_places)));
  ASSERT_TRUE(run(engine.set_limit("customer:*", 3)));
  Follower follower(&system(), &followed);
  kill_at_random(engine, random, seed);
  follower.stop();
  const auto notices = all_notices(engine);
  ASSERT_EQ(follower.told().size(), notices.size());
  EXPECT_TRUE(std::ranges::equal(follower.told(), notices, is_same));
  EXPECT_EQ(run(engine.notice_cursors()).value().at("follower"), notices.size());
  judge_ends(engine, notices);
  judge_ledger(engine);
  judge_places(engine);
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
