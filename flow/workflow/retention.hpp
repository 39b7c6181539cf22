#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/workflow/id.hpp>
#include <weir/flow/workflow/policy.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

/// How long what has ended is kept. An engine applies it to everything that is in its store, also
/// to what ended before the engine was opened.
struct Retention {
  /// Executions without a workflow, and workflows with their executions, after their end. None: for
  /// ever.
  std::optional<Duration> keep = {};
  /// Of these namespaces instead.
  std::map<std::string, std::optional<Duration>> by_space = {};
  /// Notices that every cursor has passed. None: for ever.
  std::optional<Duration> keep_notices = {};
  /// At least so long between two looks: so late it may be that something is removed.
  Duration period = std::chrono::seconds(10);
  /// Executions that are removed in one go, and records of one execution.
  std::size_t removals_max = 256;

  std::optional<Duration> of(const std::string& space) const;
  bool is_on() const;
};

/// `invalid_argument`, with the name.
Result<> validate(const Retention& retention);

// What is stored, on every store. Persisted: fields are only added, at the end.

/// Whose work an execution is a part of. It is not removed before that one has ended, or has begun
/// a new journal.
struct Parent {
  ExecutionId execution = {};
  std::uint32_t journal = 0;  // the first place of the journal that knows of it

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.journal); }
  friend bool operator==(const Parent&, const Parent&) = default;
};

/// Something that has ended, by when it did: an execution without a workflow, or a workflow. What
/// runs again, and ends again, has an entry for each end.
struct EndedKey {
  std::string space = {};
  Time at = {};
  Partition partition = {};
  data::Uuid uuid = {};
  bool is_workflow = false;

  ExecutionId execution() const { return {partition, uuid}; }
  WorkflowId workflow() const { return {uuid}; }

  static auto weir_fields(auto& self) {
    return std::tie(self.space, self.at, self.partition, self.uuid, self.is_workflow);
  }
  friend bool operator==(const EndedKey&, const EndedKey&) = default;
  friend auto operator<=>(const EndedKey&, const EndedKey&) = default;
};
struct Ended {
  std::uint32_t postponed = 0;  // how often

  static auto weir_fields(auto& self) { return std::tie(self.postponed); }
};

/// What is left of something that was removed and had too much for one commit.
struct RemainsKey {
  Partition partition = {};
  data::Uuid uuid = {};
  bool is_workflow = false;

  static auto weir_fields(auto& self) {
    return std::tie(self.partition, self.uuid, self.is_workflow);
  }
  friend bool operator==(const RemainsKey&, const RemainsKey&) = default;
  friend auto operator<=>(const RemainsKey&, const RemainsKey&) = default;
};
struct Remains {
  std::uint32_t attempts = 0;  // from 0 on
  std::uint32_t journal_begin = 0;
  std::uint32_t journal_end = 0;
  std::uint32_t signals = 0;  // from 0 on
  std::vector<EdgeId> edges = {};

  bool is_empty() const noexcept {
    return attempts == 0 && journal_begin == journal_end && signals == 0 && edges.empty();
  }
  static auto weir_fields(auto& self) {
    return std::tie(self.attempts, self.journal_begin, self.journal_end, self.signals, self.edges);
  }
};

/// Who reads notices, and how far each has dealt with them.
struct NoticeCursors {
  std::map<std::string, std::uint64_t> passed = {};

  /// The last notice that all of them have passed; none if nobody has said.
  std::optional<std::uint64_t> lowest() const;
  static auto weir_fields(auto& self) { return std::tie(self.passed); }
};

inline constexpr std::size_t notice_cursors_max = 1'000;

}  // namespace weir::flow::workflow
