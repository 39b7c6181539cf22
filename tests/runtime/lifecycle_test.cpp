// The life of one actor: its hooks, its children, and the ways to stop it.

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

#include <weir/tests/runtime/support.hpp>

#if WEIR_POOL_USES_MALLOC
#include <sanitizer/asan_interface.h>
#endif

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::await_end;
using testing::Collector;
using testing::Counted;
using testing::Reports;

using Lines = std::vector<std::string>;

struct Note {
  int number;
};
struct Nap {
  using Reply = int;
};
struct StopYourself {};

/// Writes down what happens to it.
class Diarist final : public Actor<Note, Nap, StopYourself> {
 public:
  explicit Diarist(Collector<std::string>* log, Duration hook_time = {})
      : log_(log), hook_time_(hook_time) {
    log_->add("built");
  }
  ~Diarist() { log_->add("gone"); }

  Task<> on_start() {
    static_cast<void>(co_await sleep_for(hook_time_));
    log_->add("started");
  }
  void on(Note note) { log_->add("note " + std::to_string(note.number)); }
  Task<int> on(Nap) {
    const NapEnd end{log_};
    static_cast<void>(co_await sleep_for(1s));
    log_->add("woke");
    co_return 1;
  }
  void on(StopYourself) {
    stop();
    log_->add("stopping");
  }
  Task<> on_stop() {
    static_cast<void>(co_await sleep_for(hook_time_));
    log_->add("stopped");
  }

 private:
  struct NapEnd {
    ~NapEnd() { log->add("nap over"); }
    Collector<std::string>* log;
  };

  Collector<std::string>* log_;
  Duration hook_time_;
};

struct Scene {
  explicit Scene(Duration hook_time = {})
      : diarist(simulation.system().spawn<Diarist>(&log, hook_time)) {}

  std::uint64_t refused() {
    return simulation.system().dead_letters().of(DeadLetterReason::actor_stopped);
  }

  Collector<std::string> log;
  Simulation simulation;
  RefOf<Diarist> diarist;
};

TEST(Lifecycle, StartsBeforeTheFirstMessageAndStopsAfterTheLast) {
  for (const Duration hook_time : {Duration(0s), Duration(1s)}) {
    Scene scene(hook_time);
    scene.diarist.send<Note>(1);
    scene.diarist.send<Note>(2);
    scene.simulation.run_until_idle();
    scene.diarist.stop();
    scene.simulation.run_until_idle();
    EXPECT_EQ(scene.log.values(),
              (Lines{"built", "started", "note 1", "note 2", "stopped", "gone"}));
  }
}

// The table in docs/concepts.md, section "Life".
TEST(Lifecycle, StopNowFinishesTheHandlerAndRefusesTheRest) {
  Scene scene;
  scene.diarist.send<Nap>();
  scene.diarist.send<Note>(1);
  scene.simulation.run_for(500ms);
  scene.diarist.stop(Stop::now);
  EXPECT_FALSE(scene.diarist.send<Note>(2));
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(), (Lines{"built", "started", "woke", "nap over", "stopped", "gone"}));
  EXPECT_EQ(scene.refused(), 2u);
}

TEST(Lifecycle, StopWhenDrainedHandlesWhatIsQueuedSoFar) {
  Scene scene;
  scene.diarist.send<Nap>();
  scene.diarist.send<Note>(1);
  scene.simulation.run_for(500ms);
  scene.diarist.stop(Stop::when_drained);
  EXPECT_TRUE(scene.diarist.is_alive()) << "until its turn to stop comes";
  EXPECT_TRUE(scene.diarist.send<Note>(2)) << "and is refused then";
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(),
            (Lines{"built", "started", "woke", "nap over", "note 1", "stopped", "gone"}));
  EXPECT_EQ(scene.refused(), 1u);
}

TEST(Lifecycle, KillDestroysTheHandlerAndRunsNoHook) {
  Scene scene;
  scene.diarist.send<Nap>();
  scene.diarist.send<Note>(1);
  scene.simulation.run_for(500ms);
  scene.diarist.stop(Stop::kill);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(), (Lines{"built", "started", "nap over", "gone"}));
  EXPECT_EQ(scene.refused(), 1u);
}

TEST(Lifecycle, KillEndsWhatWasOnlyStopping) {
  Scene scene;
  scene.diarist.send<Nap>();
  scene.simulation.run_for(500ms);
  scene.diarist.stop();
  scene.simulation.run_for(100ms);
  EXPECT_EQ(scene.log.values(), (Lines{"built", "started"}));
  scene.diarist.stop(Stop::kill);
  scene.simulation.run_for(0s);
  EXPECT_EQ(scene.log.values(), (Lines{"built", "started", "nap over", "gone"}));
}

TEST(Lifecycle, AnActorThatStopsItselfFinishesItsHandler) {
  Scene scene;
  scene.diarist.send<StopYourself>();
  scene.diarist.send<Note>(1);
  EXPECT_EQ(await_end(scene.simulation, scene.diarist).reason.kind, StopReason::Kind::normal);
  EXPECT_EQ(scene.log.values(), (Lines{"built", "started", "stopping", "stopped", "gone"}));
  EXPECT_EQ(scene.refused(), 1u);
}

TEST(Lifecycle, StoppedBeforeItStartsItNeverDoes) {
  Scene scene;
  scene.diarist.send<Note>(1);
  scene.diarist.stop();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(), (Lines{"built", "stopped", "gone"}));
  EXPECT_EQ(scene.refused(), 1u);
}

