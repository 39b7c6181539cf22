// Children that end while their parent is busy, idle, or has other things to hear of.

#include <atomic>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/supervision.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::Counter;
using testing::Reports;
using testing::scaled;

struct Go {};
struct Spawn {
  int children;
};

/// Ends with its first message.
class Mayfly final : public Actor<Go> {
 public:
  explicit Mayfly(Counter* gone) : gone_(gone) {}
  ~Mayfly() { gone_->add(); }
  void on(Go) { stop(); }

 private:
  Counter* gone_;
};

class Failing final : public Actor<Go> {
 public:
  explicit Failing(Counter* gone) : gone_(gone) {}
  ~Failing() { gone_->add(); }
  void on(Go) { throw std::runtime_error("burnt"); }

 private:
  Counter* gone_;
};

std::size_t cells_ever_made() {
  std::size_t count = 0;
  internal::for_each_cell_memory(
      [](void*, void* context) { ++*static_cast<std::size_t*>(context); }, &count);
  return count;
}

constexpr int brood = 256;

/// Spawns one brood after the other within one handler; each has ended before the next begins.
class Breeder final : public Actor<Spawn> {
 public:
  Breeder(int broods, Counter* gone, Counter* done) : broods_(broods), gone_(gone), done_(done) {}

  void on(Spawn message) {
    for (int i = 0; i < message.children; ++i) {
      spawn<Failing>({.supervision = Supervision::escalate()}, gone_).send<Go>();
    }
    int expected = message.children;
    for (int i = 0; i < broods_; ++i) {
      for (int j = 0; j < brood; ++j) spawn<Mayfly>(gone_).send<Go>();
      gone_->wait_for(expected += brood);
    }
    done_->add();
  }
  void on_stop() { done_->add(); }

 private:
  int broods_;
  Counter* gone_;
  Counter* done_;
};

TEST(Children, ThatEndWhileTheirParentSpawnsMakeRoomForOthers) {
  const int broods = scaled(100);
  Counter gone;
  Counter done;
  ActorSystem system(testing::quiet());
  const std::size_t before = cells_ever_made();
  system.spawn<Breeder>(broods, &gone, &done).send<Spawn>(0);
  done.wait_for(1);
  EXPECT_LT(cells_ever_made() - before, static_cast<std::size_t>(broods) * brood / 2);
  system.stop();
}

TEST(Children, ThatEscalateAreHeardOfThoughOthersAreLetGo) {
  Counter gone;
  Counter done;
  Reports reports;
  ActorSystem system(reports.options());
  system.spawn<Breeder>(scaled(20), &gone, &done).send<Spawn>(1);
  done.wait_for(2);  // the handler has ended, then the actor that failed with its child
  EXPECT_EQ(reports.failures.wait_for(2).size(), 2u);
  system.stop();
}

/// Tells at once that it is gone.
class Spark final : public Actor<Go> {
 public:
  explicit Spark(std::atomic<int>* gone) : gone_(gone) {}
  ~Spark() { gone_->fetch_add(1); }
  void on(Go) { stop(); }

 private:
  std::atomic<int>* gone_;
};

/// Spawns children and has nothing more to do.
class Anvil final : public Actor<Spawn> {
 public:
  explicit Anvil(std::atomic<int>* gone) : gone_(gone) {}
  void on(Spawn message) {
    for (int i = 0; i < message.children; ++i) spawn<Spark>(gone_).send<Go>();
  }

 private:
  std::atomic<int>* gone_;
};

TEST(Children, LeaveAnIdleParentWhileSomebodyWritesToIt) {
  std::atomic<int> gone{0};
  ActorSystem system(testing::quiet());
  auto anvil = system.spawn<Anvil>(&gone);
  for (int i = 1; i <= scaled(20'000); ++i) {
    anvil.send<Spawn>(1);
    testing::eventually("a child to end", [&] { return gone.load() == i; });
    // The next message comes while the child leaves, a little earlier or later each time.
    for (int pause = i % 32; pause > 0; --pause) internal::relax_cpu();
  }
  anvil.stop();
  testing::await_end(system, anvil);
  system.stop();
}

// A lock guards the children of the guardian: it keeps one in the middle of leaving.
TEST(Children, ThatLeaveAnIdleParentWakeItForWhatCameMeanwhile) {
  std::atomic<int> gone{0};
  ActorSystem system(testing::quiet());
  internal::Core& core = system.core();
  auto spark = system.spawn<Spark>(&gone);
  {
    const std::scoped_lock hold(core.tree_lock);
    spark.send<Go>();
    testing::eventually("the child to leave", [&] {
      return core.guardian->head.load() == std::uintptr_t{internal::Cell::busy};
    });
    internal::request_stop(*core.guardian, internal::StopMode::graceful, {});
  }
  testing::eventually("the guardian to end", [&] {
    const std::scoped_lock hold(core.stop_mutex);
    return core.is_stopped;
  });
}

}  // namespace
}  // namespace weir
