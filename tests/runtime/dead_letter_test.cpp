// "My message vanished" has an answer: every message that no handler saw is counted and reported.

#include <weir/runtime/dead_letter.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/introspection.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/telemetry/telemetry.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::ask_from_outside;
using testing::await_end;
using testing::Collector;
using testing::Counter;
using testing::Event;
using testing::Letter;
using testing::quiet;
using testing::Reports;

struct Note {
  int value = 0;
};
struct Question {
  using Reply = int;
};

class Sink final : public Actor<Note, Question> {
 public:
  void on(Note) {}
  int on(Question) { return 1; }
};

TEST(DeadLetter, NamesTheMessageItsReceiverAndTheReason) {
  Reports reports;
  ActorSystem system(reports.options());
  auto sink = system.spawn<Sink>(SpawnOptions{.name = "drain"});
  sink.stop();
  await_end(system, sink);
  sink.send<Note>(1);
  const std::vector<Letter> letters = reports.letters.values();
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].reason, DeadLetterReason::actor_stopped);
  EXPECT_NE(letters[0].message.find("Note"), std::string::npos);
  EXPECT_NE(letters[0].actor_type.find("Sink"), std::string::npos);
  EXPECT_EQ(letters[0].actor_name, "drain");
  EXPECT_EQ(letters[0].actor, sink.id());
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::actor_stopped), 1u);
  EXPECT_EQ(system.dead_letters().total(), 1u);
}

struct Hurry {
  static constexpr bool is_notice = true;
  std::string why;
};
struct Blink {
  static constexpr bool is_notice = true;
};

class Hurried final : public Actor<Hurry, Blink, Note, Question> {
 public:
  void on(const Hurry&) {}
  void on(Blink) {}
  void on(Note) {}
  int on(Question) {
    int refused = 0;
    for (int i = 0; i < 5; ++i) refused += !self().send<Blink>();
    return refused;
  }
};

TEST(DeadLetter, IsNoNoticeToAnActorThatHasStopped) {
  Reports reports;
  ActorSystem system(reports.options());
  auto hurried = system.spawn<Hurried>();
  hurried.stop();
  await_end(system, hurried);
  EXPECT_FALSE(hurried.send<Hurry>("closing"));
  EXPECT_FALSE(hurried.send<Blink>());
  EXPECT_EQ(system.dead_letters().total(), 0u);
  hurried.send<Note>(1);
  EXPECT_EQ(system.dead_letters().total(), 1u);
}

TEST(DeadLetter, IsANoticeThatFoundNoRoom) {
  Reports reports;
  ActorSystem system(reports.options());
  auto hurried = system.spawn<Hurried>(SpawnOptions{.mailbox_capacity = 1});
  const Result<int> refused = ask_from_outside(system, hurried, Question{});
  ASSERT_TRUE(refused);
  EXPECT_GE(*refused, 4);
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::mailbox_full),
            static_cast<std::uint64_t>(*refused));
}

TEST(DeadLetter, IsRememberedForAWhileTheNewestFirst) {
  Reports reports;
  ActorSystem system(reports.options());
  EXPECT_TRUE(recent_dead_letters(system).empty());
  auto sink = system.spawn<Sink>(SpawnOptions{.name = std::string(100, 'n')});
  auto last = system.spawn<Sink>();
  for (auto* one : {&sink, &last}) {
    one->stop();
    await_end(system, *one);
  }
  for (std::size_t i = 0; i < recent_dead_letters_max; ++i) sink.send<Note>(1);
  last.send<Note>(1);
  const std::vector<RecentDeadLetter> letters = recent_dead_letters(system);
  ASSERT_EQ(letters.size(), recent_dead_letters_max);
  EXPECT_EQ(letters[0].actor, last.id());
  EXPECT_EQ(letters[0].actor_name, "");
  EXPECT_EQ(letters[0].reason, DeadLetterReason::actor_stopped);
  EXPECT_NE(letters[0].message.find("Note"), std::string::npos);
  EXPECT_NE(letters[0].actor_type.find("Sink"), std::string::npos);
  EXPECT_EQ(letters[1].actor, sink.id());
  EXPECT_EQ(letters[1].actor_name.find_first_not_of('n'), std::string::npos);
  EXPECT_LT(letters[1].actor_name.size(), 100u);
  EXPECT_GE(letters.back().age, letters.front().age);
}

