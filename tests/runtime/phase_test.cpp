#include <weir/runtime/phase.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/tests/runtime/support/event_log.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::EventLog;
using Lines = std::vector<std::string>;

std::string describe(const PhaseEvent& event) {
  const std::string from(event.from);
  const std::string to(event.to);
  switch (event.kind) {
    case PhaseEvent::Kind::entered: return from + " -> " + to;
    case PhaseEvent::Kind::overdue: return "overdue in " + to;
    case PhaseEvent::Kind::illegal: return "illegal: " + from + " -> " + to;
  }
  return "unknown";
}

// A system that writes down phase events and failures.
struct Observed {
  EventLog events;
  EventLog failures;
  ActorSystem system{{
      .threads = 2,
      .on_dead_letter = [](const DeadLetter&) {},
      .on_failure = [this](const ActorFailure& f) { failures.add(std::string(f.message)); },
      .on_phase = [this](const PhaseEvent& event) { events.add(describe(event)); },
  }};

  std::optional<ActorInfo> info_of(ActorId id) const {
    for (const ActorInfo& info : system.actors()) {
      if (info.id == id) return info;
    }
    return std::nullopt;
  }
  std::size_t pending_timers() {
    std::size_t count = 0;
    for (auto& worker : system.core().workers) {
      worker->timers.next_due();  // waits for timers that are firing
      count += worker->timers.size();
    }
    return count;
  }
};

enum class DoorPhase { closed, opening, open };

struct Go {
  DoorPhase phase;
};
struct Where {
  using Reply = DoorPhase;
};
struct Walk {
  using Reply = int;
  int person;
};
struct OpenFromClosed {};

class Door final : public Actor<Go, Where, Walk, OpenFromClosed>, public Phased<Door, DoorPhase> {
 public:
  static constexpr PhaseRule<DoorPhase> phases[] = {
      {.phase = DoorPhase::closed, .to = {DoorPhase::opening}},
      {.phase = DoorPhase::opening, .to = {DoorPhase::open, DoorPhase::closed}},
      {.phase = DoorPhase::open, .to = {DoorPhase::closed}},
  };

  bool ready_for(const Walk&) const { return phase() == DoorPhase::open; }

  void on(Go go) { enter(go.phase); }
  DoorPhase on(Where) const { return phase(); }
  int on(Walk walk) { return walk.person * 100 + ++walked_; }
  void on(OpenFromClosed) { enter<DoorPhase::closed, DoorPhase::opening>(); }

 private:
  int walked_ = 0;
};

template <class M, class Ref, class... Args>
Task<Result<ReplyOf<M>>> ask(Ref ref, Args... args) {
  co_return co_await ref.template ask<M>(args...);
}

TEST(Phase, TheFirstRowIsWhereAnActorStarts) {
  Observed observed;
  const auto door = observed.system.spawn<Door>();
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::closed);
  EXPECT_EQ(observed.events.lines(), Lines{" -> closed"});
}

TEST(Phase, EveryEntryIsReportedWithWhereItCameFrom) {
  Observed observed;
  const auto door = observed.system.spawn<Door>();
  for (DoorPhase phase : {DoorPhase::opening, DoorPhase::open, DoorPhase::closed}) {
    door.send<Go>(phase);
  }
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::closed);
  EXPECT_EQ(observed.events.lines(),
            (Lines{" -> closed", "closed -> opening", "opening -> open", "open -> closed"}));
}

TEST(Phase, ShowsInTheListOfActorsWithItsAge) {
  Observed observed;
  const TimePoint before = observed.system.now();
  const auto door = observed.system.spawn<Door>();
  door.send<Go>(DoorPhase::opening);
  EXPECT_TRUE(observed.events.wait_for("closed -> opening"));
  const auto info = observed.info_of(door.id());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->phase, "opening");
  EXPECT_GE(info->phase_age, Duration::zero());
  EXPECT_LE(info->phase_age, observed.system.now() - before);
}

TEST(Phase, AnIllegalTransitionIsReportedAndFailsTheActorWithBothNames) {
  Observed observed;
  const auto door = observed.system.spawn<Door>();
  door.send<Go>(DoorPhase::open);
  ASSERT_TRUE(observed.failures.wait_for_lines(1));
  EXPECT_EQ(observed.events.lines(), (Lines{" -> closed", "illegal: closed -> open"}));
  EXPECT_EQ(observed.failures.lines()[0],
            "illegal transition of weir::(anonymous namespace)::Door from phase closed to open; it "
            "may be followed by opening");
}

