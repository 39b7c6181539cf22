// Durable coroutines whose executions others end: what they did is undone, once, in reverse order,
// and their children are cancelled, wherever it crashes.
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/tests/flow/workflow/support/durable_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::DurableTest;
using testing::Lines;

/// How a journey goes.
struct Journey {
  bool rains = false;  // it fails
  std::string where = {};
};

Task<std::string> travel(WorkflowContext ctx, Lines* effects, Journey journey) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  co_await ctx.step("fly", note, std::string("fly"));
  ctx.compensate("unfly", note, std::string("unfly"));
  co_await ctx.step("book", note, std::string("book"));
  ctx.compensate("unbook", note, std::string("unbook"));
  ctx.child<void>("guide", std::string(), {.lane = "guides"});
  ctx.child<void>("guide", std::string(),
                  {.lane = "guides", .on_parent_end = OnParentEnd::let_run});
  if (journey.rains) {
    co_await ctx.step("look", note, std::string("look"));
    throw std::runtime_error("rain");
  }
  const auto word = co_await ctx.signal<std::string>("go");
  co_await ctx.step("arrive", note, "arrive " + word);
  co_return word;
}

Task<std::string> marry(WorkflowContext ctx, Lines* effects) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  co_await ctx.step("promise", note, std::string("promise"));
  ctx.compensate("break the promise", note, std::string("break the promise"));
  co_await ctx.step("marry", note, std::string("marry"));
  ctx.compensate("divorce", []() -> Result<> { return Error(Errc::step_failed, "no way back"); });
  co_return co_await ctx.signal<std::string>("happy end");
}

class DurableCancelTest : public DurableTest {
 protected:
  void start_travelling() {
    start({.lease = 3s}, [this](Worker& worker) {
      worker.on("travel",
                [this](WorkflowContext ctx, Journey j) { return travel(ctx, &effects, j); });
      worker.on("plain", [](std::string) -> Result<std::string> {
        return Error(Errc::step_failed, "never mind");
      });
    });
  }
  NewExecution journey(Journey journey = {}) {
    return {.kind = "travel", .payload = to_payload(journey)};
  }
  void wait_until_it_waits(const ExecutionId& id) {
    wait_until("the traveller", [&] {
      const auto info = run(engine().describe(id));
      return info && *info && (*info)->state == PublicState::suspended;
    });
  }
  ExecutionId undo_of(const ExecutionId& id) {
    const auto undo = run(engine().undo_of(id)).value();
    EXPECT_TRUE(undo) << to_string(id);
    return undo.value_or(ExecutionId{});
  }
  void wait_until_undone(const ExecutionId& id) {
    const ExecutionId undo = undo_of(id);
    wait_until("the undoing", [&] { return describe(undo).execution.has_ended(); });
    EXPECT_EQ(describe(undo).state, PublicState::completed) << describe(undo).execution.end_reason;
  }
  /// Lets something be run that says that it undoes an execution.
  ExecutionId forge_undo(const ExecutionId& id) {
    const ExecutionId forged =
        create({.kind = "work", .payload = to_string(id), .not_before = time() + 5s});
    tamper<ExecutionSpec>(forged, [](ExecutionSpec& spec) { spec.kind = "weir.undo"; });
    leap(6s);
    wait_until("the forger", [&] { return describe(forged).execution.has_ended(); });
    return forged;
  }
  /// Of the guides, in the order of their ids, which says nothing.
  std::map<PublicState, int> guides() {
    std::map<PublicState, int> states;
    for (const ExecutionSummary& one :
         run(engine().list_executions({.lane = "guides"})).value().items) {
      ++states[one.state];
    }
    return states;
  }
  static std::map<PublicState, int> one_is_cancelled() {
    return {{PublicState::cancelled, 1}, {PublicState::waiting, 1}};
  }
};

TEST_F(DurableCancelTest, CancellingUndoesStepsInReverseOrderAndCancelsChildren) {
  start_travelling();
  const ExecutionId id = create(journey());
  wait_until_it_waits(id);
  ASSERT_EQ(run(engine().cancel(id, "no money")), true);
  EXPECT_EQ(state_of(id), PublicState::cancelled) << "at once";
  wait_until_undone(id);
  EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly"}));
  EXPECT_EQ(names(undo_of(id)), (Lines{"compensation unbook", "compensation unfly"}));
  EXPECT_EQ(guides(), one_is_cancelled());
  EXPECT_EQ(completions()[id], 1);
}

TEST_F(DurableCancelTest, WhatCannotBeUndoneIsTold) {
  start({.lease = 3s}, [this](Worker& worker) {
    worker.on("marry", [this](WorkflowContext ctx, std::string) { return marry(ctx, &effects); });
  });
  const ExecutionId id = create({.kind = "marry", .payload = to_payload(std::string())});
  wait_until_it_waits(id);
  ASSERT_EQ(run(engine().cancel(id, "second thoughts")), true);
  const ExecutionId undo = undo_of(id);
  wait_until("the undoing", [&] { return describe(undo).execution.has_ended(); });
  EXPECT_EQ(describe(undo).state, PublicState::failed);
  EXPECT_NE(describe(undo).execution.end_reason.find("no way back"), std::string::npos);
  EXPECT_EQ(effects, (Lines{"promise", "marry", "break the promise"})) << "the rest is undone";
}

