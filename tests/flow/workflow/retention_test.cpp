#include <weir/flow/workflow/retention.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// What has ended is removed when it was kept for long enough, whole, and nothing else.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class RetentionTest : public testing::EngineTest {
 protected:
  void keep_for(Duration keep, std::size_t removals_max = 256) {
    reopen({.retention = {.keep = keep, .period = 1s, .removals_max = removals_max}});
  }
  bool is_there(const ExecutionId& id) { return run(engine().describe(id)).value().has_value(); }
  bool is_there(const WorkflowId& id) { return run(engine().describe(id)).value().has_value(); }
  void complete_all() {
    for (;;) {
      auto claimed = claim({.worker = "w", .executions_max = 100});
      if (claimed.empty()) return;
      for (const Claimed& one : claimed) ASSERT_TRUE(run(engine().complete(one.handle, "done")));
    }
  }
  CreatedGraph make_chain(std::size_t executions, const std::string& space = "default") {
    NewGraph graph{.workflow = {.space = space},
                   .executions = std::vector<NewExecution>(executions, {.kind = "w"})};
    for (std::size_t i = 0; i + 1 < executions; ++i) graph.edges.push_back({i, i + 1, "before"});
    return run(engine().create_graph(graph)).value();
  }
  /// One that has some of everything that belongs to an execution.
  ExecutionId make_rich(std::uint32_t entries) {
    const ExecutionId id = create({.kind = "rich",
                                   .idempotency_key = "rich",
                                   .retry = {.retries_max = 100, .backoff = Duration::zero()},
                                   .tags = {{"team.name", "b"}}});
    for (std::uint32_t i = 0; i < entries; ++i) {
      EXPECT_TRUE(run(engine().fail(claim_one().handle, {"again"})));
      EXPECT_TRUE(
          run(engine().approve({.execution = id, .waitpoint = "x", .id = std::to_string(i)})));
    }
    const Handle handle = claim_one().handle;
    for (std::uint32_t i = 0; i < entries; ++i) {
      EXPECT_TRUE(run(engine().append_journal(handle, i, {{.name = "step"}})));
    }
    EXPECT_TRUE(run(engine().complete(handle, "done")));
    return id;
  }
  EngineReport report() { return run(engine().report()).value(); }
};

TEST_F(RetentionTest, NothingIsRemovedUnlessItIsAskedFor) {
  const ExecutionId id = create();
  complete_all();
  pass(100s);
  EXPECT_TRUE(is_there(id));
}

TEST_F(RetentionTest, OptionsThatMakeNoSenseAreRefusedByName) {
  const auto refuses = [](const Retention& retention, const std::string& name) {
    const auto valid = validate(retention);
    return !valid && valid.error() == Errc::invalid_argument &&
           valid.error().message().find(name) != std::string::npos;
  };
  EXPECT_TRUE(refuses({.keep = 0s}, "keep"));
  EXPECT_TRUE(refuses({.by_space = {{"audit", -1s}}}, "audit"));
  EXPECT_TRUE(refuses({.keep_notices = 0s}, "keep_notices"));
  EXPECT_TRUE(refuses({.period = 0s}, "period"));
  EXPECT_TRUE(refuses({.removals_max = 0}, "removals_max"));
  EXPECT_TRUE(validate(Retention{}));
}

TEST_F(RetentionTest, AnExecutionGoesAfterItsTimeWithAllThatBelongsToIt) {
  keep_for(5s);
  const ExecutionId early = make_rich(2);
  const ExecutionId waiting = create({.kind = "later", .lane = "other"});
  pass(3s);
  const ExecutionId late = create();
  complete_all();
  EXPECT_TRUE(is_there(early));
  pass(4s);
  EXPECT_FALSE(is_there(early));
  EXPECT_EQ(run(engine().result(early)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().attempts(early)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().journal(early)).error(), Errc::not_found);
  EXPECT_EQ(run(engine().replay(early)).error(), Errc::not_found);
  EXPECT_TRUE(is_there(late));
  EXPECT_TRUE(is_there(waiting));
  EXPECT_EQ(report().executions_removed, 1U);
  // Its key is free again, also for something else.
  const auto again = run(engine().create_execution({.kind = "other", .idempotency_key = "rich"}));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_duplicate);
  pass(4s);
  EXPECT_FALSE(is_there(late));
  EXPECT_TRUE(is_there(waiting));
  EXPECT_TRUE(run(engine().cancel(waiting)).value());
  EXPECT_TRUE(run(engine().cancel(again->id)).value());
  pass(8s);
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
  EXPECT_EQ(report().executions_removed, 4U);
  EXPECT_EQ(report().removal_errors, 0U);
}

