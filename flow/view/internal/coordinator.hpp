#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/flow_board.hpp>
#include <weir/flow/view/internal/pool.hpp>
#include <weir/flow/view/internal/progress.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/change_log.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

struct CoordinatorOptions {
  FlowOptions flow = {};
  std::size_t workers = 2;
  /// Rows of one source that a view takes at once while it is backfilling.
  std::size_t backfill_rows = 2'048;
  storage::ReadLimits cycle = {};
  /// A flow that failed is tried again after this time, twice that the next time, and so on.
  Duration retry_backoff = std::chrono::milliseconds(100);
  unsigned failures_max = 5;
};

/// Finds the flows of the catalog and brings them up. Refused with why not.
struct Start {
  using Reply = bool;
};
/// There may be something to do.
struct Wake {};
/// Some flow's time has come.
struct Tick {};
struct RetryFlow {
  std::uint64_t flow;
};
/// Begins anew, whatever happened to it.
struct RebuildFlow {
  using Reply = bool;
  std::uint64_t flow;
};

/// Nothing more is begun.
struct Close {
  using Reply = bool;
};

enum class CoordinatorPhase {
  idle,
  registering_flows,
  submitting_batches,
  advancing_backfill,
  ticking,
  committing,
};

/// Plans cycles: reads the log, routes changes to flows, has the pool run them, and commits what
/// they give, their state and its own position together. Only then is it true in memory.
///
///     log ──> changes by relation ──> tasks in order of dependency ──> pool ──> one commit
///
/// A view reads only what was there before it, so the order of ids is an order of dependency. All
/// live flows are at one position. A flow that is backfilling is too, but only with the rows that
/// it has taken so far (`Backfill`): between cycles it takes some more, as of that very position.
class Coordinator final : public Actor<Start, Wake, Tick, RetryFlow, RebuildFlow, Close>,
                          public Phased<Coordinator, CoordinatorPhase> {
 public:
  using Phase = CoordinatorPhase;
  static constexpr PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle,
       .to = {Phase::registering_flows, Phase::submitting_batches, Phase::advancing_backfill,
              Phase::ticking, Phase::committing}},
      {.phase = Phase::registering_flows, .to = {Phase::idle, Phase::submitting_batches}},
      {.phase = Phase::submitting_batches, .to = {Phase::committing, Phase::idle}},
      {.phase = Phase::advancing_backfill,
       .to = {Phase::submitting_batches, Phase::committing, Phase::idle}},
      {.phase = Phase::ticking, .to = {Phase::submitting_batches, Phase::committing, Phase::idle}},
      {.phase = Phase::committing, .to = {Phase::idle}},
  };

  Coordinator(const storage::Store* store, std::shared_ptr<const Catalog> catalog,
              std::shared_ptr<FlowBoard> board, std::shared_ptr<SequenceBarrier> gone,
              CoordinatorOptions options);
  ~Coordinator() { gone_->publish(1); }

  Task<Result<bool>> on(Start);
  Task<> on(Wake);
  Task<> on(Tick);
  Task<> on(RetryFlow retry);
  Task<Result<bool>> on(RebuildFlow rebuild);
  Task<bool> on(Close);
  Task<> on_stop();

 private:
  using RelationRef = std::shared_ptr<const RelationInfo>;

  struct FlowEntry {
    FlowDefinitionRef definition;
    std::size_t worker = 0;
    Progress progress = {};
    /// Whether the worker has it.
    bool is_placed = false;
    FlowTraits traits = {};
    TimePoint next_tick = {};  // if it has a period
    /// Whether cycles run it; one that failed, or reads one that did, waits.
    bool is_running() const noexcept {
      return is_placed && !progress.is_wiping &&
             (progress.phase == ViewPhase::live || progress.phase == ViewPhase::backfilling);
    }
  };

  /// What one cycle is made of, and what it changes beside views and state.
  struct Cycle {
    std::vector<RelationChanges> changes = {};
    std::map<std::uint64_t, std::vector<FlowTask::Chunk>> chunks = {};
    storage::Version position = {};
    std::map<std::uint64_t, Progress> progress = {};  // when it is committed
    std::set<std::uint64_t> ticks = {};               // flows whose time has come
    std::map<std::uint64_t, bool> ready = {};  // transactional views: whether they may be seen
  };

  // Registering.
  Task<Result<>> load_catalog();
  Task<Result<>> begin_position();
  Task<Result<>> recover();
  Task<Result<>> apply_catalog(const storage::ChangeRecord& record);
  Task<Result<>> set_relation(std::uint64_t id, RelationEntry entry);
  void remove_relation(std::uint64_t id);
  Task<Result<>> add_flow(RelationRef view);
  bool is_lost(std::uint64_t id) const;
  bool is_followed_from_log(std::uint64_t id) const;
  void hide_readers(Cycle& cycle, std::uint64_t id) const;
  Result<> note_ready(Cycle& cycle, std::span<const storage::ChangeRecord> records) const;
  Task<Result<>> give_up(std::uint64_t id, std::string error);
  Task<Result<>> place(std::uint64_t id, bool is_new);
  Task<Result<>> choose_workers();

  // Cycles.
  Task<Result<>> run_ticks();
  void arm_tick();
  Task<Result<bool>> advance_log(std::optional<storage::Version> until);
  Result<Cycle> collect(std::span<const storage::ChangeRecord> records) const;
  bool needs_each_version(const Cycle& cycle) const;
  Task<Result<>> run_cycle(Cycle cycle);
  std::vector<std::vector<FlowTask>> plan_tasks(const Cycle& cycle) const;
  Task<Result<>> commit(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes);
  void note_failures(Cycle& cycle, const std::vector<FlowOutcome>& outcomes);
  void fail(Cycle& cycle, std::uint64_t id, const Error& error);
  Task<Result<>> quarantine(std::uint64_t id, std::string error);
  Task<Result<>> commit_progress(Cycle cycle);
  void hold_readers(Cycle& cycle, std::uint64_t id);
  void set_ready(storage::Transaction& transaction, std::uint64_t id, bool is_ready) const;
  void take_progress(const std::map<std::uint64_t, Progress>& progress);

  // Backfill.
  Task<Result<bool>> advance_backfill();
  Task<Result<>> read_chunk(const storage::ReadTransaction& tables, std::uint64_t id, Cycle* cycle);
  Task<Result<bool>> wipe_some(std::uint64_t id);
  Task<Result<>> begin_anew(std::uint64_t id);
  void add_anew(Cycle& cycle, std::uint64_t id) const;

  Task<> watch_log(storage::Version seen);
  void publish(std::uint64_t id);
  void publish_all();
  bool fails(const Result<>& result);

  const storage::Store* store_;
  std::shared_ptr<const Catalog> catalog_;
  std::shared_ptr<FlowBoard> board_;
  std::shared_ptr<SequenceBarrier> gone_;
  CoordinatorOptions options_;
  Pool::Ref pool_;

  storage::Version position_;         // everything up to here has been dealt with
  storage::Version checkpoint_;       // what of that is committed
  storage::Version catalog_version_;  // what was known at the start
  std::map<std::uint64_t, RelationRef> relations_;
  std::map<std::uint32_t, std::uint64_t> by_space_;
  std::map<std::uint64_t, FlowEntry> flows_;                  // by the id of their view
  std::map<std::uint64_t, std::set<std::uint64_t>> readers_;  // of a relation
  std::set<std::uint64_t> ready_;  // transactional views that may be seen at `position_`
  Timer tick_timer_;
  bool is_watching_ = false;
  bool is_closing_ = false;
  TaskScope tasks_;
};

}  // namespace weir::flow::view::internal
