#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/async_mutex.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::workflow::internal {

/// Why a coroutine is let go.
enum class Parting : std::uint8_t {
  none,
  finished,   // with its result
  failed,     // for good
  waits,      // until a time
  suspends,   // until a signal, or a time; its lease is gone already
  continued,  // with a new journal
  stopped,    // the worker has to go
  lost,       // somebody else has it, or nobody can
  changed,    // it does not do what it did
  asked,      // it has come to where it was, which is all that was wanted
};

/// What a run is for that undoes what an execution did: its journal is replayed, and then nothing
/// more is done but what undoes it.
struct Undoing {
  ExecutionId execution;  // that was ended
  Journal journal;        // of the execution that undoes it
};

/// What a run needs of the one who runs it.
struct RunOptions {
  /// What waits for longer is given back, and run again when it is time.
  Duration memory_wait_max = std::chrono::seconds(1);
  std::string lane = "default";
  std::int32_t priority = 0;      // of the execution
  std::string space = "default";  // of the execution and its children
  /// Only up to where it was: nothing is done or written.
  bool is_query = false;
  /// Called with true when it begins to wait in memory, and with false when it goes on.
  std::function<void(bool)> on_wait = {};
  std::optional<Undoing> undoing = {};
};

/// One run of a durable coroutine: replays its journal, then adds to it.
///
/// Confined to the actor that runs it.
class WorkflowRun {
 public:
  WorkflowRun(const Engine* engine, Handle handle, Journal journal, RunOptions options);
  WorkflowRun(const WorkflowRun&) = delete;
  WorkflowRun& operator=(const WorkflowRun&) = delete;

  const Engine& engine() const noexcept { return *engine_; }
  const Handle& handle() const noexcept { return handle_; }
  const RunOptions& options() const noexcept { return options_; }
  /// Whose coroutine it is.
  const ExecutionId& id() const noexcept {
    return options_.undoing ? options_.undoing->execution : handle_.execution;
  }

  // What the coroutine asks for.
  /// The number of what it asks for next.
  std::uint32_t ask() noexcept { return ++asked_; }
  /// What came of it when it was asked for before; none if it is new, and then it is to be done.
  /// Does not return if the code has changed, or the coroutine is to be let go.
  Task<const JournalEntry*> find(std::uint32_t number, JournalKind kind, std::string name);
  /// The same for what does not wait. Throws if the code has changed.
  const JournalEntry* find_now(std::uint32_t number, JournalKind kind, const std::string& name);
  /// Is in the journal with what is written next.
  void note(JournalEntry entry);
  /// Is in the journal when it returns; it does not return if it cannot be.
  Task<> write(JournalEntry entry);
  /// The same with what is committed together with it; `storage::Errc::conflict`.
  Task<Result<>> write_with(JournalEntry entry, std::shared_ptr<StepCommit> commit);
  /// Writes what was noted, and begins children.
  Task<> flush();
  /// The same, if there are any.
  Task<> flush_children();
  /// Lets the coroutine go: never returns.
  Task<> leave(Parting parting);
  Task<> leave_changed(std::string what);
  /// Until a time, in memory or not, also when it was awaited before and has not come yet.
  Task<> pause(Time until);
  /// In memory.
  Task<> doze(Duration duration);
  /// Which version of the code goes on.
  std::uint32_t version(const std::string& name, std::uint32_t oldest, std::uint32_t newest);
  /// With what is written next; its entry has been noted under this number.
  void begin_child(std::uint32_t number, NewExecution request) {
    children_.push_back({number, std::move(request)});
  }
  /// Is cancelled if the coroutine does not complete.
  void own_child(const ExecutionId& id) { own_children_.push_back(id); }
  /// Throws `cancelled` where what is undone was: it goes no further.
  void stop_if_undoing() const;
  ExecutionId child_id(std::uint32_t number, const std::string& lane) const;
  /// Whether there is more in the journal.
  bool is_replaying() const noexcept { return asked_ < recorded_.size(); }
  /// Tells this run from those before `continue_as_new`.
  std::uint32_t first_place() const noexcept { return journal_.head.begin; }
  /// The results of the first `needed` of them that completed, in their order; why there will not
  /// be so many.
  Task<Result<std::vector<std::string>>> decide(std::uint32_t needed,
                                                std::vector<ExecutionId> children,
                                                OnSatisfied on_satisfied);
  Task<PublicState> end_of(ExecutionId child);
  /// What is sent to a waitpoint; none if time has passed. The execution is given back until then.
  Task<std::optional<std::string>> signal(std::string waitpoint, std::optional<Duration> timeout);
  void add_compensation(std::function<Task<>()> undo) { undo_.push_back(std::move(undo)); }
  void add_query(std::string name, std::function<Result<std::string>(std::string)> query) {
    queries_.insert_or_assign(std::move(name), std::move(query));
  }
  void set_next_input(std::string input) { output_ = std::move(input); }
  Time now() const { return engine_->time(); }

