#include <weir/runtime/actor.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::ask_from_outside;
using testing::await_end;
using testing::Collector;
using testing::Event;
using testing::quiet;

struct Add {
  std::int64_t amount;
};
struct Total {
  using Reply = std::int64_t;
};

class Sum final : public Actor<Add, Total> {
 public:
  void on(Add message) { total_ += message.amount; }
  std::int64_t on(Total) const { return total_; }

 private:
  std::int64_t total_ = 0;
};

TEST(Actor, KeepsItsStateBetweenMessages) {
  ActorSystem system(quiet());
  auto sum = system.spawn<Sum>();
  sum.send<Add>(40);
  sum.send(Add{2});
  EXPECT_EQ(*ask_from_outside(system, sum, Total{}), 42);
}

// One request for every form that a handler's result may take.
struct Plain {
  using Reply = std::string;
};
struct MayFail {
  using Reply = std::string;
  bool fails;
};
struct Later {
  using Reply = std::string;
};
struct LaterMayFail {
  using Reply = std::string;
  bool fails;
};
struct Acknowledge {
  using Reply = void;
};
struct AcknowledgeLater {
  using Reply = void;
};
struct Converted {
  using Reply = std::string;
};

class Forms final
    : public Actor<Plain, MayFail, Later, LaterMayFail, Acknowledge, AcknowledgeLater, Converted> {
 public:
  std::string on(Plain) { return "plain"; }
  Result<std::string> on(MayFail request) {
    if (request.fails) return Error(Errc::not_found, "nothing here");
    return std::string("may fail");
  }
  Task<std::string> on(Later) { co_return "later"; }
  Task<Result<std::string>> on(LaterMayFail request) {
    if (request.fails) co_return Error(Errc::not_found, "nothing there");
    co_return std::string("later, may fail");
  }
  void on(Acknowledge) {}
  Task<> on(AcknowledgeLater) { co_return; }
  const char* on(Converted) { return "converted"; }
};

TEST(Actor, AnswersWithEveryFormOfResult) {
  ActorSystem system(quiet());
  auto forms = system.spawn<Forms>();
  EXPECT_EQ(*ask_from_outside(system, forms, Plain{}), "plain");
  EXPECT_EQ(*ask_from_outside(system, forms, MayFail{false}), "may fail");
  EXPECT_EQ(*ask_from_outside(system, forms, Later{}), "later");
  EXPECT_EQ(*ask_from_outside(system, forms, LaterMayFail{false}), "later, may fail");
  EXPECT_EQ(*ask_from_outside(system, forms, Converted{}), "converted");
  EXPECT_TRUE(ask_from_outside(system, forms, Acknowledge{}).has_value());
  EXPECT_TRUE(ask_from_outside(system, forms, AcknowledgeLater{}).has_value());
}

TEST(Actor, AnErrorThatAHandlerReturnsReachesTheCallerAndIsNoFailure) {
  testing::Reports reports;
  ActorSystem system(reports.options());
  auto forms = system.spawn<Forms>();
  const auto now = ask_from_outside(system, forms, MayFail{true});
  const auto later = ask_from_outside(system, forms, LaterMayFail{true});
  ASSERT_FALSE(now);
  ASSERT_FALSE(later);
  EXPECT_EQ(now.error(), Errc::not_found);
  EXPECT_EQ(now.error().detail(), "nothing here");
  EXPECT_EQ(later.error().detail(), "nothing there");
  EXPECT_TRUE(forms.is_alive());
  EXPECT_TRUE(reports.failures.values().empty());
}

struct MoveOnly {
  std::unique_ptr<int> value;
};
struct Swap {
  using Reply = std::unique_ptr<int>;
  std::unique_ptr<int> value;
};

class Holder final : public Actor<MoveOnly, Swap> {
 public:
  void on(MoveOnly message) { value_ = std::move(message.value); }
  std::unique_ptr<int> on(Swap request) { return std::exchange(value_, std::move(request.value)); }

 private:
  std::unique_ptr<int> value_;
};