TEST(Phase, AnIllegalTransitionLeavesThePhaseAsItWas) {
  Observed observed;
  const auto door = observed.system.spawn<Door>({.supervision = Supervision::resume()});
  door.send<Go>(DoorPhase::open);
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::closed);
}

TEST(Phase, AValueThatIsNoPhaseIsAnIllegalTransition) {
  Observed observed;
  const auto door = observed.system.spawn<Door>();
  door.send<Go>(static_cast<DoorPhase>(7));
  EXPECT_TRUE(observed.events.wait_for("illegal: closed -> an unknown phase"));
}

TEST(Phase, ATransitionFromOnePhaseIsIllegalInAnother) {
  Observed observed;
  const auto door = observed.system.spawn<Door>({.supervision = Supervision::resume()});
  door.send<OpenFromClosed>();
  door.send<OpenFromClosed>();
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::opening);
  EXPECT_EQ(observed.events.lines(),
            (Lines{" -> closed", "closed -> opening", "illegal: opening -> opening"}));
}

// Asks while the door is closed; the requests wait in the stash.
class Visitor final : public Actor<Go> {
 public:
  Visitor(ActorRef<Walk> door, int person, EventLog* log)
      : door_(std::move(door)), person_(person), log_(log) {}
  Task<> on(Go) {
    const Result<int> walked = co_await door_.ask<Walk>(person_);
    log_->add(walked ? std::to_string(*walked) : walked.error().message());
  }

 private:
  ActorRef<Walk> door_;
  int person_;
  EventLog* log_;
};

TEST(Phase, EnteringLooksAgainAtTheMessagesSetAside) {
  Observed observed;
  EventLog walked;
  const auto door = observed.system.spawn<Door>();
  const auto visitor = observed.system.spawn<Visitor>(door, 3, &walked);
  visitor.send<Go>();
  door.send<Go>(DoorPhase::opening);
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::opening);
  EXPECT_TRUE(walked.lines().empty());
  door.send<Go>(DoorPhase::open);
  EXPECT_TRUE(walked.wait_for("301"));
}

TEST(Phase, MessagesSetAsideAreHandledInTheOrderTheyCame) {
  Observed observed;
  const auto door = observed.system.spawn<Door>();
  struct Sender {
    static Task<> send_all(RefOf<Door> to) {
      for (int person = 0; person < 5; ++person) to.send<Walk>(person);
      to.send<Go>(DoorPhase::opening);
      to.send<Go>(DoorPhase::open);
      co_return;
    }
  };
  observed.system.run(Sender::send_all(door));
  EXPECT_EQ(*observed.system.run(ask<Walk>(door, 9)), 906);  // five came before
}

enum class JobPhase { created, working, waiting, done };

struct Advance {
  JobPhase phase;
};
struct Hurry {};
struct Fail {};

class Job final : public Actor<Advance, Hurry, Fail>, public Phased<Job, JobPhase> {
 public:
  static constexpr PhaseRule<JobPhase> phases[] = {
      {.phase = JobPhase::created, .to = {JobPhase::working, JobPhase::waiting}},
      {.phase = JobPhase::working, .to = {JobPhase::waiting, JobPhase::done}, .limit = 10ms},
      {.phase = JobPhase::waiting,
       .to = {JobPhase::working},
       .limit = 10ms,
       .overdue = Overdue::fail},
      {.phase = JobPhase::done, .to = {JobPhase::done}, .limit = 10h},
  };

  void on(Advance advance) { enter(advance.phase); }
  void on(Hurry) {
    enter<JobPhase::working>();
    enter<JobPhase::done>();
  }
  void on(Fail) { throw std::runtime_error("asked to fail"); }
};

// As if a timer that was late fired after another look had found the phase overdue.
void look_again(const RefOf<Job>& job) {
  internal::Cell& cell = *internal::RefAccess::cell(job);
  internal::PhaseRecord& record = *cell.extension().phase.load();
  if (!record.look.is_sent.exchange(true)) cell.send_signal(&record.look);
}

TEST(PhaseWatchdog, APhaseThatLastsTooLongIsReportedOnce) {
  Observed observed;
  const auto job = observed.system.spawn<Job>();
  job.send<Advance>(JobPhase::working);
  EXPECT_TRUE(observed.events.wait_for("overdue in working"));
  look_again(job);
  job.send<Advance>(JobPhase::done);
  EXPECT_TRUE(observed.events.wait_for("working -> done"));
  EXPECT_EQ(observed.events.count("overdue in working"), 1u);
  EXPECT_TRUE(observed.failures.lines().empty());
}

