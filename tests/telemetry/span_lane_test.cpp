#include <weir/telemetry/span_lane.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/telemetry/telemetry.hpp>

namespace weir::telemetry {
namespace {

using std::chrono::minutes;

bool push(SpanLane& lane, std::uint64_t number) {
  if (lane.needs_room()) lane.add_room(1);
  PlainSpan* place = lane.place();
  if (!place) return false;
  place->actor = number;
  lane.push();
  return true;
}

std::vector<std::uint64_t> take_all(SpanLane& lane) {
  std::vector<std::uint64_t> numbers;
  lane.take(lane.size(), [&](const PlainSpan& span) { numbers.push_back(span.actor); });
  return numbers;
}

TEST(SpanLane, GivesWhatItTookOldestFirst) {
  SpanLane lane;
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(push(lane, i));
  EXPECT_EQ(take_all(lane), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_TRUE(push(lane, 3));
  EXPECT_EQ(take_all(lane), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(lane.size(), 0u);
}

TEST(SpanLane, TellsWhereTheNextSpanWillBe) {
  SpanLane lane;
  lane.add_room(SpanLane::spans_max);
  for (std::size_t i = 0; i < 2 * SpanLane::spans_max; ++i) {
    if (lane.needs_room()) lane.add_room(1);
    EXPECT_EQ(lane.upcoming(), lane.place());
    lane.push();
    take_all(lane);
  }
}

TEST(SpanLane, RefusesWhatFindsTheRingFull) {
  SpanLane lane;
  for (std::uint64_t i = 0; i < SpanLane::spans_max; ++i) EXPECT_TRUE(push(lane, i));
  EXPECT_FALSE(push(lane, 0));
  EXPECT_EQ(take_all(lane).size(), SpanLane::spans_max);
  EXPECT_TRUE(push(lane, 7));
  EXPECT_EQ(take_all(lane), (std::vector<std::uint64_t>{7}));
}

TEST(SpanLane, LosesNothingBetweenTwoThreads) {
  constexpr std::uint64_t spans = 50'000;
  SpanLane lane;
  std::thread recorder([&] {
    for (std::uint64_t i = 0; i < spans; ++i) {
      while (!push(lane, i)) std::this_thread::yield();
    }
  });
  std::uint64_t next = 0;
  while (next < spans) {
    for (const std::uint64_t number : take_all(lane)) EXPECT_EQ(number, next++);
  }
  recorder.join();
}

// --- lanes of a telemetry

void write_number(const PlainSpan& span, SpanRecord& record, bool has_same_form) {
  record.name = std::to_string(span.actor) + (has_same_form ? " same" : " other");
}

class Names final : public Exporter<SpanRecord> {
 public:
  explicit Names(std::vector<std::string>* names) : names_(names) {}
  bool export_batch(std::span<const SpanRecord> batch) override {
    for (const SpanRecord& span : batch) names_->push_back(span.name);
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}

 private:
  std::vector<std::string>* names_;
};

class Named final : public PendingSpan {
 public:
  void move_to(SpanRecord& record) override { record.name = "pending"; }
};

/// Exports only when it is flushed.
class SpanLanes : public ::testing::Test {
 protected:
  // So large that what lanes take, in pieces, does not fill it and make it export.
  static constexpr std::size_t room = SpanLane::piece * 100;
  static constexpr std::size_t queue_max = room + 1;

  void submit(SpanLane& lane, std::uint64_t number, const void* type = nullptr) {
    PlainSpan* place = telemetry_.place_in(lane);
    ASSERT_NE(place, nullptr);
    place->form = {.write = &write_number, .actor_type = type};
    place->actor = number;
    lane.push();
  }
  // How many spans find room.
  std::size_t fill(SpanLane& lane) {
    std::size_t count = 0;
    while (telemetry_.place_in(lane)) {
      submit(lane, count);
      ++count;
    }
    return count;
  }
  void flush() { EXPECT_TRUE(telemetry_.flush(minutes(1))); }

  std::vector<std::string> names_;
  Telemetry telemetry_{
      {.span_batches = {.queue_max = queue_max, .batch_max = queue_max, .delay = minutes(10)}},
      exporters()};

 private:
  Exporters exporters() {
    Exporters made;
    made.spans = std::make_unique<Names>(&names_);
    return made;
  }
};

TEST_F(SpanLanes, ShareTheRoomOfTheQueue) {
  const auto lane = telemetry_.new_span_lane();
  const auto other = telemetry_.new_span_lane();
  submit(*other, 0);
  EXPECT_EQ(fill(*lane), room - SpanLane::piece);
  flush();
  EXPECT_EQ(names_.size(), room - SpanLane::piece + 1);
  EXPECT_EQ(telemetry_.span_counts().exported, names_.size());
  EXPECT_EQ(fill(*lane), room - SpanLane::piece);
}

TEST_F(SpanLanes, GiveTheirRoomBackWhenTheyAreClosed) {
  for (int i = 0; i < 3; ++i) {
    auto lane = telemetry_.new_span_lane();
    submit(*lane, 1);
    lane->close();
  }
  flush();
  flush();  // only once
  EXPECT_EQ(names_.size(), 3u);
  EXPECT_EQ(fill(*telemetry_.new_span_lane()), room);
}

TEST_F(SpanLanes, TellWhetherARecordWasThatOfASpanOfTheSameForm) {
  const int type = 0;
  const auto lane = telemetry_.new_span_lane();
  const auto submit_two = [&] {
    submit(*lane, 1);
    submit(*lane, 2, &type);
    flush();
  };
  submit_two();
  submit_two();
  telemetry_.submit(std::make_unique<Named>());
  flush();
  submit_two();
  EXPECT_EQ(names_, (std::vector<std::string>{"1 other", "2 other", "1 same", "2 same", "pending",
                                              "1 other", "2 same"}));
}

TEST(Telemetry, HasNoLanesWhereEachSpanCounts) {
  std::vector<std::string> names;
  Exporters exporters;
  exporters.spans = std::make_unique<Names>(&names);
  Telemetry narrow({.span_batches = {.queue_max = 100, .batch_max = 10}}, std::move(exporters));
  EXPECT_EQ(narrow.new_span_lane(), nullptr);
  Telemetry off({}, {});
  EXPECT_EQ(off.new_span_lane(), nullptr);
}

// What many lanes hold and do not use would look like spans that wait.
TEST(Telemetry, HasFewLanesWhereBatchesAreSmall) {
  std::vector<std::string> names;
  Exporters exporters;
  exporters.spans = std::make_unique<Names>(&names);
  Telemetry telemetry({.span_batches = {.queue_max = 4096, .batch_max = SpanLane::piece * 4}},
                      std::move(exporters));
  EXPECT_NE(telemetry.new_span_lane(), nullptr);
  EXPECT_NE(telemetry.new_span_lane(), nullptr);
  EXPECT_EQ(telemetry.new_span_lane(), nullptr);
}

}  // namespace
}  // namespace weir::telemetry