TEST(Actor, MovesMessagesAndRepliesThatCannotBeCopied) {
  ActorSystem system(quiet());
  auto holder = system.spawn<Holder>();
  holder.send<MoveOnly>(std::make_unique<int>(1));
  auto first = ask_from_outside(system, holder, Swap{std::make_unique<int>(2)});
  auto second = ask_from_outside(system, holder, Swap{nullptr});
  EXPECT_EQ(**first, 1);
  EXPECT_EQ(**second, 2);
}

TEST(Actor, HandlesARequestThatWasSentWithoutWaitingForTheReply) {
  ActorSystem system(quiet());
  auto holder = system.spawn<Holder>();
  EXPECT_TRUE(holder.send<Swap>(std::make_unique<int>(7)));
  EXPECT_EQ(**ask_from_outside(system, holder, Swap{nullptr}), 7);
}

struct Large {
  using Reply = std::size_t;
  std::array<char, 5000> text;
};
struct alignas(64) Aligned {
  using Reply = bool;
  char byte = 0;
};

// Larger than any pooled cell, and aligned like one.
class alignas(64) Warehouse final : public Actor<Large, Aligned> {
 public:
  std::size_t on(const Large& request) {
    stock_ = request.text;
    return static_cast<std::size_t>(std::count(stock_.begin(), stock_.end(), 'x'));
  }
  bool on(const Aligned& request) const {
    return reinterpret_cast<std::uintptr_t>(&request) % 64 == 0 &&
           reinterpret_cast<std::uintptr_t>(this) % 64 == 0;
  }

 private:
  std::array<char, 5000> stock_{};
};

TEST(Actor, MayBeLargerThanAnyPoolAndSoMayMessages) {
  ActorSystem system(quiet());
  auto warehouse = system.spawn<Warehouse>();
  Large request{};
  request.text.fill('x');
  EXPECT_EQ(*ask_from_outside(system, warehouse, request), 5000u);
  EXPECT_TRUE(*ask_from_outside(system, warehouse, Aligned{}));
}

// The conversion of what a handler returned may throw, after the message has been used.
struct Strict {
  Strict(int value) : number(value) {
    if (value < 0) throw std::domain_error("below zero");
  }
  int number;
};
struct Number {
  using Reply = Strict;
  std::string text;
};

class Parser final : public Actor<Number> {
 public:
  int on(const Number& request) { return std::stoi(request.text); }
};

TEST(Actor, AReplyWhoseConversionThrowsFailsTheRequestOnly) {
  ActorSystem system(quiet());
  const SpawnOptions resumes{.supervision = Supervision::resume()};
  auto parser = system.spawn<Parser>(resumes);
  const std::string padding(100, ' ');
  const auto bad = ask_from_outside(system, parser, Number{padding + "-5"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), Errc::failed);
  EXPECT_EQ(bad.error().detail(), "below zero");
  EXPECT_EQ(ask_from_outside(system, parser, Number{padding + "5"})->number, 5);
}

struct Describe {
  using Reply = std::string;
};

class Named final : public Actor<Describe> {
 public:
  std::string on(Describe) const { return name() + " " + std::to_string(id().value); }
};

TEST(Actor, KnowsItsNameAndId) {
  ActorSystem system(quiet());
  auto named = system.spawn<Named>(SpawnOptions{.name = "carol"});
  EXPECT_EQ(*ask_from_outside(system, named, Describe{}),
            "carol " + std::to_string(named.id().value));
}

struct Go {};

class Recursive final : public Actor<Go> {
 public:
  explicit Recursive(int depth, testing::Counter* ran) : depth_(depth), ran_(ran) {}
  void on(Go) {
    ran_->add();
    if (depth_ > 0) spawn<Recursive>(depth_ - 1, ran_).send<Go>();
  }

 private:
  int depth_;
  testing::Counter* ran_;
};

