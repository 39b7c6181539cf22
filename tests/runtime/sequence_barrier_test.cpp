#include <weir/runtime/sequence_barrier.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::quiet;

Task<> note_when_passed(SequenceBarrier* barrier, std::uint64_t sequence,
                        std::vector<std::string>* log) {
  const auto passed = co_await barrier->wait_until(sequence);
  log->push_back(std::to_string(sequence) + ": " +
                 (passed ? std::to_string(*passed) : passed.error().message()));
}

TEST(SequenceBarrier, WakesThoseWhoWaitForWhatHasBeenPublished) {
  struct Waiting {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      SequenceBarrier barrier(3);
      TaskScope scope;
      for (const std::uint64_t sequence : {3u, 5u, 4u, 9u}) {
        scope.spawn(note_when_passed(&barrier, sequence, &log));
      }
      barrier.publish(5);
      barrier.publish(2);
      log.push_back("published");
      barrier.publish(10);
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waiting::run()),
            (std::vector<std::string>{"3: 3", "published", "4: 10", "5: 10", "9: 10"}));
}

TEST(SequenceBarrier, TellsWhyNothingMoreWillCome) {
  struct Waiting {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      SequenceBarrier barrier(1);
      TaskScope scope;
      scope.spawn(note_when_passed(&barrier, 2, &log));
      barrier.close(Error(Errc::closed, "for good"));
      barrier.close(Error(Errc::failed, "too late"));
      co_await scope.join();
      co_await note_when_passed(&barrier, 1, &log);
      co_await note_when_passed(&barrier, 5, &log);
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waiting::run()),
            (std::vector<std::string>{"2: closed: for good", "1: 1", "5: closed: for good"}));
}

TEST(SequenceBarrier, AWaitIsCancelledWithItsScope) {
  struct Waiting {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      SequenceBarrier barrier;
      TaskScope scope;
      scope.spawn(note_when_passed(&barrier, 2, &log));
      scope.cancel_all();
      co_await scope.join();
      barrier.publish(2);
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waiting::run()), (std::vector<std::string>{"2: cancelled"}));
}

TEST(SequenceBarrier, LosesNoWakeUpBetweenThreads) {
  struct Following {
    static Task<std::uint64_t> run(SequenceBarrier* barrier, std::uint64_t last) {
      std::uint64_t seen = 0;
      while (seen < last) seen = *co_await barrier->wait_until(seen + 1);
      co_return seen;
    }
  };
  ActorSystem system(quiet());
  SequenceBarrier barrier;
  constexpr std::uint64_t last = 20'000;
  std::thread publisher([&] {
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence) barrier.publish(sequence);
  });
  EXPECT_EQ(system.run(Following::run(&barrier, last)), last);
  publisher.join();
}

struct Await {
  std::uint64_t sequence;
};

class Follower final : public Actor<Await> {
 public:
  explicit Follower(SequenceBarrier* barrier) : barrier_(barrier) {}
  Task<> on(Await await) { (void)co_await barrier_->wait_until(await.sequence); }

 private:
  SequenceBarrier* barrier_;
};

TEST(SequenceBarrier, ForgetsThoseWhoEndWhileTheyWait) {
  SequenceBarrier barrier;
  {
    ActorSystem system(quiet());
    for (int i = 0; i < 4; ++i) system.spawn<Follower>(&barrier).send<Await>(1u);
    system.stop({.drain = {}, .timeout = Duration::zero()});
  }
  barrier.publish(1);
}

}  // namespace
}  // namespace weir
