#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>

#include <weir/flow/data/uuid.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

/// Into how many parts workflows and executions are divided. Persisted: part of every id.
inline constexpr std::uint16_t partitions_max = 256;

/// A part of all workflows, with their executions.
struct Partition {
  std::uint16_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.number); }
  friend bool operator==(const Partition&, const Partition&) = default;
  friend auto operator<=>(const Partition&, const Partition&) = default;
};

/// Names a workflow. Its partition follows from it.
struct WorkflowId {
  data::Uuid uuid = {};

  Partition partition() const noexcept;

  static auto weir_fields(auto& self) { return std::tie(self.uuid); }
  friend bool operator==(const WorkflowId&, const WorkflowId&) = default;
  friend auto operator<=>(const WorkflowId&, const WorkflowId&) = default;
};

/// Names an execution, and says where it is: with its workflow, or, if it has none, with its lane.
struct ExecutionId {
  Partition partition = {};
  data::Uuid uuid = {};

  static ExecutionId in_workflow(const WorkflowId& workflow, data::Uuid uuid) noexcept;
  static ExecutionId in_lane(std::string_view lane, data::Uuid uuid) noexcept;

  static auto weir_fields(auto& self) { return std::tie(self.partition, self.uuid); }
  friend bool operator==(const ExecutionId&, const ExecutionId&) = default;
  friend auto operator<=>(const ExecutionId&, const ExecutionId&) = default;
};

struct EdgeId {
  data::Uuid uuid = {};

  static auto weir_fields(auto& self) { return std::tie(self.uuid); }
  friend bool operator==(const EdgeId&, const EdgeId&) = default;
  friend auto operator<=>(const EdgeId&, const EdgeId&) = default;
};

/// `{fp:N}`.
std::string to_string(Partition partition);
std::string to_string(const WorkflowId& id);
/// `{fp:N}:123e4567-e89b-12d3-a456-426614174000`.
std::string to_string(const ExecutionId& id);
std::string to_string(const EdgeId& id);

// `invalid_argument` says what is wrong with the text, and has it.
Result<Partition> parse_partition(std::string_view text);
Result<WorkflowId> parse_workflow_id(std::string_view text);
Result<ExecutionId> parse_execution_id(std::string_view text);
Result<EdgeId> parse_edge_id(std::string_view text);

/// A uuid of version 7: of milliseconds since 1970 and random bits, in the order of time.
data::Uuid make_timed_uuid(std::uint64_t milliseconds, std::uint64_t high,
                           std::uint64_t low) noexcept;

}  // namespace weir::flow::workflow

namespace weir::flow::workflow::internal {

/// They are random enough: of the two halves, the second alone would do.
inline std::size_t hash_of(const data::Uuid& uuid) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, uuid.bytes.data(), sizeof halves);
  return halves[0] ^ (halves[1] * 0x9e3779b97f4a7c15U);
}

}  // namespace weir::flow::workflow::internal

template <>
struct std::hash<weir::flow::workflow::WorkflowId> {
  std::size_t operator()(const weir::flow::workflow::WorkflowId& id) const noexcept {
    return weir::flow::workflow::internal::hash_of(id.uuid);
  }
};
template <>
struct std::hash<weir::flow::workflow::ExecutionId> {
  std::size_t operator()(const weir::flow::workflow::ExecutionId& id) const noexcept {
    return weir::flow::workflow::internal::hash_of(id.uuid);
  }
};
template <>
struct std::hash<weir::flow::workflow::EdgeId> {
  std::size_t operator()(const weir::flow::workflow::EdgeId& id) const noexcept {
    return weir::flow::workflow::internal::hash_of(id.uuid);
  }
};
