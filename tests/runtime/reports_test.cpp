// What a system says of itself when nobody has set a hook, and where.

#include <weir/runtime/internal/reports.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/asio.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::Level;
using telemetry::LogRecord;

/// Spans and lines of one system.
class Reports : public ::testing::Test {
 protected:
  Simulation simulation() {
    SimulationOptions options;
    options.system.telemetry = spans.telemetry();
    return Simulation(options);
  }
  std::vector<LogRecord> lines() {
    const std::scoped_lock hold(mutex_);
    return lines_;
  }
  std::optional<LogRecord> line(std::string_view message) {
    const auto all = lines();
    const auto found = std::ranges::find(all, message, &LogRecord::message);
    return found == all.end() ? std::nullopt : std::optional(*found);
  }

 private:
  std::mutex mutex_;
  std::vector<LogRecord> lines_;

 protected:
  testing::RecordedSpans spans{{}, {[this](const LogRecord& record) {
                                 const std::scoped_lock hold(mutex_);
                                 lines_.push_back(record);
                               }}};
};

std::string field(const LogRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.attributes, name, &telemetry::Attribute::name);
  if (found == record.attributes.end()) return "none";
  if (const auto* number = std::get_if<std::int64_t>(&found->value)) {
    return std::to_string(*number);
  }
  const auto* text = std::get_if<std::string>(&found->value);
  return text ? *text : "neither text nor number";
}

enum class DoorPhase { closed, open };

struct Break {};
struct Slam {};
struct Wait {};

class Door final : public Actor<Break, Slam, Wait>, public Phased<Door, DoorPhase> {
 public:
  static constexpr PhaseRule<DoorPhase> phases[] = {
      {.phase = DoorPhase::closed, .to = {DoorPhase::open}, .limit = 5s},
      {.phase = DoorPhase::open, .to = {DoorPhase::closed}},
  };

  void on(Break) { throw std::runtime_error("no hinges"); }
  void on(Slam) { enter(DoorPhase::closed); }
  Task<> on(Wait) { static_cast<void>(co_await sleep_for(forever)); }
};

TEST_F(Reports, AFailureIsALineOfTheLogInItsSpan) {
  ActorSystem system({.threads = 1, .telemetry = spans.telemetry()});
  ::testing::internal::CaptureStderr();
  auto door = system.spawn<Door>({.name = "front"});
  door.send<Break>();
  testing::await_end(system, door);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  const auto failed = line("actor failed");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->level, Level::error);
  EXPECT_TRUE(field(*failed, "weir.actor.type").ends_with("::Door"));
  EXPECT_EQ(field(*failed, "weir.actor.name"), "front");
  EXPECT_EQ(field(*failed, "weir.actor.id"), std::to_string(door.id().value));
  EXPECT_EQ(field(*failed, "weir.actor.restarts"), "0");
  EXPECT_EQ(field(*failed, "exception.message"), "no hinges");
  const telemetry::SpanRecord broken = spans.one("Break");
  EXPECT_EQ(failed->context.trace, broken.context.trace);
  EXPECT_EQ(failed->context.span, broken.context.span);
}

TEST_F(Reports, ADeadLetterIsALineOfTheLog) {
  ActorSystem system({.threads = 1, .telemetry = spans.telemetry()});
  auto door = system.spawn<Door>();
  door.stop();
  testing::await_end(system, door);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(door.send<Slam>());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  const auto letter = line("dead letter");
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->level, Level::warning);
  EXPECT_TRUE(field(*letter, "weir.message.type").ends_with("::Slam"));
  EXPECT_EQ(field(*letter, "weir.reason"), to_string(DeadLetterReason::actor_stopped));
  EXPECT_EQ(field(*letter, "count"), "1");
}

TEST_F(Reports, APhaseThatIsWrongOrTooLongIsALineOfTheLog) {
  Simulation simulated = simulation();
  ::testing::internal::CaptureStderr();
  auto door = simulated.system().spawn<Door>({.supervision = Supervision::resume()});
  simulated.run_for(6s);
  door.send<Slam>();
  simulated.run_until_idle(1s);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  const auto overdue = line("phase overdue");
  ASSERT_TRUE(overdue);
  EXPECT_EQ(overdue->level, Level::warning);
  EXPECT_EQ(field(*overdue, "weir.phase.from"), "closed");
  const auto illegal = line("illegal phase transition");
  ASSERT_TRUE(illegal);
  EXPECT_EQ(illegal->level, Level::error);
  EXPECT_EQ(field(*illegal, "weir.phase.to"), "closed");
  EXPECT_EQ(illegal->context.span, spans.one("Slam").context.span);
}

TEST_F(Reports, WhoDidNotStopIsALineOfTheLog) {
  Simulation simulated = simulation();
  simulated.system().spawn<Door>({.name = "stuck"}).send<Wait>();
  simulated.run_until_idle(1s);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(simulated.system().stop({.timeout = 1s}).is_clean());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  const auto late = line("actor did not stop in time");
  ASSERT_TRUE(late);
  EXPECT_EQ(field(*late, "weir.system"), "main");
  EXPECT_EQ(field(*late, "weir.actor.name"), "stuck");
  EXPECT_EQ(field(*late, "weir.phase"), "closed");
}

TEST_F(Reports, AFunctionOfTheIoContextThatThrowsIsALineOfTheLog) {
  ActorSystem system({.threads = 1, .telemetry = spans.telemetry()});
  boost::asio::post(io_context(system), [] { throw std::runtime_error("posted"); });
  testing::eventually("the line", [&] {
    const auto thrown = line("a function posted to the I/O context threw");
    return thrown && field(*thrown, "exception.message") == "posted";
  });
}

// Somebody who holds a reference may send long after that.
TEST_F(Reports, AfterTheSystemHasEndedGoToStandardError) {
  RefOf<Door> door;
  {
    ActorSystem system({.threads = 1, .telemetry = spans.telemetry()});
    door = system.spawn<Door>();
  }
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(door.send<Slam>());
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("weir: dead letter: "),
            std::string::npos);
  EXPECT_FALSE(line("dead letter"));
}

TEST(ReportsWithoutALog, GoToStandardError) {
  const testing::RecordedSpans spans;
  ActorSystem system({.threads = 1, .telemetry = spans.telemetry()});
  ::testing::internal::CaptureStderr();
  auto door = system.spawn<Door>({.name = "front"});
  door.send<Break>();
  testing::await_end(system, door);
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("::Door front #"), std::string::npos) << printed;
  EXPECT_NE(printed.find(" failed: no hinges\n"), std::string::npos) << printed;
}

}  // namespace
}  // namespace weir
