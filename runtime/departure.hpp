#pragma once

#include <memory>
#include <utility>

#include <weir/runtime/sequence_barrier.hpp>

namespace weir {

/// The first member of an actor, and so the last to end: publishes 1 when all else that the actor
/// held has been given back. Who waits for that may take it away:
///
///     co_await departed->wait_until(1);
class Departure {
 public:
  explicit Departure(std::shared_ptr<SequenceBarrier> departed) noexcept
      : departed_(std::move(departed)) {}
  ~Departure() { departed_->publish(1); }
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

 private:
  std::shared_ptr<SequenceBarrier> departed_;
};

}  // namespace weir
