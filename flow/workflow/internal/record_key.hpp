#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>

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

/// Kinds of records, in an order.
template <class... Rs>
struct KindList {
  static constexpr std::size_t size = sizeof...(Rs);

  /// The number of one of them.
  template <class R>
  static constexpr std::size_t index() {
    std::size_t number = 0;
    const bool is_in = ((std::is_same_v<R, Rs> || (++number, false)) || ...);
    return is_in ? number : throw "not a kind of record";
  }
  template <template <class> class Of>
  using Tuple = std::tuple<Of<Rs>...>;
  /// Calls `function` with a `std::type_identity` of each.
  template <class Function>
  static void each(Function&& function) {
    (function(std::type_identity<Rs>()), ...);
  }
};

using RecordKinds =
    KindList<ExecutionSpec, Execution, Attempt, Workflow, Staged, Edge, EdgeGroup, Links,
             Idempotency, Lane, Suspension, Signal, SignalUse, Mailbox, Keyring, JournalHead,
             JournalEntry, Limit, Parent, Ended, Remains, NoticeCursors>;

template <class R>
inline constexpr std::size_t kind_number = RecordKinds::index<R>();

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
  RecordKinds::Tuple<Of> all_;
};

}  // namespace weir::flow::workflow::internal