TEST(PhaseWatchdog, APhaseThatIsLeftInTimeIsNotReported) {
  Observed observed;
  const auto job = observed.system.spawn<Job>();
  job.send<Hurry>();
  const auto later = observed.system.spawn<Job>();
  EXPECT_TRUE(observed.events.wait_for("working -> done"));
  later.send<Advance>(JobPhase::working);  // due after the first would have been
  EXPECT_TRUE(observed.events.wait_for("overdue in working"));
  later.send<Advance>(JobPhase::done);
  EXPECT_TRUE(observed.events.wait_for("working -> done", 2));
  EXPECT_EQ(observed.events.count("overdue in working"), 1u);
}

TEST(PhaseWatchdog, FailsTheActorIfThePhaseSaysSo) {
  Observed observed;
  const auto job = observed.system.spawn<Job>();
  job.send<Advance>(JobPhase::waiting);
  EXPECT_TRUE(observed.failures.wait_for("overdue in phase waiting"));
  EXPECT_EQ(observed.events.count("overdue in waiting"), 1u);
}

TEST(PhaseWatchdog, EndsWithTheActor) {
  Observed observed;
  const auto job = observed.system.spawn<Job>();
  job.send<Hurry>();
  EXPECT_TRUE(observed.events.wait_for("working -> done"));
  EXPECT_EQ(observed.pending_timers(), 1u);
  job.send<Advance>(JobPhase::done);
  EXPECT_TRUE(observed.events.wait_for("done -> done"));
  EXPECT_EQ(observed.pending_timers(), 1u);
  job.stop();
  observed.system.stop();
  EXPECT_EQ(observed.pending_timers(), 0u);
}

TEST(PhaseWatchdog, EndsWithTheInstanceThatFailed) {
  Observed observed;
  const auto job = observed.system.spawn<Job>({.supervision = {
                                                   .directive = Supervision::Directive::restart,
                                                   .backoff = 1ms,
                                               }});
  job.send<Hurry>();
  job.send<Fail>();
  EXPECT_TRUE(observed.events.wait_for(" -> created", 2));
  EXPECT_EQ(observed.pending_timers(), 0u);
}

TEST(Phase, AfterARestartTheActorIsInItsFirstPhase) {
  Observed observed;
  const auto door = observed.system.spawn<Door>({.supervision = {
                                                     .directive = Supervision::Directive::restart,
                                                     .backoff = 1ms,
                                                 }});
  door.send<Go>(DoorPhase::opening);
  door.send<Go>(DoorPhase::opening);  // illegal
  EXPECT_TRUE(observed.events.wait_for(" -> closed", 2));
  EXPECT_EQ(*observed.system.run(ask<Where>(door)), DoorPhase::closed);
}

enum class BootPhase { booting, starting, running };

class Machine final : public Actor<>, public Phased<Machine, BootPhase> {
 public:
  static constexpr PhaseRule<BootPhase> phases[] = {
      {.phase = BootPhase::booting, .to = {BootPhase::starting}, .limit = 1ms},
      {.phase = BootPhase::starting, .to = {BootPhase::running}, .limit = 1ms},
      {.phase = BootPhase::running},
  };

  explicit Machine(int steps) {
    if (steps > 0) enter<BootPhase::starting>();
    if (steps > 1) enter<BootPhase::running>();
  }
};

TEST(PhaseWatchdog, WatchesTheFirstPhaseToo) {
  Observed observed;
  const auto machine = observed.system.spawn<Machine>(0);
  EXPECT_TRUE(observed.events.wait_for("overdue in booting"));
}

TEST(PhaseWatchdog, WatchesAPhaseEnteredByTheConstructor) {
  Observed observed;
  const auto done = observed.system.spawn<Machine>(2);
  const auto machine = observed.system.spawn<Machine>(1);
  EXPECT_TRUE(observed.events.wait_for("overdue in starting"));
  EXPECT_EQ(observed.events.count("overdue in booting"), 0u);
  EXPECT_EQ(observed.events.count("overdue in starting"), 1u);
}

TEST(Phase, WithoutAHookAnIllegalTransitionGoesToStandardError) {
  testing::internal::CaptureStderr();
  {
    EventLog failures;
    ActorSystem system({
        .threads = 1,
        .on_failure = [&](const ActorFailure&) { failures.add("failed"); },
    });
    const auto door = system.spawn<Door>({.name = "front"});
    door.send<Go>(DoorPhase::open);
    EXPECT_TRUE(failures.wait_for("failed"));
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("Door front #"), std::string::npos) << text;
  EXPECT_NE(text.find(": illegal transition from phase closed to open (in it for "),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace weir
