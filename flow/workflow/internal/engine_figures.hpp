#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <weir/flow/workflow/listing.hpp>

namespace weir::flow::workflow::internal {

/// What an engine counts of itself: one actor writes, anyone reads.
class EngineFigures {
 public:
  /// For the actor, which publishes what it has counted.
  EngineReport& own() noexcept { return own_; }
  void publish() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      published_[i].store(own_.*fields[i], std::memory_order_relaxed);
    }
  }
  EngineReport read() const {
    EngineReport report;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      report.*fields[i] = published_[i].load(std::memory_order_relaxed);
    }
    return report;
  }

 private:
  using Field = std::uint64_t EngineReport::*;
  static constexpr std::array fields = {&EngineReport::commands,
                                        &EngineReport::commits,
                                        &EngineReport::claims,
                                        &EngineReport::retries,
                                        &EngineReport::leases_expired,
                                        &EngineReport::signals,
                                        &EngineReport::groups_dispatched,
                                        &EngineReport::siblings_cancelled,
                                        &EngineReport::siblings_spared,
                                        &EngineReport::siblings_ended_before,
                                        &EngineReport::dispatch_errors,
                                        &EngineReport::waiting,
                                        &EngineReport::delayed,
                                        &EngineReport::active,
                                        &EngineReport::suspended,
                                        &EngineReport::due};

  EngineReport own_;
  std::array<std::atomic<std::uint64_t>, fields.size()> published_ = {};
};

}  // namespace weir::flow::workflow::internal