TEST(DeadLetter, IsPrintedWhenNobodyListens) {
  ::testing::internal::CaptureStderr();
  {
    ActorSystem system({.threads = 1});
    auto sink = system.spawn<Sink>(SpawnOptions{.name = "drain"});
    sink.stop();
    await_end(system, sink);
    for (int i = 0; i < 100; ++i) sink.send<Note>(1);
  }
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("weir: dead letter: "), std::string::npos) << printed;
  EXPECT_NE(printed.find("Note"), std::string::npos);
  EXPECT_NE(printed.find("drain"), std::string::npos);
  EXPECT_NE(printed.find("actor stopped"), std::string::npos);
  EXPECT_LE(std::count(printed.begin(), printed.end(), '\n'), 2) << "at most one a second";
}

TEST(DeadLetter, IsCountedForARequestToAStoppedActor) {
  Reports reports;
  ActorSystem system(reports.options());
  auto sink = system.spawn<Sink>();
  sink.stop();
  await_end(system, sink);
  EXPECT_EQ(ask_from_outside(system, sink, Question{}).error(), Errc::stopped);
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::actor_stopped), 1u);
}

struct Nap {
  Duration time;
};
struct Aside {};

/// Takes a second for a question, and is never ready for what is to be set aside.
class Slow final : public Actor<Nap, Question, Aside> {
 public:
  Task<> on(Nap nap) { static_cast<void>(co_await sleep_for(nap.time)); }
  Task<int> on(Question) {
    static_cast<void>(co_await sleep_for(1s));
    co_return 1;
  }
  bool ready_for(const Aside&) const { return false; }
  void on(Aside) {}
};

void fill(Simulation& simulation, Overflow overflow) {
  auto slow =
      simulation.system().spawn<Slow>(SpawnOptions{.mailbox_capacity = 1, .overflow = overflow});
  slow.send<Nap>(0s);
  slow.send<Nap>(0s);
}

// Makes one message end as a dead letter for this reason.
void provoke(Simulation& simulation, DeadLetterReason reason) {
  ActorSystem& system = simulation.system();
  auto slow = system.spawn<Slow>();
  switch (reason) {
    case DeadLetterReason::mailbox_full: return fill(simulation, Overflow::fail);
    case DeadLetterReason::dropped_newest: return fill(simulation, Overflow::drop_newest);
    case DeadLetterReason::dropped_oldest: return fill(simulation, Overflow::drop_oldest);
    case DeadLetterReason::actor_stopped:
      slow.stop();
      slow.send<Nap>(0s);
      return;
    case DeadLetterReason::abandoned: slow.send<Nap>(1s); [[fallthrough]];
    case DeadLetterReason::late_reply:
      EXPECT_EQ(ask_from_outside(system, slow, Question{}, 500ms).error(), Errc::timed_out);
      return;
    case DeadLetterReason::stash_full: slow.send<Aside>(); return;
  }
}

TEST(DeadLetter, IsCountedForItsReasonAlone) {
  for (std::size_t index = 0; index < dead_letter_reasons; ++index) {
    const auto reason = static_cast<DeadLetterReason>(index);
    SCOPED_TRACE(to_string(reason));
    Reports reports;
    ActorSystemOptions options = reports.options();
    options.stash_capacity = 0;
    Simulation simulation({.system = options});
    provoke(simulation, reason);
    simulation.run_until_idle();
    const DeadLetterCounts counts = simulation.system().dead_letters();
    EXPECT_EQ(counts.of(reason), 1u);
    EXPECT_EQ(counts.total(), 1u);
    ASSERT_EQ(reports.letters.values().size(), 1u);
    EXPECT_EQ(reports.letters.values()[0].reason, reason);
  }
}

std::map<std::string, double> measured_by_reason(telemetry::Telemetry& telemetry) {
  std::map<std::string, double> counts;
  for (const telemetry::MetricRecord& record : telemetry.collect()) {
    if (record.name != "weir.actor.messages.undelivered") continue;
    for (const telemetry::MetricPoint& point : record.points) {
      EXPECT_EQ(point.attributes.at(0).name, "weir.reason");
      counts[std::get<std::string>(point.attributes.at(0).value)] =
          std::get<telemetry::SumPoint>(point.value).value;
    }
  }
  return counts;
}

