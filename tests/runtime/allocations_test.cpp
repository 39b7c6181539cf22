// Messages and requests are made of memory that is used again and again. Not one allocation is
// allowed, and so this program counts them: it has an operator new of its own.

#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/telemetry/support/allocations.hpp>

namespace weir {
namespace {

using telemetry::testing::allocations;

constexpr int round_messages = 1'000;
constexpr int warm_up_rounds = 20;
constexpr int rounds = 100;

struct Next {};
struct Value {
  std::int64_t value;
};
struct Increment {
  using Reply = std::int64_t;
  std::int64_t value;
};

/// Tells its sender after each round that it has handled all of it.
class Counter final : public Actor<Value> {
 public:
  explicit Counter(ActorRef<Next>* sender) : sender_(sender) {}
  void on(Value value) {
    sum_ += value.value;
    if (++handled_ % round_messages == 0) EXPECT_TRUE(sender_->send<Next>());
  }

 private:
  ActorRef<Next>* sender_;
  std::int64_t sum_ = 0;
  std::int64_t handled_ = 0;
};

/// One thread runs all actors, so what it allocates is all that they do.
class Sender final : public Actor<Next> {
 public:
  Sender(RefOf<Counter> counter, testing::Collector<std::uint64_t>* made)
      : counter_(std::move(counter)), made_(made) {}
  void on(Next) {
    if (++round_ == warm_up_rounds) before_ = allocations();
    if (round_ == warm_up_rounds + rounds) {
      made_->add(allocations() - before_);
      return;
    }
    for (int i = 0; i < round_messages; ++i) EXPECT_TRUE(counter_.send<Value>(i));
  }

 private:
  RefOf<Counter> counter_;
  testing::Collector<std::uint64_t>* made_;
  int round_ = 0;
  std::uint64_t before_ = 0;
};

class Server final : public Actor<Increment> {
 public:
  explicit Server(bool allocates) : allocates_(allocates) {}
  std::int64_t on(Increment request) {
    if (allocates_) kept_ = std::make_unique<std::int64_t>(request.value);
    return request.value + 1;
  }

 private:
  bool allocates_;
  std::unique_ptr<std::int64_t> kept_;
};

class Asker final : public Actor<Next> {
 public:
  Asker(RefOf<Server> server, testing::Collector<std::uint64_t>* made)
      : server_(std::move(server)), made_(made) {}
  Task<> on(Next) {
    std::uint64_t before = 0;
    for (std::int64_t i = 0; i < 11'000; ++i) {
      if (i == 1'000) before = allocations();
      EXPECT_EQ(*co_await server_.ask<Increment>(i), i + 1);
    }
    made_->add(allocations() - before);
  }

 private:
  RefOf<Server> server_;
  testing::Collector<std::uint64_t>* made_;
};

ActorSystemOptions one_thread(telemetry::Telemetry* telemetry) {
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = telemetry;
  return options;
}

/// Of 100,000 messages.
std::uint64_t allocations_of_sends(telemetry::Telemetry* telemetry) {
  testing::Collector<std::uint64_t> made;
  ActorRef<Next> sender;
  ActorSystem system(one_thread(telemetry));
  const SpawnOptions unlimited{.mailbox_capacity = unbounded};
  sender = system.spawn<Sender>(system.spawn<Counter>(unlimited, &sender), &made);
  sender.send<Next>();
  return made.wait_for(1).front();
}

/// Of 10,000 requests.
std::uint64_t allocations_of_asks(telemetry::Telemetry* telemetry, bool server_allocates = false) {
  testing::Collector<std::uint64_t> made;
  ActorSystem system(one_thread(telemetry));
  system.spawn<Asker>(system.spawn<Server>(server_allocates), &made).send<Next>();
  return made.wait_for(1).front();
}

class Discarding final : public telemetry::Exporter<telemetry::SpanRecord> {
 public:
  bool export_batch(std::span<const telemetry::SpanRecord>) override { return true; }
  void shut_down(std::chrono::milliseconds) override {}
};

std::unique_ptr<telemetry::Telemetry> recording(telemetry::TelemetryOptions options) {
  telemetry::Exporters exporters;
  exporters.spans = std::make_unique<Discarding>();
  return std::make_unique<telemetry::Telemetry>(std::move(options), std::move(exporters));
}

/// Counts what the thread that exports allocates, once it has exported some batches.
class Counting final : public telemetry::Exporter<telemetry::SpanRecord> {
 public:
  struct Counts {
    std::atomic<std::uint64_t> spans{0};
    std::atomic<std::uint64_t> allocations{0};
  };
  explicit Counting(Counts* counts) : counts_(counts) {}

  bool export_batch(std::span<const telemetry::SpanRecord> batch) override {
    if (++batches_ <= warm_up_rounds) {
      before_ = allocations();
    } else {
      counts_->spans += batch.size();
      counts_->allocations = allocations() - before_;
    }
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}

 private:
  Counts* counts_;
  int batches_ = 0;
  std::uint64_t before_ = 0;
};

class Allocations : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!telemetry::testing::counts_allocations) {
      GTEST_SKIP() << "a sanitizer has its own operator new";
    }
  }
};

TEST_F(Allocations, AreCounted) { EXPECT_EQ(allocations_of_asks(nullptr, true), 10'000u); }

TEST_F(Allocations, AreNotMadeWithoutTelemetry) {
  EXPECT_EQ(allocations_of_sends(nullptr), 0u);
  EXPECT_EQ(allocations_of_asks(nullptr), 0u);
}

TEST_F(Allocations, AreNotMadeForWhatIsNotSampled) {
  const auto unsampled = recording({.sampler = {.kind = telemetry::SamplerKind::always_off}});
  EXPECT_EQ(allocations_of_sends(unsampled.get()), 0u);
  EXPECT_EQ(allocations_of_asks(unsampled.get()), 0u);
}

// Its pools grow now and then, if the exporter falls behind; but nothing is made for each message.
TEST_F(Allocations, AreFewForMessagesThatAreRecorded) {
  Counting::Counts exported;
  telemetry::Exporters exporters;
  exporters.spans = std::make_unique<Counting>(&exported);
  telemetry::TelemetryOptions options;
  options.span_batches.queue_max = std::size_t{1} << 20;  // what is dropped would end the trace
  telemetry::Telemetry telemetry(options, std::move(exporters));
  EXPECT_LT(allocations_of_sends(&telemetry), 100u);
  EXPECT_TRUE(telemetry.flush(std::chrono::minutes(1)));
  EXPECT_GT(exported.spans, 1'000u);
  EXPECT_LT(exported.allocations, exported.spans / 20);
}

TEST_F(Allocations, AreNotMadeToMeasure) {
  telemetry::Telemetry measuring({.measures_always = true, .measured_one_in_max = 1}, {});
  EXPECT_EQ(allocations_of_sends(&measuring), 0u);
  EXPECT_EQ(allocations_of_asks(&measuring), 0u);
}

}  // namespace
}  // namespace weir
