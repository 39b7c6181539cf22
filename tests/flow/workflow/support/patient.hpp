#pragma once

#include <utility>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/sequence_barrier.hpp>

namespace weir::flow::workflow::testing {

struct Take {};
struct IsTaken {
  using Reply = bool;
};
/// Answered when there is something.
struct Taken {
  using Reply = Claimed;
};

/// A worker that waits for something to do.
class Patient final : public Actor<Take, IsTaken, Taken> {
 public:
  static constexpr bool interleaves = true;

  explicit Patient(const Engine* engine) : engine_(engine) {}

  Task<> on(Take) {
    auto claimed = co_await engine_->next({.worker = "patient"});
    if (!claimed) co_return;
    taken_ = std::move(claimed->at(0));
    has_taken_.publish(1);
  }
  bool on(IsTaken) const { return has_taken_.published() > 0; }
  Task<Result<Claimed>> on(Taken) {
    if (auto taken = co_await has_taken_.wait_until(1); !taken) co_return taken.error();
    co_return taken_;
  }

 private:
  const Engine* engine_;
  Claimed taken_;
  SequenceBarrier has_taken_;
};

template <class Message, class Ref>
Task<Result<typename Message::Reply>> ask(Ref actor) {
  co_return co_await actor.template ask<Message>();
}

}  // namespace weir::flow::workflow::testing
