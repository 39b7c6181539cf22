// Where the span of a handler, or of a part of one, ends.

#include <weir/runtime/span.hpp>

#include <optional>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Event;
using testing::RecordedSpans;

struct Begin {};
struct Note {};
struct Hold {};

class Notes final : public Actor<Note> {
 public:
  void on(Note) {}
};

telemetry::TraceContext not_sampled() {
  telemetry::TraceContext remote;
  remote.trace.bytes[0] = 1;
  remote.span.bytes[0] = 2;
  return remote;
}

/// Ends a task in the middle of its part, while it is in such a part itself.
class Ending final : public Actor<Begin> {
 public:
  explicit Ending(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  Task<> on(Begin) {
    std::optional<TaskScope> scope(std::in_place);
    scope->spawn(wait_in_a_part());
    const auto part = remote_span("part", not_sampled());
    scope.reset();
    notes_.send<Note>();
    co_return;
  }

 private:
  static Task<> wait_in_a_part() {
    const auto part = remote_span("part of a task", not_sampled());
    static_cast<void>(co_await sleep_for(1h));
  }

  RefOf<Notes> notes_;
};

TEST(Span, OfATaskThatIsDestroyedLeavesAloneWhatRuns) {
  const RecordedSpans spans;
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(std::move(options));
  auto notes = simulation.system().spawn<Notes>();
  simulation.system().spawn<Ending>(notes).send<Begin>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("Begin").size(), 1u);
  EXPECT_TRUE(spans.named("Note").empty()) << "sent in a part that is not recorded";
}

/// Its second part begins before the first one ends.
class Replacing final : public Actor<Begin> {
 public:
  explicit Replacing(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  void on(Begin) {
    std::optional<Span> part;
    part.emplace(span("validate"));
    part.emplace(span("charge"));
    part.reset();
    notes_.send<Note>();
  }

 private:
  RefOf<Notes> notes_;
};

template <class A>
void expect_note_in_the_handler() {
  const RecordedSpans spans;
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(std::move(options));
  simulation.system().spawn<A>(simulation.system().spawn<Notes>()).template send<Begin>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.one("validate").parent, spans.one("Begin").context.span);
  EXPECT_EQ(spans.one("Note").parent, spans.one("Begin").context.span);
}

TEST(Span, OfAPartThatIsReplacedIsNotWhatGoesOn) { expect_note_in_the_handler<Replacing>(); }

/// The first part is moved and ends while the second one is open.
class Shifting final : public Actor<Begin> {
 public:
  explicit Shifting(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  void on(Begin) {
    std::optional<Span> moved;
    {
      Span first = span("validate");
      const auto second = span("charge");
      const auto third = span("print");
      moved.emplace(std::move(first));
      moved.reset();
    }
    notes_.send<Note>();
  }

 private:
  RefOf<Notes> notes_;
};

TEST(Span, OfPartsThatEndInAnyOrderAreNotWhatGoesOn) { expect_note_in_the_handler<Shifting>(); }

struct End {};

/// One handler begins a part, another one ends it, then the first one goes on.
class Sharing final : public Actor<Begin, End> {
 public:
  static constexpr bool interleaves = true;
  explicit Sharing(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  Task<> on(Begin) {
    part_.emplace(span("validate"));
    self().send<End>();
    static_cast<void>(co_await sleep_for(1h));
    notes_.send<Note>();
  }
  void on(End) { part_.reset(); }

 private:
  RefOf<Notes> notes_;
  std::optional<Span> part_;
};

TEST(Span, OfAPartThatEndsInAnotherHandlerIsNotWhatGoesOn) {
  expect_note_in_the_handler<Sharing>();
}

/// A task beside the handler ends the part of the handler, which has not suspended yet.
class Delegating final : public Actor<Begin> {
 public:
  explicit Delegating(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  Task<> on(Begin) {
    part_.emplace(span("validate"));
    TaskScope scope;
    scope.spawn(end_part());
    notes_.send<Note>();
    co_await scope.join();
  }

 private:
  Task<> end_part() {
    part_.reset();
    co_return;
  }

  RefOf<Notes> notes_;
  std::optional<Span> part_;
};

TEST(Span, OfAPartThatEndsInATaskIsNotWhatGoesOn) { expect_note_in_the_handler<Delegating>(); }

/// Keeps a part longer than its handler.
class Keeping final : public Actor<Begin> {
 public:
  void on(Begin) {
    telemetry::TraceContext remote = not_sampled();
    remote.is_sampled = true;
    part_.emplace(remote_span("part", remote));
  }