TEST_F(RetentionTest, WhatEndedBeforeTheEngineWasOpenedIsRemovedToo) {
  const ExecutionId id = make_rich(1);
  pass(20s);
  EXPECT_TRUE(is_there(id));
  keep_for(5s);
  pass(2s);
  EXPECT_FALSE(is_there(id));
}

TEST_F(RetentionTest, WhatEndedWhileNothingWasRemovedIsRemovedLater) {
  keep_for(5s);
  const ExecutionId first = make_rich(1);
  reopen({});
  const ExecutionId id = create({.kind = "w"});
  const CreatedGraph graph = make_chain(3);
  complete_all();
  pass(20s);
  EXPECT_TRUE(is_there(id));
  EXPECT_TRUE(is_there(graph.workflow));
  keep_for(5s, 2);
  pass(4s);
  EXPECT_FALSE(is_there(first));
  EXPECT_FALSE(is_there(id));
  EXPECT_FALSE(is_there(graph.workflow));
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
}

TEST_F(RetentionTest, NamespacesMayHaveTheirOwnTimes) {
  // [retention]
  EngineOptions options;
  options.retention = {.keep = 5s,
                       .by_space = {{"short", 1s}, {"long", 60s}, {"for ever", std::nullopt}},
                       .period = 1s};
  // [/retention]
  reopen(options);
  std::map<std::string, ExecutionId> ids;
  for (const std::string space : {"short", "default", "long", "for ever"}) {
    ids[space] = create({.kind = "w", .space = space});
  }
  complete_all();
  const auto left = [&] {
    std::string names;
    for (const auto& [space, id] : ids) names += is_there(id) ? space + " " : "";
    return names;
  };
  pass(3s);
  EXPECT_EQ(left(), "default for ever long ");
  pass(4s);
  EXPECT_EQ(left(), "for ever long ");
  pass(60s);
  EXPECT_EQ(left(), "for ever ");
}

TEST_F(RetentionTest, AWorkflowGoesWithItsExecutionsAndTheyNotBeforeIt) {
  keep_for(5s, 2);
  const CreatedGraph graph = make_chain(5);
  ASSERT_TRUE(run(engine().complete(claim_one().handle, "first")));
  pass(20s);
  EXPECT_TRUE(is_there(graph.executions[0]));
  complete_all();
  EXPECT_EQ(describe(graph.workflow).state, WorkflowState::completed);
  pass(3s);
  EXPECT_TRUE(is_there(graph.workflow));
  pass(4s);
  EXPECT_FALSE(is_there(graph.workflow));
  for (const ExecutionId& id : graph.executions) EXPECT_FALSE(is_there(id));
  EXPECT_TRUE(run(engine().list_workflows()).value().items.empty());
  EXPECT_EQ(run(engine().members(graph.workflow)).error(), Errc::not_found);
  EXPECT_TRUE(run(engine().list_executions({})).value().items.empty());
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
  EXPECT_EQ(report().workflows_removed, 1U);
  EXPECT_EQ(report().executions_removed, 5U);
}

TEST_F(RetentionTest, OneThatWasReplayedIsKeptFromItsNewEndOn) {
  keep_for(5s);
  const ExecutionId id = create();
  const CreatedGraph graph = make_chain(2);
  const auto replay_both = [&] {
    ASSERT_TRUE(run(engine().replay(id)));
    ASSERT_TRUE(run(engine().replay(graph.executions[1])));
  };
  complete_all();
  pass(3s);
  replay_both();
  complete_all();
  // It would be the time of the first end.
  pass(4s);
  EXPECT_TRUE(is_there(id));
  EXPECT_TRUE(is_there(graph.workflow));
  replay_both();
  pass(10s);
  EXPECT_TRUE(is_there(id));
  EXPECT_TRUE(is_there(graph.workflow));
  complete_all();
  pass(3s);
  EXPECT_TRUE(is_there(id));
  EXPECT_TRUE(is_there(graph.executions[0]));
  pass(4s);
  EXPECT_FALSE(is_there(id));
  EXPECT_FALSE(is_there(graph.workflow));
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
}

