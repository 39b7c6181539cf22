#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/tests/flow/workflow/support/linearizable.hpp>

namespace weir::flow::workflow::testing {

/// What clients have asked and been answered, execution by execution. Usable from any thread.
class History {
 public:
  /// Each is alone in a lane of its name, so that a claim is of this one or of none.
  void add(const std::string& lane, const ExecutionId& id) {
    const std::scoped_lock hold(lock_);
    executions_[lane].id = id;
  }
  ExecutionId id(const std::string& lane) const {
    const std::scoped_lock hold(lock_);
    return executions_.at(lane).id;
  }
  std::vector<std::string> lanes() const {
    std::vector<std::string> names;
    const std::scoped_lock hold(lock_);
    for (const auto& [lane, execution] : executions_) names.push_back(lane);
    return names;
  }
  std::vector<Call> calls(const std::string& lane) const {
    const std::scoped_lock hold(lock_);
    return executions_.at(lane).calls;
  }

  /// Gives the place of the call; none if there are enough.
  std::optional<std::size_t> begin(const std::string& lane, Call call, std::size_t calls_max) {
    const std::scoped_lock hold(lock_);
    auto& calls = executions_.at(lane).calls;
    if (calls.size() >= calls_max) return std::nullopt;
    call.begin = ++clock_;
    calls.push_back(call);
    return calls.size() - 1;
  }
  void end(const std::string& lane, std::size_t place, Call answer) {
    const std::scoped_lock hold(lock_);
    Call& call = executions_.at(lane).calls[place];
    answer.begin = call.begin;
    answer.end = ++clock_;
    call = answer;
  }
  void keep(const std::string& lane, const Handle& handle) {
    const std::scoped_lock hold(lock_);
    executions_.at(lane).handles.push_back(handle);
  }
  /// One that somebody got, most often the newest.
  std::optional<Handle> handle(const std::string& lane, std::uint64_t random) const {
    const std::scoped_lock hold(lock_);
    const auto& handles = executions_.at(lane).handles;
    if (handles.empty()) return std::nullopt;
    return random % 3 == 0 ? handles[random / 3 % handles.size()] : handles.back();
  }

 private:
  struct Known {
    ExecutionId id;
    std::vector<Call> calls;
    std::vector<Handle> handles;
  };

  mutable std::mutex lock_;
  std::map<std::string, Known> executions_;
  std::uint64_t clock_ = 0;
};

struct AskSome {
  using Reply = bool;
  int calls = 0;
};

/// Asks anything of any of the executions, with any handle that somebody got.
class Client final : public Actor<AskSome> {
 public:
  Client(const Engine* engine, History* history) : engine_(engine), history_(history) {}

  Task<Result<bool>> on(AskSome some) {
    for (int i = 0; i < some.calls; ++i) {
      if (!co_await ask_one()) co_return false;
    }
    co_return true;
  }

 private:
  static constexpr std::size_t calls_max = 48;

  Task<bool> ask_one() {
    const auto lanes = history_->lanes();
    const std::string lane = lanes[random() % lanes.size()];
    const Asked asked = choose();
    Call call{.asked = asked};
    Handle handle;
    if (asked == Asked::complete || asked == Asked::fail) {
      const auto known = history_->handle(lane, random());
      if (!known) co_return true;
      handle = *known;
      call.epoch = handle.epoch;
    }
    const auto place = history_->begin(lane, call, calls_max);
    if (!place) co_return true;
    const bool is_answered = co_await ask(lane, handle, &call);
    if (is_answered) history_->end(lane, *place, call);
    co_return is_answered;
  }
  Asked choose() {
    const std::uint64_t choice = random() % 20;
    if (choice < 7) return Asked::claim;
    if (choice < 9) return Asked::complete;
    if (choice < 14) return Asked::fail;
    if (choice < 17) return Asked::revoke;
    return choice < 19 ? Asked::describe : Asked::cancel;
  }

  /// False if there was no answer.
  Task<bool> ask(std::string lane, Handle handle, Call* call) {
    const ExecutionId id = history_->id(lane);
    switch (call->asked) {
      case Asked::claim: co_return co_await claim(lane, call);
      case Asked::complete: co_return note(co_await engine_->complete(handle, "x"), call);
      case Asked::fail: co_return note(co_await engine_->fail(handle, {"again"}), call);
      case Asked::revoke: co_return note(co_await engine_->revoke(id), call);
      case Asked::cancel: {
        auto cancelled = co_await engine_->cancel(id);
        if (cancelled) call->is_done = *cancelled;
        co_return cancelled.has_value();
      }
      case Asked::describe: co_return co_await describe(id, call);
    }
    co_return false;
  }
  Task<bool> claim(std::string lane, Call* call) {
    auto claimed =
        co_await engine_->claim({.worker = "w", .lane = lane, .lease = std::chrono::hours(1)});
    if (!claimed) co_return false;
    call->is_done = !claimed->empty();
    if (claimed->empty()) co_return true;
    call->epoch = claimed->front().handle.epoch;
    history_->keep(lane, claimed->front().handle);
    co_return true;
  }
  Task<bool> describe(ExecutionId id, Call* call) {
    auto info = co_await engine_->describe(id);
    if (!info || !*info) co_return false;
    call->is_done = (*info)->execution.has_ended();
    call->is_held = (*info)->execution.lease.has_value();
    call->epoch = (*info)->execution.epoch;
    co_return true;
  }
  template <class T>
  static bool note(const Result<T>& result, Call* call) {
    call->is_done = result.has_value();
    if (result) return true;
    const Error& error = result.error();
    return error == Errc::execution_not_active || error == Errc::lease_revoked ||
           error == Errc::lease_expired || error == Errc::stale_lease || error == Errc::wrong_state;
  }

  const Engine* engine_;
  History* history_;
};

}  // namespace weir::flow::workflow::testing