TEST_F(DurableCancelTest, ADeadlineUndoesAsWell) {
  start_travelling();
  NewExecution request = journey();
  request.deadline = time() + 5s;
  const ExecutionId id = create(request);
  wait_until_it_waits(id);
  leap(6s);
  EXPECT_EQ(state_of(id), PublicState::expired);
  wait_until_undone(id);
  EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly"}));
  EXPECT_EQ(guides(), one_is_cancelled());
}

TEST_F(DurableCancelTest, CancellingAWorkflowUndoesWhatItsExecutionsDid) {
  start_travelling();
  const auto graph = run(engine().create_graph({.executions = {journey(), journey()}})).value();
  for (const ExecutionId& id : graph.executions) wait_until_it_waits(id);
  ASSERT_TRUE(run(engine().cancel(graph.workflow, CancelPolicy::cancel_all)));
  for (const ExecutionId& id : graph.executions) wait_until_undone(id);
  EXPECT_EQ(std::ranges::count(effects, "unfly"), 2);
  EXPECT_EQ(std::ranges::count(effects, "unbook"), 2);
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::cancelled);
}

TEST_F(DurableCancelTest, AFailureCancelsChildren) {
  start_travelling();
  const ExecutionId id = create(journey({.rains = true}));
  wait_until("the rain", [&] { return describe(id).execution.has_ended(); });
  EXPECT_EQ(state_of(id), PublicState::failed);
  EXPECT_EQ(effects, (Lines{"fly", "book", "look", "unbook", "unfly"}));
  EXPECT_EQ(run(engine().undo_of(id)).value(), std::nullopt) << "it has undone it itself";
  EXPECT_EQ(guides(), one_is_cancelled());
}

TEST_F(DurableCancelTest, WhatDidNothingIsNotUndone) {
  const ExecutionId waits = create(journey());
  ASSERT_EQ(run(engine().cancel(waits)), true);
  EXPECT_EQ(run(engine().undo_of(waits)).value(), std::nullopt);
  const ExecutionId plain = create({.kind = "plain"});
  const Handle handle = claim_one().handle;
  ASSERT_EQ(run(engine().cancel(plain)), true);
  EXPECT_EQ(run(engine().complete(handle)).error(), Errc::execution_not_active);
  EXPECT_EQ(run(engine().undo_of(plain)).value(), std::nullopt);
}

TEST_F(DurableCancelTest, OnlyItsOwnEndLetsAnExecutionBeUndone) {
  start_travelling();
  const ExecutionId id = create(journey());
  wait_until_it_waits(id);
  const ExecutionId early = forge_undo(id);
  EXPECT_EQ(state_of(early), PublicState::failed);
  EXPECT_NE(describe(early).execution.end_reason.find("is not what undoes " + to_string(id)),
            std::string::npos);
  EXPECT_EQ(state_of(id), PublicState::suspended);
  EXPECT_EQ(effects, (Lines{"fly", "book"}));
  EXPECT_EQ(guides(), (std::map<PublicState, int>{{PublicState::waiting, 2}}));
  ASSERT_EQ(run(engine().cancel(id)), true);
  wait_until_undone(id);
  EXPECT_EQ(state_of(forge_undo(id)), PublicState::failed) << "another one has done it";
  EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly"}));
}

TEST_F(DurableCancelTest, OneThatIsAtWorkIsUndoneWhenItsWorkerHasToKnow) {
  const ExecutionId id = create(journey());
  const Claimed claimed = claim({.worker = "w", .lease = 10s}).at(0);
  JournalEntry flown{.name = "fly", .number = 1};
  ASSERT_TRUE(run(engine().append_journal(claimed.handle, 0, {flown})));
  ASSERT_EQ(run(engine().cancel(id)), true);
  const ExecutionId undo = undo_of(id);
  EXPECT_EQ(state_of(undo), PublicState::delayed);
  EXPECT_EQ(describe(undo).execution.eligible_at, claimed.expires_at);
  start_travelling();
  leap(11s);
  wait_until_undone(id);
  EXPECT_EQ(effects, (Lines{"unfly"}));
}

TEST_F(DurableCancelTest, WhatUndoesCountsAgainstTheSameLimits) {
  ASSERT_TRUE(run(engine().set_limit("bank", 1)));
  NewExecution request = journey();
  request.limit_keys = {"bank"};
  const ExecutionId id = create(request);
  const Handle handle = claim_one().handle;
  JournalEntry flown{.name = "fly", .number = 1};
  ASSERT_TRUE(run(engine().append_journal(handle, 0, {flown})));
  ASSERT_TRUE(run(engine().cancel(handle)));
  const ExecutionId undo = undo_of(id);
  create({.kind = "plain", .priority = 1, .limit_keys = {"bank"}});
  const Handle other = claim_one().handle;
  EXPECT_TRUE(claim({.worker = "w"}).empty()) << "the bank is busy";
  ASSERT_TRUE(run(engine().complete(other)));
  EXPECT_EQ(claim_one().handle.execution, undo);
}

