#pragma once

#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <weir/flow/workflow/records.hpp>

namespace weir::flow::workflow::internal {

/// By what a kind of record is found.
template <class R>
struct RecordKey {
  using type = ExecutionId;
};
template <>
struct RecordKey<Attempt> {
  using type = AttemptKey;
};
template <>
struct RecordKey<Workflow> {
  using type = WorkflowId;
};
template <>
struct RecordKey<Staged> {
  using type = StagedKey;
};
template <>
struct RecordKey<Edge> {
  using type = EdgeId;
};
template <>
struct RecordKey<Idempotency> {
  using type = IdempotencyKey;
};
template <>
struct RecordKey<Lane> {
  using type = std::string;
};
template <class R>
using KeyOf = typename RecordKey<R>::type;

struct KeyHash {
  std::size_t operator()(const AttemptKey& key) const noexcept {
    return std::hash<ExecutionId>()(key.execution) + key.number;
  }
  std::size_t operator()(const StagedKey& key) const noexcept {
    return std::hash<WorkflowId>()(key.workflow) + key.number;
  }
  std::size_t operator()(const IdempotencyKey& key) const noexcept {
    return std::hash<std::string>()(key.space) * 31 + std::hash<std::string>()(key.key);
  }
  template <class K>
  std::size_t operator()(const K& key) const noexcept {
    return std::hash<K>()(key);
  }
};

/// One of something for each kind of record: `PerRecord<Table>` has a `Table<Execution>` and so on.
template <template <class> class Of>
class PerRecord {
 public:
  template <class R>
  Of<R>& of() {
    return std::get<Of<R>>(all_);
  }
  template <class R>
  const Of<R>& of() const {
    return std::get<Of<R>>(all_);
  }
  /// Calls `function` with each.
  template <class Function>
  void each(Function&& function) {
    std::apply([&](auto&... of) { (function(of), ...); }, all_);
  }
  template <class Function>
  void each(Function&& function) const {
    std::apply([&](const auto&... of) { (function(of), ...); }, all_);
  }

 private:
  std::tuple<Of<ExecutionSpec>, Of<Execution>, Of<Attempt>, Of<ExecutionResult>, Of<Workflow>,
             Of<Staged>, Of<Edge>, Of<EdgeGroup>, Of<Links>, Of<Idempotency>, Of<Lane>>
      all_;
};

}  // namespace weir::flow::workflow::internal
