#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <weir/runtime/sequence_barrier.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Where those wait who want to claim and find nothing, one gate for each lane. Its number grows
/// whenever there may be something. Usable from any thread.
class Gates {
 public:
  using Gate = std::shared_ptr<SequenceBarrier>;

  /// Take its number before looking, and wait for a higher one after having found nothing.
  Gate of(const std::string& lane) {
    const std::scoped_lock hold(lock_);
    auto& known = gates_[lane];
    Gate gate = known.lock();
    if (!gate) {
      std::erase_if(
          gates_, [&](const auto& entry) { return entry.second.expired() && entry.first != lane; });
      gate = std::make_shared<SequenceBarrier>();
      gates_[lane] = gate;
      if (reason_) gate->close(*reason_);
    }
    return gate;
  }
  void wake(const std::string& lane) {
    const std::scoped_lock hold(lock_);
    if (const auto found = gates_.find(lane); found != gates_.end()) open(found->second.lock());
  }
  void wake_all() {
    const std::scoped_lock hold(lock_);
    for (const auto& [lane, gate] : gates_) open(gate.lock());
  }
  /// Turns away all who wait, and who will.
  void close(const Error& reason) {
    const std::scoped_lock hold(lock_);
    reason_ = reason;
    for (const auto& [lane, known] : gates_) {
      if (const Gate gate = known.lock()) gate->close(reason);
    }
  }

 private:
  static void open(const Gate& gate) {
    if (gate) gate->publish(gate->published() + 1);
  }

  std::mutex lock_;
  std::map<std::string, std::weak_ptr<SequenceBarrier>> gates_;
  std::optional<Error> reason_;
};

}  // namespace weir::flow::workflow::postgres::internal
