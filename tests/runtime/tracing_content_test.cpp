// What spans tell of phases, which lines of the log belong to them, and when they leave.

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/phase.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::SpanRecord;
using testing::RecordedSpans;

enum class DoorPhase { closed, open };

struct Open {};
struct OpenAgain {};
struct Knock {};

class Door final : public Actor<Open, OpenAgain, Knock>, public Phased<Door, DoorPhase> {
 public:
  static constexpr PhaseRule<DoorPhase> phases[] = {
      {.phase = DoorPhase::closed, .to = {DoorPhase::open}},
      {.phase = DoorPhase::open, .to = {DoorPhase::closed}},
  };

  void on(Open) {
    enter(DoorPhase::open);
    enter(DoorPhase::closed);
    enter(DoorPhase::open);
  }
  void on(OpenAgain) { enter(DoorPhase::open); }
  void on(Knock) {}
};

SimulationOptions traced(telemetry::Telemetry* telemetry) {
  SimulationOptions options;
  options.system.telemetry = telemetry;
  options.system.on_failure = [](const ActorFailure&) {};
  options.system.on_phase = [](const PhaseEvent&) {};
  return options;
}

std::string described(const telemetry::SpanEvent& event) {
  std::string text = event.name;
  for (const auto& [name, value] : event.attributes) {
    text += " " + name + "=" + std::get<std::string>(value);
  }
  return text;
}

TEST(TracingContent, APhaseThatIsEnteredIsAnEvent) {
  const RecordedSpans spans;
  Simulation simulation(traced(spans.telemetry()));
  simulation.system().spawn<Door>().send<Open>();
  simulation.run_until_idle();
  const SpanRecord opened = spans.one("Open");
  ASSERT_EQ(opened.events.size(), 3u);
  EXPECT_EQ(described(opened.events[0]), "phase weir.phase.from=closed weir.phase.to=open");
  EXPECT_EQ(described(opened.events[1]), "phase weir.phase.from=open weir.phase.to=closed");
  EXPECT_EQ(described(opened.events[2]), "phase weir.phase.from=closed weir.phase.to=open");
}

TEST(TracingContent, SoIsOneThatMustNotBeEntered) {
  const RecordedSpans spans;
  Simulation simulation(traced(spans.telemetry()));
  auto door = simulation.system().spawn<Door>();
  door.send<Open>();
  door.send<OpenAgain>();
  simulation.run_until_idle();
  const SpanRecord again = spans.one("OpenAgain");
  ASSERT_EQ(again.events.size(), 2u);
  EXPECT_EQ(described(again.events[0]),
            "illegal phase transition weir.phase.from=open weir.phase.to=open");
  EXPECT_EQ(again.events[1].name, "exception");
  EXPECT_EQ(again.status, telemetry::SpanStatus::error);
}

struct Judge {};

class Judging final : public Actor<Judge> {
 public:
  void on(Judge) {
    span("bad").set_status(telemetry::SpanStatus::error, "no funds");
    span("good").set_status(telemetry::SpanStatus::ok);
    Span changed = span("changed");
    changed.set_status(telemetry::SpanStatus::error, "not yet");
    changed.set_status(telemetry::SpanStatus::ok);
  }
};

TEST(TracingContent, APartHasTheStatusThatItWasGivenLast) {
  const RecordedSpans spans;
  Simulation simulation(traced(spans.telemetry()));
  simulation.system().spawn<Judging>().send<Judge>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.one("bad").status, telemetry::SpanStatus::error);
  EXPECT_EQ(spans.one("bad").status_message, "no funds");
  EXPECT_EQ(spans.one("good").status, telemetry::SpanStatus::ok);
  EXPECT_EQ(spans.one("changed").status, telemetry::SpanStatus::ok);
  EXPECT_EQ(spans.one("changed").status_message, "");
  EXPECT_EQ(spans.one("Judge").status, telemetry::SpanStatus::unset) << "it is of the part alone";
}

struct Write {
  std::string line;
};

/// Writes lines while others do, before and after it has been suspended.
class Writer final : public Actor<Write> {
 public:
  static constexpr bool interleaves = true;
  explicit Writer(telemetry::Logger* logger) : logger_(logger) {}
  Task<> on(Write write) {
    logger_->info(write.line + " begins");
    {
      const Span inner = span(write.line);
      EXPECT_TRUE(co_await sleep_for(1s));
      logger_->info(write.line + " inside");
    }
    logger_->info(write.line + " ends");
  }

