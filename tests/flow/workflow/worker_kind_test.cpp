#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/flow/workflow/worker.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

// What a worker does with what it has claimed, on whichever store.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::WorkerTest;

struct Job {
  std::string file;
  std::int32_t width = 0;
};

TEST_F(WorkerTest, RunsWhatBelongsToAKindWithTypedPayloads) {
  start([](Worker& worker) {
    worker.on("resize", [](Job job) { return job.file + ":" + std::to_string(job.width); })
        .on("double", [](std::int64_t n) -> Result<std::int64_t> { return 2 * n; })
        .on("touch", [](std::string) {});
  });
  const ExecutionId resize = begin_execution("resize", to_payload(Job{"cat.png", 80}));
  const ExecutionId twice = begin_execution("double", to_payload(std::int64_t{21}));
  const ExecutionId touch = begin_execution("touch");
  EXPECT_EQ(finish(resize).state, PublicState::completed);
  finish(twice);
  EXPECT_EQ(finish(touch).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(resize), "cat.png:80");
  EXPECT_EQ(result<std::int64_t>(twice), 42);
  EXPECT_EQ(report().completed, 3U);
}

TEST_F(WorkerTest, APayloadThatIsNotWhatTheHandlerTakesFailsTheAttempt) {
  start([](Worker& worker) { worker.on("resize", [](Job job) { return job.file; }); });
  const ExecutionId id =
      create({.kind = "resize", .payload = "\x09x", .retry = {.retries_max = 0}});
  const ExecutionInfo info = finish(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("payload"), std::string::npos)
      << info.execution.end_reason;
}

TEST_F(WorkerTest, ErrorsAndExceptionsAreTriedAgainAsThePolicySays) {
  int tries = 0;
  start([&](Worker& worker) {
    worker.on("flaky", [&tries](std::string) -> Result<std::string> {
      if (++tries == 1) return Error(Errc::unavailable, "not yet");
      if (tries == 2) throw std::runtime_error("still not");
      return "done";
    });
    worker.on("hopeless", [](std::string) -> Result<> { return Error(Errc::step_failed, "no"); });
  });
  const ExecutionId flaky =
      create({.kind = "flaky", .retry = {.retries_max = 2, .backoff = 1s, .multiplier = 1}});
  const ExecutionId hopeless = begin_execution("hopeless");
  EXPECT_EQ(finish(flaky).state, PublicState::completed);
  EXPECT_EQ(tries, 3);
  const auto attempts = run(engine().attempts(flaky)).value();
  ASSERT_EQ(attempts.size(), 3U);
  EXPECT_NE(attempts[0].reason.find("not yet"), std::string::npos);
  EXPECT_NE(attempts[1].reason.find("still not"), std::string::npos);
  EXPECT_EQ(finish(hopeless).state, PublicState::failed);
  EXPECT_EQ(run(engine().attempts(hopeless)).value().size(), 1U);
}

}  // namespace
}  // namespace weir::flow::workflow