TEST(Actor, SpawnsChildrenFromItsHandlers) {
  testing::Counter ran;
  ActorSystem system(quiet());
  system.spawn<Recursive>(10, &ran).send<Go>();
  ran.wait_for(11);
  EXPECT_EQ(system.actors().size(), 11u);
}

class Eager final : public Actor<Go, Total> {
 public:
  explicit Eager(Event* got) : got_(got) { self().send<Go>(); }
  void on(Go) { got_->set(); }
  std::int64_t on(Total) { return 0; }

 private:
  Event* got_;
};

TEST(Actor, MaySendToItselfFromItsConstructor) {
  Event got;
  ActorSystem system(quiet());
  system.spawn<Eager>(&got);
  got.wait();
}

class Family final : public Actor<> {
 public:
  explicit Family(Event* got) { child_ = spawn<Eager>(got); }

 private:
  RefOf<Eager> child_;
};

TEST(Actor, MaySpawnChildrenFromItsConstructor) {
  Event got;
  ActorSystem system(quiet());
  auto family = system.spawn<Family>(&got);
  got.wait();
  std::vector<ActorId> parents;
  for (const ActorInfo& info : system.actors()) parents.push_back(info.parent);
  EXPECT_EQ(parents, (std::vector<ActorId>{ActorId{}, family.id()}));
  family.stop();
  testing::eventually("both to end", [&] { return system.actors().empty(); });
}

class Impatient final : public Actor<Go> {
 public:
  explicit Impatient(Event* got) : got_(got) { schedule_once<Go>(std::chrono::milliseconds(1)); }
  void on(Go) { got_->set(); }

 private:
  Event* got_;
};

TEST(Actor, MayArmATimerInItsConstructor) {
  Event got;
  ActorSystem system(quiet());
  system.spawn<Impatient>(&got);
  got.wait();
}

class Stillborn final : public Actor<> {
 public:
  Stillborn() { stop(); }
};

TEST(Actor, MayStopItselfInItsConstructor) {
  ActorSystem system(quiet());
  auto stillborn = system.spawn<Stillborn>();
  EXPECT_FALSE(stillborn.is_alive());
  testing::eventually("it to end", [&] { return system.actors().empty(); });
  EXPECT_EQ(await_end(system, stillborn).reason.kind, StopReason::Kind::normal);
}

class Throwing final : public Actor<Go> {
 public:
  explicit Throwing(Event* got) {
    spawn<Eager>(got);
    schedule_once<Go>(std::chrono::milliseconds(1));
    self().send<Go>();
    throw std::runtime_error("no luck");
  }
  void on(Go) {}
};

TEST(Actor, WhoseConstructorThrowsLeavesNothingBehind) {
  Event got;
  ActorSystem system(quiet());
  try {
    system.spawn<Throwing>(&got);
    FAIL() << "spawn must throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no luck");
  }
  testing::eventually("the child to end", [&] { return system.actors().empty(); });
  EXPECT_TRUE(system.stop().is_clean());
}

struct Random {
  using Reply = std::uint64_t;
};
class Dice final : public Actor<Random> {
 public:
  Dice() : first_(random()), second_(random()) {}
  std::uint64_t on(Random) { return first_ ^ second_; }

 private:
  std::uint64_t first_;
  std::uint64_t second_;
};

TEST(Actor, GetsOtherRandomNumbersEachTimeEvenInItsConstructor) {
  ActorSystem system(quiet());
  EXPECT_NE(*ask_from_outside(system, system.spawn<Dice>(), Random{}), 0u);
}

class Consuming final : public Actor<Describe> {
 public:
  explicit Consuming(std::string&& text) : text_(std::move(text)) {}
  std::string on(Describe) { return text_; }

 private:
  std::string text_;
};

TEST(Actor, TakesConstructorArgumentsByRvalueReference) {
  ActorSystem system(quiet());
  std::string text(100, 'x');
  auto consuming = system.spawn<Consuming>(std::string(text));
  EXPECT_EQ(*ask_from_outside(system, consuming, Describe{}), text);
}

}  // namespace
}  // namespace weir
