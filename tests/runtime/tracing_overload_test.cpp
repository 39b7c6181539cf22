// What happens to a trace when the spans before it have not been exported yet.

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

/// Takes a first span and then no more until it is told to.
class Slow final : public telemetry::Exporter<telemetry::SpanRecord> {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool has_begun = false;
    bool goes_on = false;
    std::vector<std::string> names;
  };
  explicit Slow(State* state) : state_(state) {}

  bool export_batch(std::span<const telemetry::SpanRecord> batch) override {
    std::unique_lock hold(state_->mutex);
    state_->has_begun = true;
    state_->changed.notify_all();
    state_->changed.wait(hold, [this] { return state_->goes_on; });
    for (const auto& span : batch) state_->names.push_back(span.name);
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}

 private:
  State* state_;
};

struct Fill {};
struct Note {};
struct Cause {};
struct Part {};

class Listener final : public Actor<Fill, Note, Cause, Part> {
 public:
  void on(Fill) {}
  void on(Note) { was_recorded = current_trace().is_valid(); }
  void on(Cause) {
    was_recorded = current_trace().is_valid();
    send_to_self();
  }
  void on(Part) {
    {
      const Span first = span("takes the last room");
    }
    const Span second = span("finds none");
    was_recorded = second.is_recorded();
  }

  inline static bool was_recorded = false;

 private:
  void send_to_self() { self().send<Note>(); }
};

/// A simulation whose queue has room for one span, while another one is on its way.
class Overload : public ::testing::Test {
 protected:
  Overload()
      : telemetry_({.span_batches = {.queue_max = 1, .batch_max = 1}}, exporters()),
        simulation_(options()),
        listener_(simulation_.system().spawn<Listener>()) {
    send<Fill>();
    std::unique_lock hold(state_.mutex);
    state_.changed.wait(hold, [this] { return state_.has_begun; });
  }
  ~Overload() override { go_on(); }

  template <class M>
  void send() {
    listener_.send<M>();
    simulation_.run_until_idle();
  }
  std::uint64_t dropped() const { return telemetry_.span_counts().dropped; }
  std::vector<std::string> go_on() {
    {
      const std::scoped_lock hold(state_.mutex);
      state_.goes_on = true;
    }
    state_.changed.notify_all();
    EXPECT_TRUE(telemetry_.flush(1min));
    const std::scoped_lock hold(state_.mutex);
    return state_.names;
  }

 private:
  telemetry::Exporters exporters() {
    telemetry::Exporters made;
    made.spans = std::make_unique<Slow>(&state_);
    return made;
  }
  SimulationOptions options() {
    SimulationOptions made;
    made.system.telemetry = &telemetry_;
    return made;
  }

  Slow::State state_;
  telemetry::Telemetry telemetry_;
  Simulation simulation_;
  RefOf<Listener> listener_;
};

TEST_F(Overload, ASpanThatFindsNoRoomIsNotEvenMade) {
  send<Note>();
  EXPECT_TRUE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 0u);
  send<Note>();
  EXPECT_FALSE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 1u);
  EXPECT_EQ(go_on().size(), 2u);
}

TEST_F(Overload, WhatItCausesIsNotRecordedEither) {
  send<Note>();
  send<Cause>();
  EXPECT_FALSE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 1u);
  EXPECT_EQ(go_on().size(), 2u);
}

TEST_F(Overload, AMessageOfARecordedSpanIsDroppedAndLeavesNothingBehind) {
  send<Cause>();  // takes the last room when it ends, before its message is handled
  EXPECT_FALSE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 1u);
}

TEST_F(Overload, TracesGoOnWhenThereIsRoomAgain) {
  send<Note>();
  send<Note>();
  go_on();
  send<Note>();
  EXPECT_TRUE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 1u);
}

TEST_F(Overload, APartThatFindsNoRoomIsNotMadeEither) {
  send<Part>();
  EXPECT_FALSE(Listener::was_recorded);
  EXPECT_EQ(dropped(), 2u);  // and the handler, at its end
}

}  // namespace
}  // namespace weir