 private:
  std::optional<Span> part_;
};

class Sending final : public Actor<Begin> {
 public:
  explicit Sending(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  void on(Begin) { notes_.send<Note>(); }

 private:
  RefOf<Notes> notes_;
};

TEST(Span, OfAPartThatOutlivesItsHandlerIsNotThatOfOthers) {
  const RecordedSpans spans({.sampler = {.kind = telemetry::SamplerKind::always_off}});
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(std::move(options));
  const auto keeping = simulation.system().spawn<Keeping>();
  keeping.send<Begin>();
  simulation.run_until_idle();
  simulation.system().spawn<Sending>(simulation.system().spawn<Notes>()).send<Begin>();
  simulation.run_until_idle();
  keeping.stop();
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("part").size(), 1u);
  EXPECT_TRUE(spans.named("Note").empty());
}

/// Does what others asked for, of whom only one was recorded.
class Doing final : public Actor<Begin> {
 public:
  explicit Doing(RefOf<Notes> notes) : notes_(std::move(notes)) {}
  void on(Begin) {
    telemetry::TraceContext cause = not_sampled();
    {
      const auto part = caused_span("of one who was not", cause);
      notes_.send<Note>();
    }
    {
      const auto part = caused_span("of nobody", {});
      notes_.send<Note>();
    }
    cause.is_sampled = true;
    const auto part = caused_span("of one who was", cause);
    notes_.send<Note>();
  }

 private:
  RefOf<Notes> notes_;
};

TEST(Span, OfWhatWasAskedForEarlierIsBelowItsCauseAndLinkedToIt) {
  const RecordedSpans spans;
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  Simulation simulation(std::move(options));
  simulation.system().spawn<Doing>(simulation.system().spawn<Notes>()).send<Begin>();
  simulation.run_until_idle();
  const telemetry::SpanRecord part = spans.one("of one who was");
  EXPECT_EQ(part.context.trace, not_sampled().trace);
  EXPECT_EQ(part.parent, not_sampled().span);
  ASSERT_EQ(part.links.size(), 1u);
  EXPECT_EQ(part.links[0].context.span, not_sampled().span);
  EXPECT_NE(spans.one("Begin").context.trace, part.context.trace);
  // And what is caused in it, and nothing else.
  EXPECT_EQ(spans.one("Note").parent, part.context.span);
  EXPECT_TRUE(spans.named("of nobody").empty());
  EXPECT_TRUE(spans.named("of one who was not").empty());
}

/// Holds its thread until it is told to end.
class Ended final : public Actor<Hold, Note> {
 public:
  Ended(Event* holds, Event* goes) : holds_(holds), goes_(goes) {}
  void on(Hold) {
    holds_->set();
    goes_->wait();
    stop();
  }
  void on(Note) {}

 private:
  Event* holds_;
  Event* goes_;
};

struct Scene {
  Event holds;
  Event goes;
  Collector<Terminated> ended;
  Collector<telemetry::TraceContext> letters;
  RefOf<Ended> target;
};

// The first message is delivered at once, the others when the handler ends; nobody is there then.
void send_to_one_that_ends(Scene& scene) {
  scene.holds.wait();
  for (int i = 0; i < 3; ++i) scene.target.send<Note>();
  scene.goes.set();
  scene.ended.wait_for(1);
}

class Handler final : public Actor<Begin> {
 public:
  explicit Handler(Scene* scene) : scene_(scene) {}
  void on(Begin) { send_to_one_that_ends(*scene_); }

 private:
  Scene* scene_;
};

class Starter final : public Actor<Note> {
 public:
  explicit Starter(Scene* scene) : scene_(scene) {}
  void on_start() { send_to_one_that_ends(*scene_); }
  void on(Note) {}

 private:
  Scene* scene_;
};

class Spawner final : public Actor<Begin> {
 public:
  explicit Spawner(Scene* scene) : scene_(scene) {}
  void on(Begin) { spawn<Starter>(scene_); }

 private:
  Scene* scene_;
};

/// Who is told of the two messages does so in the span of that name.
template <class A>
void expect_letters_within(std::string_view name) {
  const RecordedSpans spans;
  Scene scene;
  {
    ActorSystemOptions options = testing::quiet(2);
    options.telemetry = spans.telemetry();
    options.on_dead_letter = [&](const DeadLetter&) { scene.letters.add(current_trace()); };
    ActorSystem system(std::move(options));
    scene.target = system.spawn<Ended>(&scene.holds, &scene.goes);
    auto watch = system.spawn<testing::DeathWatch>(&scene.ended);
    watch.send<testing::WatchFor>(scene.target);
    scene.target.send<Hold>();
    system.spawn<A>(&scene).template send<Begin>();
    scene.letters.wait_for(3);
    system.stop();
  }
  const telemetry::SpanId span = spans.one(name).context.span;
  int within = 0;
  for (const auto& letter : scene.letters.values()) within += letter.span == span;
  EXPECT_EQ(within, 2);
}

TEST(Span, OfAHandlerCoversWhatIsToldOfItsMessages) { expect_letters_within<Handler>("Begin"); }

TEST(Span, OfAHookCoversWhatIsToldOfItsMessages) { expect_letters_within<Spawner>("start"); }

}  // namespace
}  // namespace weir
