#include <weir/runtime/ask_all.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::Counter;
using testing::quiet;

struct Quote {
  using Reply = int;
  int amount;
};

struct Other {};
struct Start {};

/// Answers after a while, or never.
class Dealer final : public Actor<Quote, Other> {
 public:
  struct Plan {
    int price = 0;
    Duration delay = Duration::zero();
    bool fails = false;
  };

  explicit Dealer(Plan plan, Counter* cancelled = nullptr) : plan_(plan), cancelled_(cancelled) {}

  Task<Result<int>> on(Quote request) {
    if (!co_await sleep_for(plan_.delay) && cancelled_) cancelled_->add();
    if (plan_.fails) co_return Error(Errc::not_found, "no price " + std::to_string(plan_.price));
    co_return plan_.price* request.amount;
  }
  void on(Other) {}

 private:
  Plan plan_;
  Counter* cancelled_;
};

using Dealers = std::vector<RefOf<Dealer>>;

std::vector<std::string> texts(const std::vector<Result<int>>& replies) {
  std::vector<std::string> all;
  for (const auto& reply : replies) {
    all.push_back(reply ? std::to_string(*reply) : reply.error().message());
  }
  return all;
}

TEST(AskAll, GivesTheRepliesInTheOrderOfTheReferences) {
  struct Asking {
    static Task<std::vector<Result<int>>> run(Dealers dealers) {
      // [ask_all]
      auto replies = co_await ask_all<Quote>(dealers, 2).within(std::chrono::seconds(1));
      // [/ask_all]
      co_return replies;
    }
  };
  Simulation simulation;
  Dealers dealers;
  for (int i = 0; i < 5; ++i) {
    dealers.push_back(simulation.system().spawn<Dealer>(
        Dealer::Plan{.price = i, .delay = std::chrono::milliseconds(50 - i * 10)}));
  }
  EXPECT_EQ(texts(simulation.run(Asking::run(dealers))),
            (std::vector<std::string>{"0", "2", "4", "6", "8"}));
  EXPECT_EQ(simulation.now().time_since_epoch(), std::chrono::milliseconds(50));
}

TEST(AskAll, HasOneDeadlineAndKeepsWhatCameInTime) {
  struct Asking {
    static Task<std::vector<Result<int>>> run(Dealers dealers) {
      co_return co_await ask_all<Quote>(dealers, 1).within(std::chrono::milliseconds(100));
    }
  };
  Simulation simulation;
  Dealers dealers{
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 1}),
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 2, .delay = forever}),
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 3, .fails = true}),
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 4, .delay = forever}),
      {},
  };
  const auto replies = texts(simulation.run(Asking::run(dealers)));
  ASSERT_EQ(replies.size(), 5u);
  EXPECT_EQ(replies[0], "1");
  EXPECT_EQ(replies[1], Error(Errc::timed_out).message());
  EXPECT_EQ(replies[2], Error(Errc::not_found, "no price 3").message());
  EXPECT_EQ(replies[3], Error(Errc::timed_out).message());
  EXPECT_EQ(replies[4], Error(Errc::stopped, "empty reference").message());
  EXPECT_EQ(simulation.now().time_since_epoch(), std::chrono::milliseconds(100));
}

/// Asks itself and a dealer, from tasks of its handler.
template <bool interleaved>
class Vain final : public Actor<Start, Quote> {
 public:
  static constexpr bool interleaves = interleaved;

  Vain(ActorRef<Quote> other, std::vector<std::string>* outcomes)
      : other_(std::move(other)), outcomes_(outcomes) {}
  Task<> on(Start) {
    const std::vector<ActorRef<Quote>> both{self(), other_};
    const auto replies = co_await ask_all<Quote>(both, 2).within(forever);
    for (const auto& reply : replies) outcomes_->push_back(outcome_of(reply));
    outcomes_->push_back(outcome_of(co_await first_of<Quote>(both, 3).within(forever)));
    TaskScope outer;
    outer.spawn(ask_within(self(), outcomes_));
    co_await outer.join();
  }
  int on(Quote request) { return request.amount; }

 private:
  static std::string outcome_of(const Result<int>& reply) {
    return reply ? std::to_string(*reply) : reply.error().code().message();
  }
  static Task<> ask_once(ActorRef<Quote> target, std::vector<std::string>* outcomes) {
    outcomes->push_back(outcome_of(co_await target.ask<Quote>(4).within(forever)));
  }
  static Task<> ask_within(ActorRef<Quote> target, std::vector<std::string>* outcomes) {
    TaskScope inner;
    inner.spawn(ask_once(std::move(target), outcomes));
    co_await inner.join();
  }

