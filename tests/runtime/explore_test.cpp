#include <weir/runtime/explore.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <weir/runtime/explore_gtest.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

struct Note {
  int number;
};

class Notebook final : public Actor<Note> {
 public:
  explicit Notebook(std::vector<int>* notes) : notes_(notes) {}
  void on(Note note) { notes_->push_back(note.number); }

 private:
  std::vector<int>* notes_;
};

class Writer final : public Actor<Note> {
 public:
  explicit Writer(ActorRef<Note> notebook) : notebook_(std::move(notebook)) {}
  void on(Note note) { notebook_.send(note); }

 private:
  ActorRef<Note> notebook_;
};

/// What two writers wrote, in the order that the seed decides.
std::vector<int> write(Simulation& simulation) {
  std::vector<int> notes;
  auto notebook = simulation.system().spawn<Notebook>(&notes);
  for (int i = 0; i < 4; ++i) simulation.system().spawn<Writer>(notebook).send<Note>(i);
  simulation.run_until_idle();
  return notes;
}

void expect_ascending(Simulation& simulation) {
  if (write(simulation) == std::vector<int>{3, 2, 1, 0}) throw std::runtime_error("backwards");
}

/// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;

 private:
  const char* name_;
};

class Explore : public ::testing::Test {
 protected:
  // What the tests print is part of what they test, and whoever replays them sets variables.
  void SetUp() override {
    unsetenv("WEIR_SEED");
    unsetenv("WEIR_SEEDS");
  }

  static ExploreReport find_backwards(ExploreOptions options = {}) {
    ::testing::internal::CaptureStderr();
    ExploreReport report = explore(options, &expect_ascending);
    printed() = ::testing::internal::GetCapturedStderr();
    return report;
  }
  static std::string& printed() {
    static std::string text;
    return text;
  }
};

TEST_F(Explore, FindsTheSeedThatFails) {
  const ExploreReport report = find_backwards();
  ASSERT_TRUE(report.has_failed());
  EXPECT_GT(*report.failed_seed, 1u);
  EXPECT_EQ(report.seeds_run, *report.failed_seed);
  EXPECT_EQ(report.failure, "backwards");
}

TEST_F(Explore, PrintsTheCommandThatReplaysAFailure) {
  const ExploreReport report = find_backwards();
  const std::string seed = std::to_string(*report.failed_seed);
  EXPECT_EQ(report.replay.find("WEIR_SEED=" + seed + " "), 0u) << report.replay;
  EXPECT_NE(report.replay.find("weir_runtime_test"), std::string::npos) << report.replay;
  EXPECT_NE(printed().find("seed " + seed + " failed"), std::string::npos) << printed();
  EXPECT_NE(printed().find("replay it: " + report.replay + "\n"), std::string::npos) << printed();
}

TEST_F(Explore, AVariableReplaysOneSeedAlone) {
  const std::uint64_t seed = *find_backwards().failed_seed;
  const Variable variable("WEIR_SEED", std::to_string(seed));
  const ExploreReport report = find_backwards();
  EXPECT_EQ(report.seeds_run, 1u);
  EXPECT_EQ(report.failed_seed, seed);
}

TEST_F(Explore, AVariableSetsTheNumberOfSeeds) {
  const Variable variable("WEIR_SEEDS", "17");
  EXPECT_EQ(explore({}, [](Simulation&) {}).seeds_run, 17u);
}

TEST_F(Explore, RefusesAVariableThatIsNoNumber) {
  const Variable variable("WEIR_SEED", "many");
  EXPECT_THROW(static_cast<void>(explore({}, [](Simulation&) {})), std::invalid_argument);
}

TEST_F(Explore, PassesWhenEverySeedDoes) {
  const ExploreReport report = explore(
      {.seeds = 50}, [](Simulation& simulation) { EXPECT_EQ(write(simulation).size(), 4u); });
  EXPECT_FALSE(report.has_failed());
  EXPECT_EQ(report.seeds_run, 50u);
}

TEST_F(Explore, EachSimulationHasItsSeedAndTheGivenOptions) {
  std::vector<std::uint64_t> seeds;
  ExploreOptions options{.seeds = 3, .first_seed = 40};
  options.simulation.system.mailbox_capacity = 7;
  const ExploreReport report = explore(options, [&](Simulation& simulation) {
    seeds.push_back(simulation.seed());
    EXPECT_EQ(simulation.system().options().mailbox_capacity, 7u);
  });
  EXPECT_FALSE(report.has_failed());
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{40, 41, 42}));
}

TEST_F(Explore, AsksWhetherSomethingElseHasFailed) {
  int runs = 0;
  ExploreOptions options;
  options.has_failed = [&] { return runs == 3; };
  ::testing::internal::CaptureStderr();
  const ExploreReport report = explore(options, [&](Simulation&) { ++runs; });
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.failed_seed, 3u);
}

class Restless final : public Actor<Note> {
 public:
  void on(Note note) { self().send(note); }
};

TEST_F(Explore, AnEndlessRunIsAFailure) {
  ExploreOptions options;
  options.simulation.steps_max = 1000;
  ::testing::internal::CaptureStderr();
  const ExploreReport report = explore(options, [](Simulation& simulation) {
    simulation.system().spawn<Restless>().send<Note>(0);
    simulation.run_until_idle();
  });
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.failed_seed, 1u);
}

TEST_F(Explore, I6NoticesActorsThatDependOnSomethingElse) {
  int rounds = 0;
  ::testing::internal::CaptureStderr();
  const ExploreReport report = explore({.runs_twice = true}, [&](Simulation& simulation) {
    std::vector<int> notes;
    auto notebook = simulation.system().spawn<Notebook>(&notes);
    for (int i = 0; i <= rounds % 2; ++i) notebook.send<Note>(i);
    simulation.run_until_idle();
    ++rounds;
  });
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.failed_seed, 1u);
  EXPECT_NE(report.failure.find("differ"), std::string::npos);
  EXPECT_FALSE(explore({.seeds = 20, .runs_twice = true}, [](Simulation& simulation) {
                 write(simulation);
               }).has_failed());
}

TEST_F(Explore, InATestAFailedExpectationIsTheSeedsFailure) {
  ::testing::internal::CaptureStderr();
  EXPECT_NONFATAL_FAILURE(explore_in_test({}, &expect_ascending), "replay it: WEIR_SEED=");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("--gtest_filter=Explore.InATestAFailedExpectationIsTheSeedsFailure"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace weir