TEST_F(DurableCancelTest, OneThatItsWorkerCancelsIsUndoneAtOnce) {
  const ExecutionId id = create(journey());
  const Handle handle = claim({.worker = "w", .lease = 10s}).at(0).handle;
  JournalEntry flown{.name = "fly", .number = 1};
  ASSERT_TRUE(run(engine().append_journal(handle, 0, {flown})));
  Handle foreign = handle;
  ++foreign.store;
  EXPECT_EQ(run(engine().cancel(foreign)).error(), Errc::foreign_handle);
  ASSERT_TRUE(run(engine().cancel(handle, "no money")));
  EXPECT_EQ(describe(id).execution.end_reason, "no money");
  EXPECT_EQ(state_of(undo_of(id)), PublicState::waiting);
  start_travelling();
  wait_until_undone(id);
  EXPECT_EQ(effects, (Lines{"unfly"}));
}

TEST_F(DurableCancelTest, OneThatIsReplayedBeginsAnewWhenAllIsUndone) {
  start_travelling();
  const ExecutionId id = create(journey());
  wait_until_it_waits(id);
  stop_worker();
  ASSERT_EQ(run(engine().cancel(id)), true);
  EXPECT_EQ(run(engine().replay(id)).error(), Errc::wrong_state) << "it is being undone";
  start_travelling();
  wait_until_undone(id);
  ASSERT_TRUE(run(engine().replay(id)));
  wait_until_it_waits(id);
  ASSERT_TRUE(run(engine().approve({id, "go", to_payload(std::string("home"))})));
  wait_until("the arrival", [&] { return describe(id).execution.has_ended(); });
  EXPECT_EQ(result<std::string>(id), "home");
  EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly", "fly", "book", "arrive home"}));
}

TEST_F(DurableCancelTest, WhatIsToBeUndoneIsKept) {
  start_travelling();
  const ExecutionId id = create(journey());
  wait_until_it_waits(id);
  stop_worker();
  const EngineOptions forgetful{.retention = {.keep = 1s, .period = 1s}};
  reopen(forgetful);
  ASSERT_EQ(run(engine().cancel(id)), true);
  const ExecutionId undo = undo_of(id);
  pass(5s);
  EXPECT_EQ(state_of(id), PublicState::cancelled);
  start_travelling();
  wait_until("the undoing", [&] {
    const auto info = run(engine().describe(undo)).value();
    return !info || info->execution.has_ended();
  });
  EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly"}));
  stop_worker();
  pass(5s);
  EXPECT_EQ(run(engine().describe(id)).value().has_value(), false);
}

class DurableCancelCrashTest : public DurableCancelTest {
 protected:
  /// From the beginning to the end of all; false if it cannot be committed.
  bool play(const std::string& key) {
    NewExecution request = journey();
    request.idempotency_key = key;
    const auto made = run(engine().create_execution(request));
    if (!made) return false;
    id_ = made->id;
    wait_until("the traveller", [&] {
      const auto info = run(engine().describe(id_));
      return info && *info &&
             ((*info)->state == PublicState::suspended || (*info)->execution.has_ended());
    });
    if (has_failed() || !run(engine().cancel(id_))) return false;
    const ExecutionId undo = undo_of(id_);
    wait_until("the undoing", [&] {
      const auto info = run(engine().describe(undo));
      return info && *info && (*info)->execution.has_ended();
    });
    return !has_failed();
  }

  ExecutionId id_;
};

TEST_F(DurableCancelCrashTest, I21EverythingIsUndoneWhereverItCrashes) {
  bool is_through = false;
  for (std::uint64_t commit = 1; !is_through; ++commit) {
    ASSERT_LT(commit, 100U);
    SCOPED_TRACE("commit " + std::to_string(commit));
    effects.clear();
    start_travelling();
    const std::string key = "journey" + std::to_string(commit);
    fail_commit(commit);
    is_through = play(key);
    crash_after_failure();
    leap(4s);  // what was claimed can be again
    ASSERT_TRUE(play(key));
    EXPECT_EQ(state_of(id_), PublicState::cancelled);
    EXPECT_EQ(describe(undo_of(id_)).state, PublicState::completed);
    EXPECT_EQ(names(undo_of(id_)), (Lines{"compensation unbook", "compensation unfly"}));
    // What was not in the journal yet was done again.
    const auto repeated = std::ranges::unique(effects);
    EXPECT_LE(repeated.size(), 1U);
    effects.erase(repeated.begin(), repeated.end());
    EXPECT_EQ(effects, (Lines{"fly", "book", "unbook", "unfly"}));
    EXPECT_EQ(completions()[id_], 1);
    // One of the two is let run.
    EXPECT_EQ(guides(),
              (std::map<PublicState, int>{{PublicState::cancelled, static_cast<int>(commit)},
                                          {PublicState::waiting, static_cast<int>(commit)}}));
    stop_worker();
  }
}

}  // namespace
}  // namespace weir::flow::workflow