  ActorRef<Quote> other_;
  std::vector<std::string>* outcomes_;
};

TEST(AskAll, OfOneselfAmongOthersIsADeadlockForThatOne) {
  std::vector<std::string> outcomes;
  Simulation simulation;
  auto dealer = simulation.system().spawn<Dealer>(Dealer::Plan{10});
  simulation.system().spawn<Vain<false>>(dealer, &outcomes).send<Start>();
  simulation.run_until_idle();
  const std::string deadlock = "would wait for itself";
  EXPECT_EQ(outcomes, (std::vector<std::string>{deadlock, "20", "30", deadlock}));
}

TEST(AskAll, OfOneselfIsAnsweredByAnActorThatInterleaves) {
  std::vector<std::string> outcomes;
  Simulation simulation;
  auto dealer = simulation.system().spawn<Dealer>(Dealer::Plan{10, std::chrono::seconds(1)});
  simulation.system().spawn<Vain<true>>(dealer, &outcomes).send<Start>();
  simulation.run_until_idle();
  EXPECT_EQ(outcomes, (std::vector<std::string>{"2", "20", "3", "4"}));
}

TEST(AskAll, OfNobodyIsEmpty) {
  struct Asking {
    static Task<std::size_t> run() { co_return (co_await ask_all<Quote>(Dealers{}, 1)).size(); }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Asking::run()), 0u);
}

struct Fetch {
  using Reply = std::unique_ptr<int>;
};

class Store final : public Actor<Fetch> {
 public:
  explicit Store(int value) : value_(value) {}
  std::unique_ptr<int> on(Fetch) { return std::make_unique<int>(value_); }

 private:
  int value_;
};

TEST(AskAll, TakesRepliesThatOnlyMoveAndManyActors) {
  struct Asking {
    static Task<int> run(std::vector<RefOf<Store>> stores) {
      int sum = 0;
      for (const auto& reply : co_await ask_all<Fetch>(stores)) sum += **reply;
      co_return sum;
    }
  };
  ActorSystem system(quiet());
  std::vector<RefOf<Store>> stores;
  for (int i = 0; i < 500; ++i) stores.push_back(system.spawn<Store>(i));
  for (int i = 0; i < testing::scaled(20); ++i) {
    EXPECT_EQ(system.run(Asking::run(stores)), 500 * 499 / 2);
  }
}

Task<Result<int>> first_quote(Dealers dealers) {
  // [first_of]
  auto price = co_await first_of<Quote>(dealers, 2).within(std::chrono::seconds(1));
  // [/first_of]
  co_return price;
}

TEST(FirstOf, TakesTheFirstSuccessAndCancelsTheOthers) {
  Simulation simulation;
  Counter cancelled;
  const auto dealer = [&](Dealer::Plan plan) {
    return simulation.system().spawn<Dealer>(plan, &cancelled);
  };
  const Dealers dealers{
      dealer({.price = 1, .delay = forever}),
      dealer({.price = 2, .fails = true}),
      dealer({.price = 3, .delay = std::chrono::milliseconds(10)}),
      dealer({.price = 4, .delay = std::chrono::milliseconds(500)}),
  };
  EXPECT_EQ(*simulation.run(first_quote(dealers)), 6);
  EXPECT_EQ(simulation.now().time_since_epoch(), std::chrono::milliseconds(10));
  simulation.run_until_idle();
  EXPECT_EQ(cancelled.value(), 2);
}

TEST(FirstOf, WithoutSuccessTellsAllErrors) {
  Simulation simulation;
  const Dealers dealers{
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 1, .delay = forever}),
      simulation.system().spawn<Dealer>(Dealer::Plan{.price = 2, .fails = true}),
  };
  const Result<int> price = simulation.run(first_quote(dealers));
  ASSERT_FALSE(price);
  EXPECT_EQ(price.error(), Errc::timed_out);
  EXPECT_EQ(price.error().detail(),
            "none of 2 succeeded: " + Error(Errc::not_found, "no price 2").message() + "; " +
                Error(Errc::timed_out).message());
}

TEST(FirstOf, OfNobodyIsAnError) {
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(first_quote({})).error(), Errc::invalid_argument);
}

}  // namespace
}  // namespace weir
