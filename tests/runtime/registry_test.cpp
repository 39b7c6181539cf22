#include <weir/runtime/registry.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <weir/tests/runtime/support/event_log.hpp>

namespace weir {
namespace {

using test::EventLog;
using Names = std::vector<std::string>;

struct Deposit {
  int cents;
};
struct Balance {
  using Reply = int;
};
struct Unheard {};

class Account final : public Actor<Deposit, Balance> {
 public:
  explicit Account(EventLog* log = nullptr) : log_(log) {}
  void on(Deposit deposit) { cents_ += deposit.cents; }
  int on(Balance) const { return cents_; }
  void on_stop() {
    if (log_) log_->add("stopped");
  }

 private:
  int cents_ = 0;
  EventLog* log_;
};

class Printer final : public Actor<Unheard> {
 public:
  void on(Unheard) {}
};

Task<int> balance_of(ActorRef<Balance> account) {
  co_return (co_await account.ask<Balance>()).value();
}

class RegistryTest : public testing::Test {
 protected:
  ActorSystem system{{.threads = 2, .on_dead_letter = [](const DeadLetter&) {}}};
  Registry registry{system};
  EventLog log;
};

TEST_F(RegistryTest, FindsAnActorByNameAndMessages) {
  const auto account = system.spawn<Account>();
  ASSERT_TRUE(registry.add("savings", account));
  const Result<ActorRef<Deposit>> found = registry.find<Deposit>("savings");
  ASSERT_TRUE(found);
  found->send<Deposit>(7);
  EXPECT_EQ(system.run(balance_of(registry.find<Balance>("savings").value())), 7);
}

TEST_F(RegistryTest, FindsAnActorByItsClass) {
  const auto account = system.spawn<Account>();
  ASSERT_TRUE(registry.add("savings", account));
  EXPECT_EQ(registry.find<Account>("savings").value(), account);
}

TEST_F(RegistryTest, ANameThatNobodyHasIsNotFound) {
  const auto found = registry.find<Deposit>("nobody");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(), Errc::not_found);
  EXPECT_EQ(found.error().detail(), "registry: 'nobody'");
}

TEST_F(RegistryTest, AnActorThatDoesNotHandleTheMessageHasTheWrongType) {
  const auto account = system.spawn<Account>();
  system.spawn<Printer>();  // gives Unheard a place in dispatch tables
  ASSERT_TRUE(registry.add("savings", account));
  const auto found = registry.find<Deposit, Unheard>("savings");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(), Errc::wrong_type);
  EXPECT_NE(found.error().detail().find("does not handle weir::(anonymous namespace)::Unheard"),
            std::string::npos)
      << found.error().message();
  EXPECT_EQ(registry.find<Printer>("savings").error(), Errc::wrong_type);
}

struct NobodyHandlesThis {};

TEST_F(RegistryTest, AMessageThatNoActorHandlesIsTheWrongTypeToo) {
  ASSERT_TRUE(registry.add("savings", system.spawn<Account>()));
  EXPECT_EQ(registry.find<NobodyHandlesThis>("savings").error(), Errc::wrong_type);
}

TEST_F(RegistryTest, ANameThatIsTakenIsRefusedAndSaysByWhom) {
  const auto first = system.spawn<Account>();
  ASSERT_TRUE(registry.add("savings", first));
  const Result<> again = registry.add("savings", system.spawn<Printer>());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::already_exists);
  EXPECT_EQ(again.error().detail(),
            "registry: 'savings' is the name of weir::(anonymous namespace)::Account #" +
                std::to_string(first.id().value));
  EXPECT_EQ(registry.find<Account>("savings").value(), first);
}

TEST_F(RegistryTest, TheNameOfAStoppedActorIsFree) {
  const auto account = system.spawn<Account>(&log);
  ASSERT_TRUE(registry.add("savings", account));
  account.stop();
  ASSERT_TRUE(log.wait_for("stopped"));
  EXPECT_EQ(registry.find<Account>("savings").error(), Errc::not_found);
  EXPECT_EQ(registry.names(), Names{});
  const auto next = system.spawn<Account>();
  EXPECT_TRUE(registry.add("savings", next));
  EXPECT_EQ(registry.find<Account>("savings").value(), next);
}

TEST_F(RegistryTest, OneActorMayHaveSeveralNames) {
  const auto account = system.spawn<Account>();
  ASSERT_TRUE(registry.add("b", account));
  ASSERT_TRUE(registry.add("a", account));
  EXPECT_EQ(registry.names(), (Names{"a", "b"}));
}

TEST_F(RegistryTest, ARemovedNameIsFree) {
  const auto account = system.spawn<Account>();
  ASSERT_TRUE(registry.add("savings", account));
  EXPECT_TRUE(registry.remove("savings"));
  EXPECT_FALSE(registry.remove("savings"));
  EXPECT_EQ(registry.find<Account>("savings").error(), Errc::not_found);
  EXPECT_TRUE(account.is_alive());
}

TEST_F(RegistryTest, RefusesWhatCannotBeFoundAgain) {
  ActorSystem other({.threads = 1});
  const auto account = system.spawn<Account>(&log);
  EXPECT_EQ(registry.add("", account).error(), Errc::invalid_argument);
  EXPECT_EQ(registry.add("x", ActorRef<Deposit>()).error(), Errc::invalid_argument);
  EXPECT_EQ(registry.add("x", other.spawn<Account>()).error(), Errc::invalid_argument);
  account.stop();
  ASSERT_TRUE(log.wait_for("stopped"));
  EXPECT_EQ(registry.add("x", account).error(), Errc::stopped);
  EXPECT_EQ(registry.names(), Names{});
}

TEST_F(RegistryTest, KeepsTheNamesOfTheLivingWhileManyComeAndGo) {
  const auto lasting = system.spawn<Account>();
  ASSERT_TRUE(registry.add("lasting", lasting));
  for (std::size_t i = 0; i < 500; ++i) {
    const auto passing = system.spawn<Account>(&log);
    ASSERT_TRUE(registry.add(std::to_string(i), passing));
    passing.stop();
    ASSERT_TRUE(log.wait_for("stopped", i + 1));
  }
  EXPECT_EQ(registry.names(), Names{"lasting"});
  EXPECT_EQ(registry.find<Account>("lasting").value(), lasting);
}

TEST_F(RegistryTest, OfManyThatWantANameAtOnceOneGetsIt) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto mine = system.spawn<Account>();
      if (registry.add("leader", mine)) ++winners;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_TRUE(registry.find<Account>("leader"));
}

}  // namespace
}  // namespace weir