  /// While it lives something is done that had better not be interrupted.
  class Busy {
   public:
    explicit Busy(WorkflowRun* run) noexcept : run_(run) { ++run_->busy_; }
    ~Busy() {
      if (--run_->busy_ == 0) run_->tell();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    WorkflowRun* run_;
  };

  /// While it lives the coroutine waits for something, in memory.
  class Dozing {
   public:
    explicit Dozing(WorkflowRun* run) : run_(run) {
      if (run_->dozing_++ == 0 && run_->options_.on_wait) run_->options_.on_wait(true);
    }
    ~Dozing() {
      if (--run_->dozing_ == 0 && run_->options_.on_wait) run_->options_.on_wait(false);
    }
    Dozing(const Dozing&) = delete;
    Dozing& operator=(const Dozing&) = delete;

   private:
    WorkflowRun* run_;
  };

  // For the one who runs it.
  using Function = std::function<Task<std::string>(WorkflowRun*, std::string)>;
  /// Runs the coroutine until it is let go. `before` is called while it can still be looked at, if
  /// it has come to where it was.
  Task<Parting> drive(const Function* function, std::string input,
                      std::function<void()> before = {});
  /// Lets it go as soon as nothing is being done.
  void drain();
  /// Lets it go at once.
  void give_up() { part(Parting::stopped); }
  void lose() { part(Parting::lost); }
  Result<std::string> query(const std::string& name, std::string argument) const;
  /// The result, or the input to go on with.
  const std::string& output() const noexcept { return output_; }
  const Error& error() const noexcept { return error_; }
  /// It failed where it asked the engine for something, and could undo nothing.
  bool is_refused() const noexcept { return is_refused_; }
  /// When it is to go on.
  Time wake_at() const noexcept { return *naps_.begin(); }
  /// What the coroutine begins with, if not with what its execution says.
  std::optional<std::string> input() const;

 private:
  /// One to be begun.
  struct NewChild {
    std::uint32_t number;
    NewExecution request;
  };

  Task<> follow(const Function* function, std::string input);
  Task<> undo();
  Task<> cancel_children();
  void index_undone();
  /// What is in the journal under this number; none if it is new.
  const JournalEntry* recorded(std::uint32_t number) const;
  void part(Parting parting);
  void tell() { changes_.publish(changes_.published() + 1); }
  /// Everything waits for a time that is far off.
  bool is_idle() const noexcept { return busy_ == 0 && dozing_ == 0 && !naps_.empty(); }
  std::string describe(std::uint32_t number, const JournalEntry& entry, JournalKind kind,
                       const std::string& name) const;
  void check_all_replayed();
  Task<Result<>> write_noted();
  Task<> refuse(Error error);

  const Engine* engine_;
  const Handle handle_;
  const Journal journal_;
  const RunOptions options_;

  std::vector<const JournalEntry*> recorded_;  // by number, from 1 on
  std::map<std::string, std::uint32_t> versions_;
  std::uint32_t asked_ = 0;
  std::uint32_t end_;  // of the journal
  std::vector<JournalEntry> noted_;
  std::vector<NewChild> children_;  // in the order of their entries in `noted_`
  AsyncMutex writing_;
  std::vector<ExecutionId> own_children_;
  std::vector<std::function<Task<>()>> undo_;
  bool is_undoing_ = false;
  bool has_failed_to_undo_ = false;
  bool is_refused_ = false;
  std::map<std::uint32_t, const JournalEntry*> undone_;  // of `undoing`, by number
  std::map<std::string, std::function<Result<std::string>(std::string)>> queries_;

  std::uint32_t busy_ = 0;
  std::uint32_t dozing_ = 0;
  std::multiset<Time> naps_;
  bool is_draining_ = false;
  Parting parting_ = Parting::none;
  std::string output_;
  Error error_;
  SequenceBarrier changes_;
};

}  // namespace weir::flow::workflow::internal
