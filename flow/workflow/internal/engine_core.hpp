#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/workflow/internal/engine_actor.hpp>
#include <weir/flow/workflow/internal/engine_metrics.hpp>
#include <weir/flow/workflow/internal/record_store.hpp>
#include <weir/runtime/sequence_barrier.hpp>

namespace weir::flow::workflow::internal {

/// What an engine and its actor share.
struct EngineCore {
  explicit EngineCore(RecordStore store) noexcept : records(std::move(store)) {}

  const RecordStore records;
  EngineRef actor = {};
  /// Batches that are as durable as the store says.
  SequenceBarrier committed;
  /// 1 when the actor has gone, with all that it held.
  const std::shared_ptr<SequenceBarrier> gone = std::make_shared<SequenceBarrier>();
  const std::shared_ptr<EngineFigures> figures = std::make_shared<EngineFigures>();
  /// Somebody wants to know of every change.
  std::atomic<bool> tells_changes = false;
  std::unique_ptr<EngineMetrics> metrics = {};  // null without telemetry
};

}  // namespace weir::flow::workflow::internal
