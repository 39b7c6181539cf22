#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <weir/flow/workflow/listing.hpp>

namespace weir::flow::workflow::internal {

/// What an engine counts of itself, for anyone to read: one actor writes and publishes it, or many
/// add to it.
class EngineFigures {
 public:
  using Field = std::uint64_t EngineReport::*;

  void add(Field field, std::uint64_t count) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == field) published_[i].fetch_add(count, std::memory_order_relaxed);
    }
  }
  /// Of what is, and not of what has been done.
  void set(Field field, std::uint64_t value) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == field) published_[i].store(value, std::memory_order_relaxed);
    }
  }
  /// For the actor, which publishes what it has counted.
  EngineReport& own() noexcept { return own_; }
  void publish() {
    for (std::size_t i = 0; i < own_fields; ++i) {
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
                                        &EngineReport::dispatches_filtered,
                                        &EngineReport::executions_removed,
                                        &EngineReport::workflows_removed,
                                        &EngineReport::notices_removed,
                                        &EngineReport::removals_postponed,
                                        &EngineReport::removal_errors,
                                        &EngineReport::waiting,
                                        &EngineReport::delayed,
                                        &EngineReport::active,
                                        &EngineReport::suspended,
                                        &EngineReport::due,
                                        &EngineReport::workflows_audited,
                                        &EngineReport::workflows_drifted,
                                        &EngineReport::workflows_repaired,
                                        &EngineReport::audit_errors};
  /// The last ones are not the actor's: others add to them.
  static constexpr std::size_t own_fields = fields.size() - 4;

  EngineReport own_;
  std::array<std::atomic<std::uint64_t>, fields.size()> published_ = {};
};

}  // namespace weir::flow::workflow::internal
