#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/internal/command.hpp>
#include <weir/flow/workflow/internal/working_set.hpp>
#include <weir/flow/workflow/request.hpp>
#include <weir/runtime/sequence_barrier.hpp>

namespace weir::flow::workflow::postgres::internal {

using workflow::internal::Command;
using workflow::internal::Draft;
using workflow::internal::Missing;
using workflow::internal::WorkingSet;

/// A partition, and the epoch of who owns it.
struct Owned {
  std::uint16_t partition = 0;
  std::int64_t epoch = 0;
};

/// Something that is done within a batch, however often that is tried.
class Job {
 public:
  explicit Job(std::uint64_t seed) noexcept : seed_(seed) {}
  virtual ~Job() = default;

  /// Forgets what an earlier attempt made of it.
  virtual void reset() = 0;
  /// Runs as far as it can without anything being kept, and notes what it will need.
  virtual void look(const WorkingSet& records, Time about_now, Missing& missing) = 0;
  /// Runs on what was read, and changes it. False if something is missing, which is noted.
  virtual bool run(WorkingSet& records, Time now, Missing& missing) = 0;
  /// Only for who owns this partition.
  virtual std::optional<Owned> owned() const { return std::nullopt; }

  /// It was not even tried, for this reason.
  void refuse(std::optional<Error> reason) { refusal_ = std::move(reason); }
  const std::optional<Error>& refusal() const noexcept { return refusal_; }

  /// Its outcome is decided; who waits for it goes on.
  void finish(Result<> outcome) {
    if (done_.published() > 0) return;
    outcome_ = std::move(outcome);
    done_.publish(1);
  }
  SequenceBarrier& done() noexcept { return done_; }
  const Result<>& outcome() const noexcept { return outcome_; }

 protected:
  const std::uint64_t seed_;

 private:
  std::optional<Error> refusal_;
  Result<> outcome_;
  SequenceBarrier done_;
};

using JobRef = std::shared_ptr<Job>;

/// A command.
class CommandJob final : public Job {
 public:
  CommandJob(std::uint64_t seed, std::shared_ptr<Command> command,
             std::optional<Owned> owned = std::nullopt)
      : Job(seed), command_(std::move(command)), owned_(owned) {}

  void reset() override {}
  void look(const WorkingSet& records, Time about_now, Missing& missing) override;
  bool run(WorkingSet& records, Time now, Missing& missing) override;
  std::optional<Owned> owned() const override { return owned_; }

 private:
  const std::shared_ptr<Command> command_;
  const std::optional<Owned> owned_;
};

/// A worker's wish to claim. Who can be claimed is found by the batch.
class ClaimJob final : public Job {
 public:
  ClaimJob(std::uint64_t seed, ClaimRequest request) : Job(seed), request_(std::move(request)) {}

  void reset() override {
    candidates_.clear();
    closed_keys_.clear();
    wait_.reset();
  }
  void look(const WorkingSet& records, Time about_now, Missing& missing) override;
  bool run(WorkingSet& records, Time now, Missing& missing) override;

  const ClaimRequest& request() const noexcept { return request_; }
  /// How many more it would take.
  std::size_t wanted() const;
  void offer(const ExecutionId& id) { candidates_.push_back({id}); }
  /// Those that it has yet to try.
  std::vector<ExecutionId> untried() const;
  /// What it would need to try one of them.
  Missing missing_for(const ExecutionId& id, const WorkingSet& records, Time now) const;
  /// What it has got, and why it got nothing if that was an error.
  Result<std::vector<Claimed>> take();
  /// After which time alone may let it have something; none if it does not depend on time.
  std::optional<Duration> wait() const noexcept { return wait_; }
  /// Limits that let nobody pass at the moment.
  const std::set<std::string>& closed_keys() const noexcept { return closed_keys_; }
  /// Whom nobody can claim, and why.
  std::vector<std::pair<ExecutionId, Error>> broken() const;

 private:
  struct Candidate {
    ExecutionId id;
    bool is_tried = false;
    std::optional<Claimed> claimed = {};
    std::optional<Error> refusal = {};
  };

  std::size_t claimed() const;
  void note_refusal(const WorkingSet& records, Time now, const ExecutionId& id);

  const ClaimRequest request_;
  std::vector<Candidate> candidates_;
  std::set<std::string> closed_keys_;
  std::optional<Duration> wait_;
};

}  // namespace weir::flow::workflow::postgres::internal