 private:
  telemetry::Logger* logger_;
};

TEST(TracingContent, ALineOfTheLogBelongsToTheSpanInWhichItIsWritten) {
  std::map<std::string, telemetry::TraceContext> lines;
  telemetry::LoggerOptions options;
  options.sinks.push_back(
      [&](const telemetry::LogRecord& record) { lines[record.message] = record.context; });
  options.context = &current_trace;
  telemetry::Logger logger(std::move(options));
  const RecordedSpans spans;
  Simulation simulation(traced(spans.telemetry()));
  auto writer = simulation.system().spawn<Writer>(&logger);
  writer.send<Write>("a");
  writer.send<Write>("b");
  simulation.run_until_idle();
  logger.info("outside");
  for (const std::string line : {"a", "b"}) {
    const SpanRecord inner = spans.one(line);
    EXPECT_EQ(lines[line + " inside"].span, inner.context.span);
    EXPECT_EQ(lines[line + " begins"].span, inner.parent);
    EXPECT_EQ(lines[line + " ends"].span, inner.parent);
    EXPECT_EQ(lines[line + " ends"].trace, inner.context.trace);
  }
  EXPECT_NE(lines["a ends"].span, lines["b ends"].span);
  EXPECT_FALSE(lines["outside"].is_valid());
}

// The logger of a telemetry asks the runtime by itself.
struct Tell {};
class Teller final : public Actor<Tell> {
 public:
  explicit Teller(telemetry::Telemetry* telemetry) : telemetry_(telemetry) {}
  void on(Tell) { telemetry_->logger().info("told"); }

 private:
  telemetry::Telemetry* telemetry_;
};

TEST(TracingContent, AlsoIfTheLoggerIsThatOfTheTelemetry) {
  const RecordedSpans spans;
  telemetry::TraceContext context;
  telemetry::Telemetry logging(
      {}, {}, {[&](const telemetry::LogRecord& record) { context = record.context; }});
  Simulation simulation(traced(spans.telemetry()));
  simulation.system().spawn<Teller>(&logging).send<Tell>();
  simulation.run_until_idle();
  EXPECT_EQ(context.span, spans.one("Tell").context.span);
}

/// Takes spans, or hangs in the attempt until it is shut down.
class Hanging final : public telemetry::Exporter<SpanRecord> {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool hangs = false;
    bool is_shut_down = false;
    std::size_t taken = 0;
  };
  explicit Hanging(State* state) : state_(state) {}

  bool export_batch(std::span<const SpanRecord> batch) override {
    std::unique_lock hold(state_->mutex);
    state_->changed.wait(hold, [this] { return !state_->hangs || state_->is_shut_down; });
    state_->taken += batch.size();
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {
    const std::scoped_lock hold(state_->mutex);
    state_->is_shut_down = true;
    state_->changed.notify_all();
  }

 private:
  State* state_;
};

class TracingAtTheEnd : public ::testing::Test {
 protected:
  void stop_after_knocking(Duration timeout) {
    ActorSystemOptions options = testing::quiet(2);
    options.telemetry = &telemetry_;
    options.on_phase = [](const PhaseEvent&) {};
    ActorSystem system(options);
    auto door = system.spawn<Door>();
    for (int i = 0; i < 10; ++i) door.send<Knock>();
    system.stop({.drain = 1min, .timeout = timeout});
  }

  Hanging::State state_;
  telemetry::Telemetry telemetry_{{.span_batches = {.delay = std::chrono::minutes(10)}},
                                  exporters()};

 private:
  telemetry::Exporters exporters() {
    telemetry::Exporters made;
    made.spans = std::make_unique<Hanging>(&state_);
    return made;
  }
};

TEST_F(TracingAtTheEnd, ASystemThatHasStoppedHasExportedItsSpans) {
  stop_after_knocking(1min);
  EXPECT_GE(telemetry_.span_counts().exported, 10u);
  const std::scoped_lock hold(state_.mutex);
  EXPECT_GE(state_.taken, 10u);
}

// That it returns at all is what is tested.
TEST_F(TracingAtTheEnd, ASystemStopsBesideAnExporterThatHangs) {
  state_.hangs = true;
  stop_after_knocking(50ms);
  EXPECT_EQ(telemetry_.span_counts().exported, 0u);
}

}  // namespace
}  // namespace weir
