#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/working_set.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/encoded.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::workflow::internal {

/// The records of workflows in a store, as state: what is not in the change log. Notices are rows,
/// so that they are.
///
/// Records are read and written as bytes, all kinds in the same way: what they mean the tables of a
/// working set know. One alone writes them, so nothing conflicts. The store outlives it.
class RecordStore {
 public:
  /// Those of a commit together, by the number of the last of them.
  using Notices = storage::RowSpace<std::uint64_t, std::vector<Notice>>;

  static Task<Result<RecordStore>> open(std::shared_ptr<storage::Store> store);

  /// Reads what is missing into `records`, and that there is none where there is none.
  Task<Result<>> read(std::unique_ptr<Missing> missing, WorkingSet* records) const;
  /// A transaction with all that has changed, and the notices, numbered from `first_notice` on.
  storage::Transaction write(const WorkingSet& records, std::uint64_t first_notice) const;

  /// Adds to somebody else's transaction the last entries of a journal.
  void write_journal(storage::Transaction& transaction, const ExecutionId& id,
                     const JournalHead& head, const std::vector<JournalEntry>& entries) const;

  /// Executions that have not ended.
  Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> live() const;
  /// Of those, workflows and groups that have something to cancel.
  Task<Result<std::vector<WorkflowId>>> cancelling_workflows() const;
  Task<Result<std::vector<ExecutionId>>> cancelling_groups() const;
  /// Executions, or those that have not ended, after one of them, in order.
  Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> executions(
      bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) const;
  /// Executions of a workflow after one of them, in order, as far as they have been written.
  Task<Result<std::vector<ExecutionId>>> members(WorkflowId workflow,
                                                 std::optional<ExecutionId> after,
                                                 std::size_t members_max) const;
  /// Workflows of a partition, likewise.
  Task<Result<std::vector<WorkflowId>>> workflows(Partition partition,
                                                  std::optional<WorkflowId> after,
                                                  std::size_t workflows_max) const;
  /// Whether everything that has ended has its entry.
  Task<Result<bool>> has_ended_entries() const;
  Task<Result<>> set_ended_entries(bool has_all) const;
  /// Of what has ended, the first entry after those of a namespace.
  Task<Result<std::optional<EndedKey>>> first_ended(std::optional<std::string> after) const;
  /// Of a namespace, in the order in which they ended.
  Task<Result<std::vector<EndedKey>>> ended(std::string space, std::size_t entries_max) const;

  /// The number of the next notice.
  Task<Result<std::uint64_t>> next_notice() const;
  /// Of the first that has not been removed.
  Task<Result<std::uint64_t>> first_notice() const;
  /// What removing notices came to.
  struct NoticesRemoved {
    std::uint64_t count = 0;
    std::optional<Time> next = {};  // when the newest of the next ones was told
  };
  /// Removes notices up to the number `last` that were told at `until` or before, in the order of
  /// their numbers; at most `commits_max` times those of one commit.
  Task<Result<NoticesRemoved>> remove_notices(std::uint64_t last, Time until,
                                              std::size_t commits_max) const;
  Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> notices(
      std::uint64_t from, std::size_t notices_max) const;

  storage::Store& store() const noexcept { return *store_; }
  /// Tells this store from all others, for ever.
  std::uint64_t identity() const noexcept { return identity_; }

 private:
  using Space = storage::EncodedState;
  using Scan = storage::Scan<storage::Encoded, storage::Encoded>;
  class Writer;

  explicit RecordStore(std::shared_ptr<storage::Store> store) noexcept : store_(std::move(store)) {}
  Task<Result<>> open_spaces();
  Task<Result<>> find_identity();
  Task<Result<>> read_kind(std::size_t kind, std::vector<std::string> keys,
                           WorkingSet* records) const;
  Task<Result<std::optional<std::string>>> get(const Space* space, std::string key) const;
  /// Keys from `from` on that begin with `prefix`, without `from` itself.
  Task<Result<std::vector<std::string>>> keys(const Space* space, std::string prefix,
                                              std::string from, std::size_t keys_max) const;
  void write_indexes(Writer& writer, const WorkingSet& records) const;
  void write_notices(storage::Transaction& transaction, const std::vector<Notice>& notices,
                     std::uint64_t first_notice) const;
  const Space& of(std::size_t kind) const { return *spaces_[kind]; }

  std::shared_ptr<storage::Store> store_;
  std::uint64_t identity_ = 0;
  std::array<std::optional<Space>, RecordKinds::size> spaces_;  // by kind
  std::optional<Notices> notices_;
  std::optional<storage::StateSpace<std::uint8_t, std::uint64_t>> counters_;
  std::optional<Space> live_;  // executions that have not ended
  // Indexes: only their keys matter.
  std::optional<Space> cancelling_workflows_;
  std::optional<Space> cancelling_groups_;
  std::optional<Space> members_;
  std::optional<Space> placed_;
};

}  // namespace weir::flow::workflow::internal
