// Traces of many messages that one handler sends, on threads.

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/span.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using telemetry::SpanRecord;
using testing::RecordedSpans;

constexpr int each = 300;

struct Start {};
struct Item {
  int number;
};

class Receiver final : public Actor<Item> {
 public:
  explicit Receiver(testing::Counter* handled) : handled_(handled) {}
  void on(Item item) {
    if (item.number % 7 == 0) set_attribute({"seven", true});
    handled_->add();
  }

 private:
  testing::Counter* handled_;
};

/// Sends from its own span, from a part of it, and from its own span again.
class Sender final : public Actor<Start> {
 public:
  Sender(RefOf<Receiver> receiver, testing::Counter* handled)
      : receiver_(std::move(receiver)), handled_(handled) {}
  void on(Start) {
    send_all();
    {
      const Span part = span("part");
      send_all();
    }
    send_all();
  }

 private:
  void send_all() {
    for (int i = 0; i < each; ++i) {
      if (!receiver_.send<Item>(i)) handled_->add();
    }
  }

  RefOf<Receiver> receiver_;
  testing::Counter* handled_;
};

telemetry::TelemetryOptions measuring(bool measures) {
  telemetry::TelemetryOptions options;
  options.measures_always = measures;
  return options;
}

/// But what comes from elsewhere.
telemetry::TelemetryOptions recording_none() {
  telemetry::TelemetryOptions options;
  options.sampler = {.kind = telemetry::SamplerKind::ratio, .ratio = 0};
  return options;
}

void run(const RecordedSpans& spans, unsigned threads, std::uint32_t capacity) {
  testing::Counter handled;
  ActorSystemOptions options;
  options.threads = threads;
  options.telemetry = spans.telemetry();
  options.on_dead_letter = [](const DeadLetter&) {};
  ActorSystem system(options);
  auto receiver = system.spawn<Receiver>({.mailbox_capacity = capacity}, &handled);
  system.spawn<Sender>(receiver, &handled).send<Start>();
  handled.wait_for(3 * each);
}

template <class Body>
void run_on_one_thread(const RecordedSpans& spans, Body body) {
  ActorSystemOptions options;
  options.threads = 1;
  options.telemetry = spans.telemetry();
  ActorSystem system(options);
  body(system);
}

double seconds_of(const SpanRecord& span, std::string_view name) {
  const telemetry::AttributeValue* value = RecordedSpans::attribute(span, name);
  return value ? std::get<double>(*value) : -1;
}

bool is_caused_by(const SpanRecord& span, const SpanRecord& cause) {
  return span.context.trace == cause.context.trace && span.parent == cause.context.span &&
         span.links.size() == 1 && span.links[0].context.span == cause.context.span &&
         span.links[0].context.trace == cause.context.trace;
}

void expect_whole(const SpanRecord& span) {
  EXPECT_LE(span.begin, span.end);
  EXPECT_DOUBLE_EQ(seconds_of(span, "weir.handle.seconds"),
                   static_cast<double>(span.end - span.begin) / 1e9);
  EXPECT_GE(seconds_of(span, "weir.mailbox.wait.seconds"), 0);
  EXPECT_LT(seconds_of(span, "weir.mailbox.wait.seconds"), testing::patience.count());
}

TEST(TracingBursts, EachMessageIsCausedByTheSpanThatSentIt) {
  for (const bool measures : {false, true}) {
    for (const unsigned threads : {1u, 2u}) {
      const RecordedSpans spans(measuring(measures));
      run(spans, threads, unbounded);
      const SpanRecord start = spans.one("Start");
      const SpanRecord part = spans.one("part");
      const std::vector<SpanRecord> items = spans.named("Item");
      ASSERT_EQ(items.size(), 3u * each);
      int of_part = 0;
      std::set<telemetry::SpanId> ids;
      for (const SpanRecord& item : items) {
        of_part += is_caused_by(item, part);
        EXPECT_TRUE(is_caused_by(item, part) || is_caused_by(item, start));
        ids.insert(item.context.span);
        expect_whole(item);
      }
      EXPECT_EQ(of_part, each);
      EXPECT_EQ(ids.size(), items.size());
    }
  }
}

struct Forward {};

/// Sends unrecorded messages first, then some in a span that came from elsewhere.
class Gateway final : public Actor<Forward> {
 public:
  explicit Gateway(RefOf<Receiver> receiver) : receiver_(std::move(receiver)) {}
  void on(Forward) {
    send_all();
    {
      const Span request = remote_span("request", context());
      send_all();
    }
    send_all();
  }
  static telemetry::TraceContext context() {
    telemetry::TraceContext context;
    context.trace.bytes.fill(1);
    context.span.bytes.fill(2);
    context.is_sampled = true;
    return context;
  }

 private:
  void send_all() {
    for (int i = 0; i < each; ++i) receiver_.send<Item>(i);
  }

  RefOf<Receiver> receiver_;
};

TEST(TracingBursts, ASpanInTheMiddleOfABurstHasTheMessagesThatAreSentInIt) {
  const RecordedSpans spans(recording_none());
  testing::Counter handled;
  run_on_one_thread(spans, [&](ActorSystem& system) {
    auto receiver = system.spawn<Receiver>({.mailbox_capacity = unbounded}, &handled);
    system.spawn<Gateway>(receiver).send<Forward>();
    handled.wait_for(3 * each);
  });
  const SpanRecord request = spans.one("request");
  const std::vector<SpanRecord> items = spans.named("Item");
  EXPECT_EQ(items.size(), std::size_t{each});
  for (const SpanRecord& item : items) EXPECT_TRUE(is_caused_by(item, request));
}

