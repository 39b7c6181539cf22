#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow::testing {

/// Where handlers wait until a test lets them go on, whatever the clock says.
using Door = std::shared_ptr<SequenceBarrier>;
inline Door closed_door() { return std::make_shared<SequenceBarrier>(); }
inline Task<> wait_at(Door door) { static_cast<void>(co_await door->wait_until(1)); }

inline Task<> stop_one(Worker* worker, bool* is_stopped) {
  *is_stopped = (co_await worker->stop()).has_value();
}
inline Task<bool> stop_and_open(Worker* worker, Door door) {
  bool is_stopped = false;
  TaskScope scope;
  scope.spawn(stop_one(worker, &is_stopped));
  // It has heard of it when it answers what it was asked later.
  for (int i = 0; i < 3; ++i) static_cast<void>(co_await worker->report());
  door->publish(1);
  co_await scope.join();
  co_return is_stopped;
}

/// Nothing waits by a clock that tests do not turn: who waits for a time is given back.
inline WorkerOptions patient_options() {
  return {.lease = std::chrono::seconds(3),
          .memory_wait_max = Duration::zero(),
          .drain_max = std::chrono::milliseconds(1)};
}

/// An engine with a worker, which is there again after a crash.
class WorkerTest : public EngineTest {
 protected:
  using Register = std::function<void(Worker&)>;

  /// Handlers use members of the tests, which end before those of this class.
  void TearDown() override { worker_.reset(); }

  void start(WorkerOptions options, Register on) {
    options_ = std::move(options);
    register_ = std::move(on);
    begin();
  }
  void start(Register on) { start({}, std::move(on)); }
  Worker& worker() { return *worker_; }

  /// Everything that was in memory is gone.
  void crash_all() {
    vanish();
    worker_.reset();
    begin();
  }
  /// The same on any store. What the worker gives back when it goes has to fail: see `fail_commit`.
  void crash_after_failure() {
    worker_.reset();
    crash();
    begin();
  }
  /// Other code, in another process.
  void deploy(Register on) {
    vanish();
    worker_.reset();
    register_ = std::move(on);
    begin();
  }
  void stop_worker() {
    ASSERT_TRUE(run(worker_->stop()));
    worker_.reset();
  }
  /// The same for one that waits for what it has begun until `door` is opened.
  void stop_worker_and_open(const Door& door) {
    ASSERT_TRUE(run(stop_and_open(&*worker_, door)));
    worker_.reset();
  }

  ExecutionId begin_execution(std::string kind, std::string payload = {}) {
    return create({.kind = std::move(kind), .payload = std::move(payload)});
  }
  /// Runs it to its end.
  ExecutionInfo finish(const ExecutionId& id, Duration limit = std::chrono::minutes(1)) {
    const Time until = time() + std::chrono::floor<Time::duration>(limit);
    while (!describe(id).execution.has_ended() && time() < until) {
      pass_some();
    }
    return describe(id);
  }
  /// Until it has ended, sleeps or waits for a signal: as far as it comes without time.
  ExecutionInfo let_work(const ExecutionId& id) {
    wait_until("the worker", [&] {
      const ExecutionInfo info = describe(id);
      const bool sleeps = info.state == PublicState::delayed && info.execution.eligible_at > time();
      return sleeps || info.state == PublicState::suspended || info.execution.has_ended();
    });
    return describe(id);
  }
  /// Runs it to its end; time passes only while it sleeps.
  ExecutionInfo sleep_through(const ExecutionId& id) {
    ExecutionInfo info = let_work(id);
    while (info.state == PublicState::delayed) {
      leap(info.execution.eligible_at - time());
      info = let_work(id);
    }
    EXPECT_TRUE(info.execution.has_ended());
    return info;
  }
  void wait_for_state(const ExecutionId& id, PublicState state) {
    wait_until("a state", [&] { return state_of(id) == state; });
  }
  template <class T>
  T result(const ExecutionId& id) {
    const auto bytes = run(engine().result(id)).value();
    EXPECT_TRUE(bytes) << describe(id).execution.end_reason;
    return bytes ? from_payload<T>(*bytes).value() : T();
  }
  std::vector<std::string> names(const ExecutionId& id) {
    std::vector<std::string> found;
    for (const JournalEntry& entry : run(engine().journal(id)).value().entries) {
      found.push_back(std::string(to_string(entry.kind)) +
                      (entry.name.empty() ? "" : " " + entry.name) +
                      (entry.has_failed ? " failed" : ""));
    }
    return found;
  }
  WorkerReport report() { return run(worker_->report()).value(); }

 private:
  void begin() {
    worker_.emplace(&engine(), options_);
    register_(*worker_);
    worker_->start();
  }

  WorkerOptions options_;
  Register register_;
  std::optional<Worker> worker_;
};

}  // namespace weir::flow::workflow::testing
