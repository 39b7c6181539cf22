#include <weir/runtime/signals.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <stdexcept>

#include <weir/tests/runtime/support/event_log.hpp>

namespace weir {
namespace {

using test::EventLog;

struct Hang {};

class Service final : public Actor<Hang> {
 public:
  explicit Service(EventLog* log) : log_(log) {}
  void on(Hang) {
    log_->add("hangs");
    never_.get_future().wait();
  }
  void on_stop() { log_->add("stopped"); }

 private:
  EventLog* log_;
  std::promise<void> never_;
};

class Signals : public testing::Test {
 protected:
  EventLog log;
  ActorSystem system{{.threads = 1}};
};
class StopOnSignalTest : public Signals, public testing::WithParamInterface<int> {};

TEST_P(StopOnSignalTest, TheFirstSignalStopsTheSystem) {
  StopOnSignal stop_on_signal(system);
  system.spawn<Service>(&log);
  std::raise(GetParam());
  EXPECT_EQ(stop_on_signal.wait(), GetParam());
  EXPECT_TRUE(system.is_stopping());
  EXPECT_EQ(log.count("stopped"), 1u);
  EXPECT_EQ(stop_on_signal.wait(), GetParam()) << "waiting again gives the same answer";
}

INSTANTIATE_TEST_SUITE_P(Signals, StopOnSignalTest, testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) { return info.param == SIGINT ? "Int" : "Term"; });

TEST_F(Signals, WithoutASignalTheSystemGoesOn) {
  {
    const StopOnSignal stop_on_signal(system);
  }
  EXPECT_FALSE(system.is_stopping());
}

struct sigaction action_of(int signal) {
  struct sigaction action{};
  sigaction(signal, nullptr, &action);
  return action;
}

TEST_F(Signals, WhatTheyDidBeforeIsRestored) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  {
    const StopOnSignal stop_on_signal(system);
    EXPECT_NE(action_of(SIGTERM).sa_handler, SIG_IGN);
  }
  EXPECT_EQ(action_of(SIGTERM).sa_handler, SIG_IGN);
  std::signal(SIGTERM, before);
}

TEST_F(Signals, OnlyOneMayWaitForThem) {
  const StopOnSignal stop_on_signal(system);
  EXPECT_THROW(StopOnSignal second(system), std::logic_error);
  EXPECT_THROW(wait_for_signal(), std::logic_error);
}

TEST_F(Signals, WaitForSignalTakesOneThatThisThreadHadBlocked) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  std::raise(SIGTERM);  // pending for this thread
  EXPECT_EQ(wait_for_signal(), SIGTERM);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), 1) << "the thread's mask is restored";
}

// The handler never returns, so the system cannot stop.
void hang_and_raise(int times) {
  EventLog log;
  ActorSystem system({.threads = 1});
  StopOnSignal stop_on_signal(system, {.drain = Duration::zero()});
  system.spawn<Service>(&log).send<Hang>();
  log.wait_for("hangs");
  for (int i = 0; i < times; ++i) std::raise(SIGTERM);
  stop_on_signal.wait();
}

TEST(SignalsDeathTest, TheSecondSignalEndsTheProcessAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(hang_and_raise(2), testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace weir
