#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/flow_board.hpp>
#include <weir/flow/view/internal/piece_size.hpp>
#include <weir/flow/view/internal/pool.hpp>
#include <weir/flow/view/internal/progress.hpp>
#include <weir/flow/view/internal/readers.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/change_log.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/instrument.hpp>

namespace weir::flow::view::internal {

struct CoordinatorOptions {
  FlowOptions flow = {};
  std::size_t workers = 2;
  /// Rows of one source that a view takes at once while it is backfilling, at most.
  std::size_t backfill_rows = 131'072;
  /// While others follow changes, a step of that may take so much longer than two cycles of
  /// theirs, about; it is made smaller otherwise.
  Duration backfill_step = std::chrono::microseconds(100);
  storage::ReadLimits cycle = {};
  /// A flow that failed is tried again after this time, twice that the next time, and so on.
  Duration retry_backoff = std::chrono::milliseconds(100);
  unsigned failures_max = 5;
  /// How long cycles take, in seconds; not measured without telemetry.
  telemetry::Histogram* cycle_duration = nullptr;
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
/// Goes on where it stopped, leaving out the next version that fails if that is wanted.
struct ResumeFlow {
  using Reply = bool;
  std::uint64_t flow;
  bool skips;
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
  catching_up,
};

/// A phase that lasts longer is reported: the store does not answer. What workers do has a deadline
/// of its own.
inline constexpr Duration phase_limit = std::chrono::minutes(2);

/// Plans cycles: reads the log, routes changes to flows, has the pool run them, and commits what
/// they give, their state and its own position together. Only then is it true in memory.
///
///     log ──> changes by relation ──> tasks in order of dependency ──> pool ──> one commit
///
/// A view reads only what was there before it, so the order of ids is an order of dependency. All
/// live flows are at one position. A flow that is backfilling is too, but only with the rows that
/// it has taken so far (`Backfill`): between cycles it takes some more, as of that very position.
///
/// A flow that failed stays behind, and so does whoever reads its view: nobody reads them, the
/// others go on. When its time has come it takes what it has missed from the log (`LogCursor`), in
/// cycles of its own, until it is where the others are.
class Coordinator final
    : public Actor<Start, Wake, Tick, RetryFlow, RebuildFlow, ResumeFlow, Close>,
      public Phased<Coordinator, CoordinatorPhase> {
 public:
  using Phase = CoordinatorPhase;
  static constexpr PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle,
       .to = {Phase::registering_flows, Phase::submitting_batches, Phase::advancing_backfill,
              Phase::ticking, Phase::committing, Phase::catching_up}},
      {.phase = Phase::registering_flows,
       .to = {Phase::idle, Phase::submitting_batches},
       .limit = phase_limit},
      {.phase = Phase::submitting_batches,
       .to = {Phase::committing, Phase::idle},
       .limit = phase_limit},
      {.phase = Phase::advancing_backfill,
       .to = {Phase::submitting_batches, Phase::committing, Phase::idle},
       .limit = phase_limit},
      {.phase = Phase::ticking,
       .to = {Phase::submitting_batches, Phase::committing, Phase::idle},
       .limit = phase_limit},
      {.phase = Phase::committing, .to = {Phase::idle}, .limit = phase_limit},
      {.phase = Phase::catching_up,
       .to = {Phase::submitting_batches, Phase::committing, Phase::idle},
       .limit = phase_limit},
  };

  Coordinator(std::shared_ptr<const Catalog> catalog, std::shared_ptr<FlowBoard> board,
              std::shared_ptr<SequenceBarrier> gone, CoordinatorOptions options);

