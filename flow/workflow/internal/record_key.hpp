#pragma once

#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <weir/flow/workflow/journal.hpp>
#include <weir/flow/workflow/retention.hpp>
#include <weir/flow/workflow/suspension.hpp>

namespace weir::flow::workflow::internal {

/// By what a kind of record is found.
template <class K>
struct FoundBy {
  using Key = K;
};

/// What is known of a kind of record: its key, and the name of its key space, which is persisted.
template <class R>
struct RecordTraits;
template <>
struct RecordTraits<ExecutionSpec> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.execution_specs";
};
template <>
struct RecordTraits<Execution> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.executions";
};
template <>
struct RecordTraits<Attempt> : FoundBy<AttemptKey> {
  static constexpr const char* space = "workflow.attempts";
};
template <>
struct RecordTraits<ExecutionResult> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.results";
};
template <>
struct RecordTraits<Workflow> : FoundBy<WorkflowId> {
  static constexpr const char* space = "workflow.workflows";
};
template <>
struct RecordTraits<Staged> : FoundBy<StagedKey> {
  static constexpr const char* space = "workflow.staged";
};
template <>
struct RecordTraits<Edge> : FoundBy<EdgeId> {
  static constexpr const char* space = "workflow.edges";
};
template <>
struct RecordTraits<EdgeGroup> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.edge_groups";
};
template <>
struct RecordTraits<Links> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.links";
};
template <>
struct RecordTraits<Idempotency> : FoundBy<IdempotencyKey> {
  static constexpr const char* space = "workflow.idempotency";
};
template <>
struct RecordTraits<Lane> : FoundBy<std::string> {
  static constexpr const char* space = "workflow.lanes";
};
template <>
struct RecordTraits<Limit> : FoundBy<std::string> {
  static constexpr const char* space = "workflow.limits";
};
template <>
struct RecordTraits<Suspension> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.suspensions";
};
template <>
struct RecordTraits<Signal> : FoundBy<SignalKey> {
  static constexpr const char* space = "workflow.signals";
};
template <>
struct RecordTraits<SignalUse> : FoundBy<SignalUseKey> {
  static constexpr const char* space = "workflow.signal_uses";
};
template <>
struct RecordTraits<Mailbox> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.mailboxes";
};
template <>
struct RecordTraits<Keyring> : FoundBy<std::uint8_t> {
  static constexpr const char* space = "workflow.keyring";
};

template <>
struct RecordTraits<JournalHead> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.journals";
};
template <>
struct RecordTraits<JournalEntry> : FoundBy<JournalKey> {
  static constexpr const char* space = "workflow.journal_entries";
};

template <>
struct RecordTraits<Parent> : FoundBy<ExecutionId> {
  static constexpr const char* space = "workflow.parents";
};
template <>
struct RecordTraits<Ended> : FoundBy<EndedKey> {
  static constexpr const char* space = "workflow.ended";
};
template <>
struct RecordTraits<Remains> : FoundBy<RemainsKey> {
  static constexpr const char* space = "workflow.remains";
};
template <>
struct RecordTraits<NoticeCursors> : FoundBy<std::uint8_t> {
  static constexpr const char* space = "workflow.notice_cursors";
};

template <class R>
using KeyOf = typename RecordTraits<R>::Key;

struct KeyHash {
  std::size_t operator()(const AttemptKey& key) const noexcept {
    return std::hash<ExecutionId>()(key.execution) + key.number;
  }
  std::size_t operator()(const StagedKey& key) const noexcept {
    return std::hash<WorkflowId>()(key.workflow) + key.number;
  }
  std::size_t operator()(const SignalKey& key) const noexcept {
    return std::hash<ExecutionId>()(key.execution) + key.number;
  }
  std::size_t operator()(const SignalUseKey& key) const noexcept {
    const std::hash<std::string> hash;
    return std::hash<ExecutionId>()(key.execution) + hash(key.waitpoint) * 31 + hash(key.id);
  }
  std::size_t operator()(const IdempotencyKey& key) const noexcept {
    return std::hash<std::string>()(key.space) * 31 + std::hash<std::string>()(key.key);
  }
  std::size_t operator()(const JournalKey& key) const noexcept {
    return std::hash<ExecutionId>()(key.execution) + key.place;
  }
  std::size_t operator()(const EndedKey& key) const noexcept {
    return hash_of(key.uuid) + static_cast<std::size_t>(key.at.time_since_epoch().count());
  }
  std::size_t operator()(const RemainsKey& key) const noexcept { return hash_of(key.uuid); }
  template <class K>
  std::size_t operator()(const K& key) const noexcept {
    return std::hash<K>()(key);
  }
};

template <class T>
struct PerRecordPart {
  T part{};
};

template <class... Parts>
class PerRecordParts : PerRecordPart<Parts>... {
 public:
  /// Calls `function` with each.
  template <class Function>
  void each(Function&& function) {
    (function(static_cast<PerRecordPart<Parts>&>(*this).part), ...);
  }
  template <class Function>
  void each(Function&& function) const {
    (function(static_cast<const PerRecordPart<Parts>&>(*this).part), ...);
  }

 protected:
  template <class Part>
  Part& part() {
    return static_cast<PerRecordPart<Part>&>(*this).part;
  }
  template <class Part>
  const Part& part() const {
    return static_cast<const PerRecordPart<Part>&>(*this).part;
  }
};

/// One of something for each kind of record: `PerRecord<Table>` has a `Table<Execution>` and so on.
///
/// As a tuple would; that takes compilers several times as long.
template <template <class> class Of>
class PerRecord
    : public PerRecordParts<Of<ExecutionSpec>, Of<Execution>, Of<Attempt>, Of<ExecutionResult>,
                            Of<Workflow>, Of<Staged>, Of<Edge>, Of<EdgeGroup>, Of<Links>,
                            Of<Idempotency>, Of<Lane>, Of<Suspension>, Of<Signal>, Of<SignalUse>,
                            Of<Mailbox>, Of<Keyring>, Of<JournalHead>, Of<JournalEntry>, Of<Limit>,
                            Of<Parent>, Of<Ended>, Of<Remains>, Of<NoticeCursors>> {
 public:
  template <class R>
  Of<R>& of() {
    return this->template part<Of<R>>();
  }
  template <class R>
  const Of<R>& of() const {
    return this->template part<Of<R>>();
  }
};

}  // namespace weir::flow::workflow::internal