TEST(DeadLetter, IsMeasuredForItsReasonAlone) {
  for (std::size_t index = 0; index < dead_letter_reasons; ++index) {
    const auto reason = static_cast<DeadLetterReason>(index);
    SCOPED_TRACE(to_string(reason));
    telemetry::Telemetry telemetry({.measures_always = true}, {});
    Reports reports;
    ActorSystemOptions options = reports.options();
    options.stash_capacity = 0;
    options.telemetry = &telemetry;
    Simulation simulation({.system = options});
    provoke(simulation, reason);
    simulation.run_until_idle();
    std::map<std::string, double> expected;
    for (std::size_t each = 0; each < dead_letter_reasons; ++each) {
      expected[to_string(static_cast<DeadLetterReason>(each))] = each == index ? 1 : 0;
    }
    EXPECT_EQ(measured_by_reason(telemetry), expected);
  }
}

TEST(DeadLetter, IsNotMadeOfWhatAnActorSendsToItselfByTimer) {
  struct Late {};
  class Sleeper final : public Actor<Late> {
   public:
    void on_start() {
      schedule_once<Late>(std::chrono::hours(1));
      schedule_every<Late>(std::chrono::hours(1));
    }
    void on(Late) {}
  };
  ActorSystem system(quiet());
  auto sleeper = system.spawn<Sleeper>();
  testing::eventually("it to start", [&] { return system.core().workers.size() == 2; });
  sleeper.stop();
  await_end(system, sleeper);
  EXPECT_EQ(system.dead_letters().total(), 0u);
}

struct Report {
  int reason;
};

class Listener final : public Actor<Report> {
 public:
  explicit Listener(Counter* heard) : heard_(heard) {}
  void on(Report) { heard_->add(); }

 private:
  Counter* heard_;
};

struct Burst {
  int count;
};

class Sender final : public Actor<Burst> {
 public:
  Sender(ActorRef<Note> target, Event* sent, Event* stopped)
      : target_(std::move(target)), sent_(sent), stopped_(stopped) {}
  // The target ends while messages to it are linked locally and room is reserved for more.
  void on(Burst message) {
    for (int i = 0; i < message.count; ++i) target_.send<Note>(i);
    sent_->set();
    stopped_->wait();
    for (int i = 0; i < message.count; ++i) target_.send<Note>(i);
  }

 private:
  ActorRef<Note> target_;
  Event* sent_;
  Event* stopped_;
};

class Deaf final : public Actor<Note> {
 public:
  explicit Deaf(Event* opens) : opens_(opens) {}
  void on_start() { opens_->wait(); }
  void on(Note) {}

 private:
  Event* opens_;
};

// The natural use of the hook: an actor that gets the dead letters of all others. The hook then
// sends in the middle of a send that failed.
TEST(DeadLetter, MayBeForwardedToAnActorByTheHook) {
  for (const int count : {1, 2, 3, 10, 100}) {
    Counter heard;
    Event opens;
    Event sent;
    Event stopped;
    std::atomic<int> reported{0};
    RefOf<Listener> listener;
    ActorSystemOptions options = quiet(3);
    options.mailbox_capacity = unbounded;
    options.on_dead_letter = [&](const DeadLetter& letter) {
      if (listener) {
        listener.send<Report>(static_cast<int>(letter.reason));
        ++reported;
      }
    };
    ActorSystem system(options);
    listener = system.spawn<Listener>(&heard);
    auto deaf = system.spawn<Deaf>(&opens);
    system.spawn<Sender>(deaf, &sent, &stopped).send<Burst>(count);
    sent.wait();
    deaf.stop();
    opens.set();
    await_end(system, deaf);
    stopped.set();
    heard.wait_for(2 * count);
    EXPECT_TRUE(system.stop().is_clean());
    EXPECT_EQ(reported.load(), 2 * count);
  }
}

// When the listener itself has stopped, its dead letters must not be reported to it again.
TEST(DeadLetter, OfTheHooksOwnMessagesIsCountedButNotReportedAgain) {
  Counter heard;
  RefOf<Listener> listener;
  int reported = 0;
  ActorSystemOptions options = quiet(1);
  options.on_dead_letter = [&](const DeadLetter&) {
    ++reported;
    listener.send<Report>(1);
  };
  ActorSystem system(options);
  listener = system.spawn<Listener>(&heard);
  auto sink = system.spawn<Sink>();
  listener.stop();
  sink.stop();
  await_end(system, listener);
  await_end(system, sink);
  sink.send<Note>(1);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(system.dead_letters().total(), 2u);
}

}  // namespace
}  // namespace weir
