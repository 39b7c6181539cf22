#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/flow/view/internal/flow_board.hpp>
#include <weir/flow/view/internal/flow_metrics.hpp>
#include <weir/flow/view/internal/transactional_flows.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

/// What the handles of one database share.
struct DatabaseCore {
  operators::Library library = {};
  std::size_t batch_bytes_max = 0;
  std::shared_ptr<const Catalog> catalog = {};
  storage::Store* store = nullptr;  // of the catalog
  std::shared_ptr<FlowBoard> board = {};
  std::shared_ptr<SequenceBarrier> gone = {};  // at 1 when the coordinator is
  Coordinator::Ref coordinator = {};
  std::shared_ptr<SequenceBarrier> flows_gone = {};  // at 1 when those of transactional views are
  TransactionalFlows::Ref flows = {};
  std::unique_ptr<FlowMetrics> metrics = {};  // null without telemetry
};

/// As `Database::relation`.
Task<Result<Relation>> open_relation(std::shared_ptr<const DatabaseCore> core, std::string name);
/// Drops what relations have left that were removed in a version, once the coordinator has seen
/// that: nothing writes there any more, and nothing makes it again.
Task<Result<>> sweep_removed(std::shared_ptr<DatabaseCore> core, std::vector<std::uint64_t> ids,
                             storage::Version version);
/// As `Database::fresh`.
Task<Result<storage::Version>> wait_until_fresh(std::shared_ptr<DatabaseCore> core, Relation view,
                                                storage::Version version);

}  // namespace weir::flow::view::internal