TEST_F(RetentionTest, AWorkflowThatWasCancelledAloneWaitsForItsExecutions) {
  keep_for(5s);
  const CreatedGraph graph = make_chain(1);
  ASSERT_TRUE(run(engine().cancel(graph.workflow, CancelPolicy::cancel_workflow_only)));
  pass(12s);
  EXPECT_TRUE(is_there(graph.workflow));
  EXPECT_GE(report().removals_postponed, 1U);
  complete_all();
  pass(12s);
  EXPECT_FALSE(is_there(graph.workflow));
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
}

TEST_F(RetentionTest, WhatAParentMayStillAskForStays) {
  keep_for(5s);
  const ExecutionId parent = create({.kind = "parent", .lane = "parents"});
  const Claimed claimed = claim({.worker = "w", .lane = "parents", .lease = 1h}).at(0);
  const ExecutionId child = create({.kind = "child", .parent = Parent{parent, 0}});
  complete_all();
  pass(20s);
  EXPECT_TRUE(is_there(child));
  EXPECT_EQ(run(engine().result(child)).value(), "done");
  // A new journal knows nothing of it.
  const ExecutionId second = create({.kind = "child", .parent = Parent{parent, 5}});
  complete_all();
  ASSERT_TRUE(run(engine().append_journal(claimed.handle, 0, {{.name = "one"}})));
  ASSERT_TRUE(run(engine().restart_journal(claimed.handle, "")));
  pass(12s);
  EXPECT_FALSE(is_there(child));
  EXPECT_TRUE(is_there(second));
  ASSERT_TRUE(run(engine().complete(claimed.handle)));
  pass(12s);
  EXPECT_FALSE(is_there(second));
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
}

TEST_F(RetentionTest, OneThatHasMuchGoesInPiecesAndItsIdIsFreeAfterwards) {
  const ExecutionId id = make_rich(9);
  EXPECT_GE(rows().size(), 5U);
  keep_for(5s, 2);
  pass(8s);
  EXPECT_FALSE(is_there(id));
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
  EXPECT_EQ(report().executions_removed, 1U);
  const auto again = run(engine().create_execution({.kind = "again", .id = id}));
  ASSERT_TRUE(again);
  EXPECT_TRUE(run(engine().attempts(id)).value().empty());
}

TEST_F(RetentionTest, ManyAreRemovedSomeAtATime) {
  for (int i = 0; i < 50; ++i) create();
  complete_all();
  keep_for(5s, 7);
  pass(8s);
  EXPECT_EQ(rows(), (std::map<std::string, std::size_t>()));
  EXPECT_EQ(report().executions_removed, 50U);
}

TEST_F(RetentionTest, NoticesGoWhenEveryCursorHasPassedThem) {
  reopen({.retention = {.keep_notices = 5s, .period = 1s}});
  ASSERT_TRUE(run(engine().acknowledge_notices("slow", 0)));
  ASSERT_TRUE(run(engine().acknowledge_notices("fast", 0)));
  create();
  complete_all();
  const auto told = run(engine().notices(1)).value();
  ASSERT_EQ(told.size(), 3U);
  ASSERT_TRUE(run(engine().acknowledge_notices("fast", told.back().first)));
  pass(12s);
  EXPECT_EQ(run(engine().notices(1)).value().size(), 3U);
  ASSERT_TRUE(run(engine().acknowledge_notices("slow", told.back().first)));
  // It does not go back.
  ASSERT_TRUE(run(engine().acknowledge_notices("slow", 1)));
  EXPECT_EQ(run(engine().notice_cursors()).value().at("slow"), told.back().first);
  pass(12s);
  const auto refused = run(engine().notices(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::overtaken);
  EXPECT_NE(refused.error().message().find("4"), std::string::npos);
  EXPECT_EQ(run(engine().first_notice()).value(), 4U);
  EXPECT_TRUE(run(engine().notices(4)).value().empty());
  EXPECT_EQ(report().notices_removed, 3U);
  // The numbers go on.
  create();
  complete_all();
  EXPECT_EQ(run(engine().notices(4)).value().at(0).first, 4U);
  pass(12s);
  EXPECT_EQ(run(engine().notices(4)).value().size(), 3U);
  EXPECT_TRUE(run(engine().drop_notice_cursor("slow")).value());
  EXPECT_FALSE(run(engine().drop_notice_cursor("slow")).value());
  EXPECT_TRUE(run(engine().drop_notice_cursor("fast")).value());
  pass(12s);
  EXPECT_EQ(run(engine().first_notice()).value(), 7U);
}

}  // namespace
}  // namespace weir::flow::workflow
