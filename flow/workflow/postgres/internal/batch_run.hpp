#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weir/flow/workflow/postgres/internal/context.hpp>
#include <weir/flow/workflow/postgres/internal/encoding.hpp>
#include <weir/flow/workflow/postgres/internal/job.hpp>
#include <weir/storage/postgres/transaction.hpp>

namespace weir::flow::workflow::postgres::internal {

/// What a batch means for those who wait.
struct Effects {
  std::set<std::string> lanes;  // where there may be something to claim
  std::optional<Time> due;      // the first thing that time will do
  bool has_cancels = false;     // something is left to cancel
  bool has_limits = false;      // limits have changed, under which others may wait
  bool frees_limits = false;    // and they have more room: also for those of other engines
  std::vector<ExecutionId> ended;
  Time at = {};

  bool is_empty() const noexcept {
    return lanes.empty() && !due && !has_cancels && !has_limits && ended.empty();
  }
  /// In microseconds, which reach further than those nanoseconds that a sum of both would have.
  bool is_due_within(Duration time) const noexcept {
    return due && *due - at < std::chrono::ceil<Time::duration>(time);
  }
};

/// One try at a batch, in one transaction.
///
///     begin ─> time, ownership, what they will ask for, who can be claimed
///           ─> what was missing, as often as they come upon something new
///           ─> all that has changed, the notices, the news ─> commit
///
/// All rows are locked when they are read, so what a command saw is so when it is committed. What
/// was looked for and is not there cannot be locked: if somebody makes it meanwhile, inserting it
/// is a conflict, and the batch is tried again. Nothing is kept from one batch to the next, since
/// others write too.
class BatchRun {
 public:
  BatchRun(const Context* context, std::vector<JobRef> jobs, Time about_now);

  /// `contention`, `conflict` and `unavailable` of the client are for another try.
  Task<Result<>> run();
  /// After an error: returns when nothing is locked any more.
  Task<> release();

  /// After an error: it was to be committed, and whether it was is not known.
  bool is_undecided() const noexcept { return is_ending_; }
  /// Whether there was a connection for it.
  bool has_begun() const noexcept { return transaction_.has_value(); }
  /// After an error: an execution was set aside, without which it may go well.
  bool has_set_aside() const noexcept { return has_set_aside_; }
  /// Of its transaction; empty before it has one.
  const std::string& transaction_id() const noexcept { return transaction_id_; }
  Time now() const noexcept { return now_; }
  const Effects& effects() const noexcept { return effects_; }
  /// Adds what it did to the figures of the engine.
  void count() const;
  /// Sets aside those that nobody can claim, whoever tries.
  void note_broken() const;

 private:
  using Rows = storage::postgres::Rows;

  /// Statements of one round trip, with what is to be done with what each of them gives.
  struct Questions {
    storage::postgres::Batch statements;
    std::vector<std::function<Result<>(const Rows&)>> answers;

    void add(storage::postgres::Statement statement, std::function<Result<>(const Rows&)> answer) {
      statements.push_back(std::move(statement));
      answers.push_back(std::move(answer));
    }
  };
  /// Those who want to claim the same kind of work.
  struct Queue {
    std::vector<ClaimJob*> jobs;
    std::vector<storage::postgres::Bytes> seen;
    bool is_exhausted = false;
  };
  struct QueueKey {
    std::string lane;
    std::vector<std::string> capabilities;
    std::vector<std::string> spaces;

    friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
  };

  Task<Result<>> ask(Questions questions);
  void ask_time(Questions& questions);
  void ask_ownership(Questions& questions);
  void ask_records(Missing& missing, bool has_shared, Questions& questions);
  template <class R>
  Result<> keep_records(const std::vector<workflow::internal::KeyOf<R>>& keys, const Rows& rows);
  void ask_candidates(Questions& questions);
  Result<> offer_candidates(Queue& queue, std::size_t asked, const Rows& rows);

  /// What cannot be read of an execution is left out from then on.
  void set_aside(const storage::postgres::Row& row, const Error& reason);
  /// So are those that cannot be claimed without what cannot be read.
  template <class R>
  void set_aside_claimers(const workflow::internal::KeyOf<R>& key, const Error& reason);

  Task<Result<>> read_first();
  Task<Result<>> work();
  Task<Result<>> write();
  void drop_disowned();
  void find_effects();
  bool frees(const std::string& key, const std::optional<Limit>& after) const;
  void add_news(storage::postgres::Batch& statements) const;

  const Context* const context_;
  const std::vector<JobRef> jobs_;
  Time now_;
  std::optional<storage::postgres::Transaction> transaction_;
  std::string transaction_id_;
  bool is_ending_ = false;
  bool has_set_aside_ = false;

  WorkingSet records_;
  std::vector<Job*> open_;  // jobs that are not done
  std::map<QueueKey, Queue> queues_;
  std::set<std::string> full_lanes_;                        // as they were read
  std::map<std::string, Limit> limits_;                     // as they were read
  std::map<std::uint16_t, std::int64_t> owned_;             // epochs of partitions that are ours
  std::unordered_map<ExecutionId, std::uint32_t> retries_;  // as they were read
  Effects effects_;
};

}  // namespace weir::flow::workflow::postgres::internal
