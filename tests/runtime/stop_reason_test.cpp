#include <weir/runtime/stop_reason.hpp>

#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>

namespace weir {
namespace {

struct Fail {};

class Watched final : public Actor<Fail> {
 public:
  void on(Fail) {}
};

/// Monitors from `on_start`, as one does, and so again after each restart.
class Watching final : public Actor<Fail, Terminated> {
 public:
  Watching(RefOf<Watched> watched, int* told) : watched_(std::move(watched)), told_(told) {}
  void on_start() { monitor(watched_); }
  void on(Fail) { throw std::runtime_error("restart me"); }
  void on(Terminated) { ++*told_; }

 private:
  RefOf<Watched> watched_;
  int* told_;
};

TEST(Terminated, IsDeliveredOnceAfterTheWatcherHasRestarted) {
  int told = 0;
  Simulation simulation;
  auto watched = simulation.system().spawn<Watched>();
  auto watching =
      simulation.system().spawn<Watching>({.supervision = Supervision::restart()}, watched, &told);
  watching.send<Fail>();
  simulation.run_until_idle();
  watched.stop();
  simulation.run_until_idle();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace weir