  Task<Result<bool>> on(Start);
  Task<> on(Wake);
  Task<> on(Tick);
  Task<> on(RetryFlow retry);
  Task<Result<bool>> on(RebuildFlow rebuild);
  Task<Result<bool>> on(ResumeFlow resume);
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
    /// The last commit that may have changed its view.
    storage::Version committed = {};
    ViewCounts counts = {};
    /// While it is backfilling.
    struct Filling {
      TimePoint began = {};
      std::uint64_t rows_before = 0;  // that had been taken then
      std::uint64_t rows_total = 0;   // zero if it is not known
      std::uint64_t pieces = 0;
      TimePoint next_estimate = {};
      std::string estimated_after = {};  // rows behind this one
      std::uint64_t rows_since = 0;      // that were taken
      PieceSize piece_size = {};
      /// Where it is in a table, as long as that stays as it is.
      struct Place {
        RelationRef table;
        storage::ReadTransaction reading;
        RowScan scan;
        TimePoint opened;
        std::string after;  // the last row that was taken
      };
      std::unique_ptr<Place> place = {};
    } filling = {};
    /// Whether it is where the others are, and runs with them; one that failed, or reads one that
    /// did, does not.
    bool is_running() const noexcept {
      return is_placed && !progress.is_wiping && !progress.behind &&
             (progress.phase == ViewPhase::live || progress.phase == ViewPhase::backfilling);
    }
  };

  /// What one cycle is made of, and what it changes beside views and state.
  struct Cycle {
    FailedWork work = FailedWork::changes;  // what a flow does in it
    std::vector<RelationChanges> changes = {};
    std::map<std::uint64_t, std::vector<FlowTask::Chunk>> chunks = {};
    storage::Version position = {};
    std::map<std::uint64_t, Progress> progress = {};   // when it is committed
    std::set<std::uint64_t> ticks = {};                // flows whose time has come
    std::map<std::uint64_t, std::uint64_t> rows = {};  // changed, of relations that no flow keeps
    std::map<std::uint64_t, bool> ready = {};  // transactional views: whether they may be seen
    std::map<std::uint64_t, Error> unreadable = {};  // relations whose changes are not known
    /// What flows that are behind take: versions after the first, up to and with the second.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> missed = {};

    /// Whether the flow stays behind before the cycle has begun.
    bool holds(std::uint64_t flow) const {
      const auto changed = progress.find(flow);
      return changed != progress.end() && changed->second.behind && !missed.contains(flow);
    }
  };

  /// Some records, for flows that are behind.
  struct Missed {
    LogCursor from;
    LogCursor to;
    std::pair<std::uint64_t, std::uint64_t> versions;  // as in `Cycle::missed`
    std::span<const storage::ChangeRecord> records;
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
  std::size_t freest_worker(const std::vector<std::size_t>& load) const;

  // Cycles.
  Task<Result<>> run_ticks();
  void arm_tick();
  Task<Result<bool>> advance_log(std::optional<storage::Version> until);
  Result<Cycle> collect(std::span<const storage::ChangeRecord> records) const;
  bool has_live_reader(const Cycle& cycle) const;
  void note_cycle_time(Duration took);
  bool needs_each_version(const Cycle& cycle) const;
  Task<Result<>> run_cycle(Cycle cycle);
  static Flow::Filling filling_of(const FlowEntry& flow, const Cycle& cycle);
  std::vector<std::vector<FlowTask>> plan_tasks(const Cycle& cycle) const;
  Task<Result<>> commit(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes);
  Task<Result<>> commit_progress(Cycle cycle);
  void put_progress(storage::Transaction& transaction, std::uint64_t id,
                    const Progress& progress) const;
  void set_ready(storage::Transaction& transaction, std::uint64_t id, bool is_ready) const;
  void take_progress(const std::map<std::uint64_t, Progress>& progress);

  // Failing.
  void note_outcomes(Cycle& cycle, std::vector<FlowOutcome>& outcomes);
  void fail(Cycle& cycle, std::uint64_t id, const Error& error);
  void fail_readers(Cycle& cycle, std::uint64_t relation, const Error& error);
  static std::string describe_input(const Cycle& cycle, std::uint64_t id, const Progress& failed);
  bool skip(Cycle& cycle, std::uint64_t id);
  void retry_later(std::uint64_t id, unsigned failures);
  Task<Result<>> try_again(std::uint64_t id);
  void note_answer(FlowEntry& flow, const Result<FlowTraits>& placed);
  Task<Result<>> fail_to_place(std::uint64_t id, const Error& error);
  Task<Result<>> quarantine(std::uint64_t id, std::string error);
  void hold_readers(Cycle& cycle, std::uint64_t id);
  LogCursor here() const;
  /// The flow that has to move before this one can; itself if that is none.
  std::uint64_t waits_for(std::uint64_t id) const;

  // Catching up.
  Task<Result<bool>> advance_behind();
  Task<Result<>> read_missed(LogCursor from, bool one_by_one, std::vector<std::uint64_t> flows,
                             Cycle* cycle);
  bool has_passed(LogCursor cursor, std::uint64_t version) const;
  bool has_caught_up(const FlowEntry& flow, LogCursor cursor) const;
  void take_missed(std::uint64_t id, const Missed& missed, Cycle& cycle);
  Result<std::vector<FlowTask::Chunk>> collect_missed(const FlowEntry& flow,
                                                      const Missed& missed) const;
  void settle(Progress& progress, const FlowDefinition& definition) const;

  // Backfill.
  Task<Result<bool>> advance_backfill();
  Task<Result<>> read_chunk(const storage::ReadTransaction& tables, std::uint64_t id,
                            std::size_t rows_max, Cycle* cycle);
  /// Rows that were just taken, behind one key and up to another.
  struct Piece {
    RelationRef relation;
    std::string after;
    std::string until;
    std::size_t rows;
  };
  Task<Result<data::ChangeBatch>> take_on(const storage::ReadTransaction& tables, std::uint64_t id,
                                          RelationRef table, std::size_t rows_max,
                                          Backfill* source);
  void leave_places(const Cycle& cycle);
  void size_pieces(Cycle& cycle, std::vector<FlowOutcome>& outcomes);
  bool shrink_pieces(const Cycle& cycle, std::uint64_t id, std::set<std::uint64_t>& again);
  void add_related(const std::vector<FlowOutcome>& outcomes, std::set<std::uint64_t>& flows) const;
  Task<Result<>> estimate(std::uint64_t id, Progress progress, Piece piece);
  bool is_busy() const;
  bool can_take_rows(std::uint64_t id) const;
  std::size_t share_step(std::vector<std::uint64_t>& filling);
  void adapt_step(Duration step);
  Task<Result<bool>> advance_others();
  void rest();
  void note_settled(std::uint64_t id);
  Task<Result<bool>> wipe_some(std::uint64_t id);
  Task<Result<>> begin_anew(std::uint64_t id);
  void add_anew(Cycle& cycle, std::uint64_t id) const;

  // Telling.
  static Span begin_consuming(std::span<const storage::ChangeRecord> records);
  std::vector<std::vector<FlowTask>> route(const Cycle& cycle) const;
  void count(const Cycle& cycle, const std::vector<FlowOutcome>& outcomes, Duration duration);
  static std::size_t backfill_rows(const Cycle& cycle, std::uint64_t id);
  void log_progress(std::uint64_t id, const Progress& progress) const;

  Task<> watch_log(storage::Version seen);
  void publish(std::uint64_t id);
  void describe_backfill(const FlowEntry& flow, ViewStatus& status) const;
  void publish_with_readers(std::uint64_t id);
  void publish_all();
  bool is_exact(std::uint64_t id) const;
  bool fails(const Result<>& result);
  bool reads_later();

  const Departure departure_;
  const std::shared_ptr<const Catalog> catalog_;
  const storage::Store* const store_;  // of the catalog
  std::shared_ptr<FlowBoard> board_;
  CoordinatorOptions options_;
  Pool::Ref pool_;

  storage::Version position_;         // everything up to here has been dealt with
  storage::Version checkpoint_;       // what of that is committed
  storage::Version catalog_version_;  // what was known at the start
  std::map<std::uint64_t, RelationRef> relations_;
  std::map<std::uint32_t, std::uint64_t> by_space_;
  std::map<std::uint64_t, FlowEntry> flows_;  // by the id of their view
  Readers readers_;
  std::set<std::uint64_t> ready_;          // transactional views that may be seen at `position_`
  std::set<std::size_t> late_workers_;     // that did not answer when they were given a flow
  std::set<std::uint64_t> unsettled_;      // flows that are not live where the others are
  std::size_t step_rows_;                  // to be taken at once while others follow changes
  std::uint64_t last_filled_ = 0;          // whose turn it was, if there are too many for one step
  Duration cycle_time_ = {};               // that one with such changes takes, about
  std::optional<TimePoint> last_changes_;  // when there were some that a live flow reads
  unsigned read_failures_ = 0;             // of the log, in a row
  TimePoint read_due_ = {};                // before that it is not read again
  TimePoint others_due_ = {};              // when those may move although there is live work
  TimePoint rested_at_ = {};               // when they may if there is none
  Timer rest_timer_;
  Timer tick_timer_;
  bool is_watching_ = false;
  bool is_closing_ = false;
  TaskScope tasks_;
};

}  // namespace weir::flow::view::internal