/// A line of descendants.
class Elder final : public Actor<Note> {
 public:
  Elder(int below, Collector<std::string>* log) : below_(below), log_(log) {
    if (below_ > 0) spawn<Elder>(below_ - 1, log_);
  }
  void on(Note) {}
  Task<> on_stop() {
    static_cast<void>(co_await sleep_for(1s));
    log_->add("stopped " + std::to_string(below_));
  }

 private:
  int below_;
  Collector<std::string>* log_;
  Counted<Elder> counted_;
};

TEST(Lifecycle, ChildrenEndBeforeTheirParent) {
  Collector<std::string> log;
  Simulation simulation;
  auto elder = simulation.system().spawn<Elder>(3, &log);
  EXPECT_EQ(Counted<Elder>::live(), 4);
  elder.stop();
  simulation.run_until_idle();
  EXPECT_EQ(log.values(), (Lines{"stopped 0", "stopped 1", "stopped 2", "stopped 3"}));
  EXPECT_EQ(Counted<Elder>::live(), 0);
}

// They did nothing wrong: their parent stopped.
TEST(Lifecycle, KillLetsTheChildrenCleanUp) {
  Collector<std::string> log;
  Simulation simulation;
  auto elder = simulation.system().spawn<Elder>(3, &log);
  elder.stop(Stop::kill);
  simulation.run_until_idle();
  EXPECT_EQ(log.values(), (Lines{"stopped 0", "stopped 1", "stopped 2"}));
  EXPECT_EQ(Counted<Elder>::live(), 0);
}

/// Keeps the reference of a child that others may still write to.
class Keeper final : public Actor<Nap> {
 public:
  explicit Keeper(std::optional<RefOf<Diarist>>* child, Collector<std::string>* log) {
    child->emplace(spawn<Diarist>(log));
  }
  Task<int> on(Nap) {
    static_cast<void>(co_await sleep_for(1s));
    co_return 1;
  }
};

TEST(Lifecycle, AChildRefusesMessagesAsSoonAsItsParentBeginsToStop) {
  Collector<std::string> log;
  std::optional<RefOf<Diarist>> child;
  Simulation simulation;
  auto keeper = simulation.system().spawn<Keeper>(&child, &log);
  simulation.run_until_idle();
  child->send<Nap>();
  simulation.run_for(500ms);
  keeper.stop();
  simulation.run_steps(1);
  EXPECT_FALSE(child->is_alive()) << "though its handler is not done";
  EXPECT_EQ(child->send<Note>(1).reason(), Errc::stopped);
  simulation.run_until_idle();
  EXPECT_EQ(log.values(), (Lines{"built", "started", "woke", "nap over", "stopped", "gone"}));
}

class BadEnd final : public Actor<Note> {
 public:
  explicit BadEnd(bool at_once) : at_once_(at_once) {}
  void on(Note) {}
  Task<> on_stop() {
    if (!at_once_) static_cast<void>(co_await sleep_for(1s));
    throw std::runtime_error("cannot stop");
  }

 private:
  bool at_once_;
};

class PlainBadEnd final : public Actor<Note> {
 public:
  void on(Note) {}
  void on_stop() { throw std::runtime_error("cannot stop"); }
};

void expect_end_in_spite_of_failure(Simulation& simulation, Reports& reports,
                                    const ActorRef<Note>& actor) {
  const std::size_t before = reports.failures.values().size();
  actor.stop();
  EXPECT_EQ(await_end(simulation, actor).reason.kind, StopReason::Kind::normal);
  const auto failures = reports.failures.values();
  ASSERT_EQ(failures.size(), before + 1);
  EXPECT_NE(failures.back().message.find("cannot stop"), std::string::npos);
}

TEST(Lifecycle, AFailingStopHookIsReportedAndTheActorEndsAllTheSame) {
  Reports reports;
  Simulation simulation({.system = reports.options()});
  ActorSystem& system = simulation.system();
  expect_end_in_spite_of_failure(simulation, reports, system.spawn<PlainBadEnd>());
  expect_end_in_spite_of_failure(simulation, reports, system.spawn<BadEnd>(true));
  expect_end_in_spite_of_failure(simulation, reports, system.spawn<BadEnd>(false));
  EXPECT_EQ(reports.failures.values().front().message, "on_stop: cannot stop");
}

#if WEIR_POOL_USES_MALLOC
template <std::size_t Bytes>
class Resident final : public Actor<Note> {
 public:
  explicit Resident(const void** place) { *place = &content_; }
  void on(Note) { throw std::runtime_error("moves out"); }

 private:
  char content_[Bytes] = {};
};

/// Of the memory, while the actor lives, between a failure and the restart, and after its end.
template <std::size_t Bytes>
void expect_only_while_it_lives() {
  Reports reports;
  Simulation simulation({.system = reports.options()});
  const void* place = nullptr;
  const SpawnOptions restarting{
      .supervision = {.directive = Supervision::Directive::restart, .backoff = 1s}};
  auto actor = simulation.system().spawn<Resident<Bytes>>(restarting, &place);
  simulation.run_until_idle();
  EXPECT_FALSE(__asan_address_is_poisoned(place));
  actor.template send<Note>(1);
  simulation.run_for(1ms);
  EXPECT_TRUE(__asan_address_is_poisoned(place));
  simulation.run_until_idle();
  EXPECT_FALSE(__asan_address_is_poisoned(place));
  actor.stop();
  await_end(simulation, actor);
  EXPECT_TRUE(__asan_address_is_poisoned(place));
}

TEST(Lifecycle, TheAddressSanitizerSeesWhoUsesAnActorThatHasEnded) {
  expect_only_while_it_lives<8>();
  expect_only_while_it_lives<10'000>();
}
#endif

}  // namespace
}  // namespace weir
