#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/worker.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow::testing {

/// An engine with a worker, which is there again after a crash.
class WorkerTest : public EngineTest {
 protected:
  using Register = std::function<void(Worker&)>;

  void start(WorkerOptions options, Register on) {
    options_ = std::move(options);
    register_ = std::move(on);
    begin();
  }
  void start(Register on) { start({}, std::move(on)); }
  Worker& worker() { return *worker_; }

  /// Everything that was in memory is gone.
  void crash_all() {
    crash();
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
    crash();
    worker_.reset();
    register_ = std::move(on);
    begin();
  }
  void stop_worker() {
    ASSERT_TRUE(run(worker_->stop()));
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
