// What a message and a task get of the trace in which they begin, and from nobody else.

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::SpanRecord;
using testing::RecordedSpans;

SimulationOptions recording(const RecordedSpans& spans, std::uint64_t seed = 1) {
  SimulationOptions options{.seed = seed};
  options.system.telemetry = spans.telemetry();
  return options;
}

telemetry::TraceContext from_elsewhere() {
  telemetry::TraceContext remote;
  remote.trace.bytes.fill(1);
  remote.span.bytes.fill(2);
  remote.is_sampled = true;
  remote.baggage = std::make_shared<const telemetry::TraceBaggage>(
      telemetry::TraceBaggage{.trace_state = "vendor=value", .baggage = "customer=7"});
  return remote;
}

struct Ask {
  using Reply = int;
};
struct Tell {};
struct Serve {};

/// Notes in which trace it handles what.
class Far final : public Actor<Ask, Tell> {
 public:
  explicit Far(std::vector<telemetry::TraceContext>* seen) : seen_(seen) {}
  int on(Ask) {
    seen_->push_back(current_trace());
    return 0;
  }
  void on(Tell) { seen_->push_back(current_trace()); }

 private:
  std::vector<telemetry::TraceContext>* seen_;
};

/// One more actor on the way.
class Near final : public Actor<Ask> {
 public:
  explicit Near(RefOf<Far> far) : far_(std::move(far)) {}
  Task<int> on(Ask) {
    static_cast<void>(co_await sleep_for(1s));
    far_.send<Tell>();
    co_return *co_await far_.ask<Ask>();
  }

 private:
  RefOf<Far> far_;
};

class Gateway final : public Actor<Serve> {
 public:
  explicit Gateway(RefOf<Near> near) : near_(std::move(near)) {}
  Task<> on(Serve) {
    const auto request = remote_span("GET /", from_elsewhere());
    EXPECT_TRUE(co_await near_.ask<Ask>());
  }

 private:
  RefOf<Near> near_;
};

TEST(TracingInheritance, StateAndBaggageTravelWithEveryMessage) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  std::vector<telemetry::TraceContext> seen;
  auto near = simulation.system().spawn<Near>(simulation.system().spawn<Far>(&seen));
  simulation.system().spawn<Gateway>(near).send<Serve>();
  simulation.run_until_idle();
  ASSERT_EQ(seen.size(), 2u);
  for (const telemetry::TraceContext& context : seen) {
    EXPECT_EQ(context.trace, from_elsewhere().trace);
    ASSERT_NE(context.baggage, nullptr);
    EXPECT_EQ(context.baggage->trace_state, "vendor=value");
    EXPECT_EQ(context.baggage->baggage, "customer=7");
  }
}

struct Fan {};
struct Numbered {
  using Reply = int;
  int number;
};

class Target final : public Actor<Numbered> {
 public:
  int on(Numbered asked) {
    set_attribute({"number", asked.number});
    return 0;
  }
};

/// Its tasks begin one after the other and go on in the opposite order.
class Fanner final : public Actor<Fan> {
 public:
  static constexpr int tasks = 4;
  explicit Fanner(RefOf<Target> target) : target_(std::move(target)) {}
  Task<> on(Fan) {
    TaskScope scope;
    for (int i = 0; i < tasks; ++i) scope.spawn(ask_later(target_, i));
    co_await scope.join();
  }

 private:
  static Task<> ask_later(RefOf<Target> target, int number) {
    const auto part = span("part", {{"number", number}});
    static_cast<void>(co_await sleep_for(std::chrono::seconds(tasks - number)));
    EXPECT_TRUE(co_await target.ask<Numbered>(number));
  }
  RefOf<Target> target_;
};

TEST(TracingInheritance, TasksOfAScopeDoNotInheritFromEachOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RecordedSpans spans;
    Simulation simulation(recording(spans, seed));
    simulation.system().spawn<Fanner>(simulation.system().spawn<Target>()).send<Fan>();
    simulation.run_until_idle();
    const SpanRecord fan = spans.one("Fan");
    const auto parts = spans.named("part");
    EXPECT_EQ(parts.size(), std::size_t{Fanner::tasks});
    int found = 0;
    for (const SpanRecord& part : parts) {
      EXPECT_EQ(part.parent, fan.context.span);
      for (const SpanRecord& asked : spans.named("Numbered")) {
        if (asked.parent != part.context.span) continue;
        EXPECT_EQ(*RecordedSpans::attribute(asked, "number"),
                  *RecordedSpans::attribute(part, "number"));
        ++found;
      }
    }
    EXPECT_EQ(found, Fanner::tasks);
  }
}

}  // namespace
}  // namespace weir