TEST(TracingBursts, OneHandlerBeginsWhenTheOneBeforeItHasEnded) {
  const RecordedSpans spans;
  run(spans, 1, unbounded);
  std::vector<SpanRecord> items = spans.named("Item");
  std::ranges::sort(items, {}, &SpanRecord::begin);
  for (std::size_t i = 1; i < items.size(); ++i) EXPECT_GE(items[i].begin, items[i - 1].end);
}

std::int64_t sent_at(const SpanRecord& span) {
  return span.begin - std::llround(seconds_of(span, "weir.mailbox.wait.seconds") * 1e9);
}

/// Does something else before it returns and what it has sent is published.
class Dawdler final : public Actor<Start> {
 public:
  explicit Dawdler(RefOf<Receiver> receiver) : receiver_(std::move(receiver)) {}
  void on(Start) {
    for (int i = 0; i < 10; ++i) receiver_.send<Item>(i);
    const Span late = span("late");
  }

 private:
  RefOf<Receiver> receiver_;
};

TEST(TracingBursts, AMessageWaitsFromWhenItsBurstIsPublished) {
  const RecordedSpans spans;
  testing::Counter handled;
  run_on_one_thread(spans, [&](ActorSystem& system) {
    auto receiver = system.spawn<Receiver>({.mailbox_capacity = unbounded}, &handled);
    system.spawn<Dawdler>(receiver).send<Start>();
    handled.wait_for(10);
  });
  const SpanRecord late = spans.one("late");
  const auto items = spans.named("Item");
  // The first two are sent alone: there is no burst yet.
  EXPECT_GE(
      std::ranges::count_if(items, [&](const auto& item) { return sent_at(item) >= late.end; }), 8);
}

/// What it is told is recorded, but for the second of three.
class Teller final : public Actor<Start> {
 public:
  explicit Teller(ActorRef<Item> listener) : listener_(std::move(listener)) {}
  void on(Start) {
    tell_recorded(0);
    listener_.send<Item>(1);
    tell_recorded(2);
  }

 private:
  void tell_recorded(int number) {
    const Span request = remote_span("request", Gateway::context());
    listener_.send<Item>(number);
  }

  ActorRef<Item> listener_;
};

class Listener final : public Actor<Item> {
 public:
  explicit Listener(testing::Counter* handled) : handled_(handled) {}
  void on(Item item) {
    if (item.number == 1) const Span inside = remote_span("inside", Gateway::context());
    handled_->add();
  }

 private:
  testing::Counter* handled_;
};

TEST(TracingBursts, AHandlerDoesNotBeginBeforeOneThatIsNotRecordedHasEnded) {
  const RecordedSpans spans(recording_none());
  testing::Counter handled;
  run_on_one_thread(spans, [&](ActorSystem& system) {
    system.spawn<Teller>(system.spawn<Listener>(&handled)).send<Start>();
    handled.wait_for(3);
  });
  std::vector<SpanRecord> items = spans.named("Item");
  ASSERT_EQ(items.size(), 2u);
  std::ranges::sort(items, {}, &SpanRecord::begin);
  EXPECT_GE(items[1].begin, spans.one("inside").end);
}

/// Makes another actor handle something before the last one is told.
class Detour final : public Actor<Item> {
 public:
  explicit Detour(ActorRef<Item> listener) : listener_(std::move(listener)) {}
  void on(Item) {
    const Span inside = remote_span("inside", Gateway::context());
    listener_.send<Item>(2);
  }

 private:
  ActorRef<Item> listener_;
};

class DetouringTeller final : public Actor<Start> {
 public:
  DetouringTeller(ActorRef<Item> listener, ActorRef<Item> detour)
      : listener_(std::move(listener)), detour_(std::move(detour)) {}
  void on(Start) {
    detour_.send<Item>(1);
    const Span request = remote_span("request", Gateway::context());
    listener_.send<Item>(0);
  }

 private:
  ActorRef<Item> listener_;
  ActorRef<Item> detour_;
};

TEST(TracingBursts, AHandlerDoesNotBeginBeforeItsMessageWasSent) {
  const RecordedSpans spans(recording_none());
  testing::Counter handled;
  run_on_one_thread(spans, [&](ActorSystem& system) {
    const auto listener = system.spawn<Listener>(&handled);
    const auto detour = system.spawn<Detour>(listener);
    system.spawn<DetouringTeller>(listener, detour).send<Start>();
    handled.wait_for(2);
  });
  std::vector<SpanRecord> items = spans.named("Item");
  ASSERT_EQ(items.size(), 2u);
  std::ranges::sort(items, {}, &SpanRecord::begin);
  EXPECT_GE(items[1].begin, spans.one("inside").begin);
}

TEST(TracingBursts, WhatFindsNoRoomLeavesNothingBehind) {
  const RecordedSpans spans;
  run(spans, 2, 10);  // the sanitizers would see it
  const SpanRecord start = spans.one("Start");
  const SpanRecord part = spans.one("part");
  for (const SpanRecord& item : spans.named("Item")) {
    EXPECT_TRUE(is_caused_by(item, part) || is_caused_by(item, start));
    expect_whole(item);
  }
}

}  // namespace
}  // namespace weir
