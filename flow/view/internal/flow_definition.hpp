#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/plan.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::view::internal {

/// How flows are run; the same for all of a database.
struct FlowOptions {
  std::size_t state_memory_max = std::size_t{64} << 20;
  operators::RowErrorPolicy row_errors = operators::RowErrorPolicy::fail;
  operators::Library library = {};
  /// Of every flow, not only of those with operators that are not Weir's own.
  bool verifies_rows = false;
  std::size_t output_bytes_max = std::size_t{128} << 20;
  /// A flow that takes longer has failed.
  Duration cycle_deadline = std::chrono::minutes(1);
};

/// What keeps a view current: its query, and the relations that the query reads.
struct FlowDefinition {
  std::shared_ptr<const RelationInfo> view;
  operators::Plan plan;

  std::uint64_t id() const noexcept { return view->id; }
  const std::vector<SourceEntry>& sources() const noexcept { return view->entry.sources; }
};

using FlowDefinitionRef = std::shared_ptr<const FlowDefinition>;

/// `corruption` if the plan cannot be read.
Result<FlowDefinitionRef> make_definition(std::shared_ptr<const RelationInfo> view);

/// How far the rows of one source have been taken that were there before the view.
///
/// A row whose key is not greater than `until` is part of the flow; changes of others are not,
/// until they are taken themselves.
struct Backfill {
  bool is_done = false;
  std::string until = {};  // an encoded key; empty: none was taken yet

  static auto weir_fields(auto& self) { return std::tie(self.is_done, self.until); }
  bool covers(std::string_view key) const noexcept { return is_done || key <= until; }
  friend bool operator==(const Backfill&, const Backfill&) = default;
};

}  // namespace weir::flow::view::internal
