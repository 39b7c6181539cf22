#include <weir/flow/workflow/listing.hpp>

#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// Lists in pages, and what a workflow is doing in one word.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::EngineTest;

class ListingTest : public EngineTest {
 protected:
  /// All pages of it; each id once and in order.
  std::set<ExecutionId> list(const ExecutionFilter& filter, std::size_t limit = 3) {
    std::set<ExecutionId> found;
    std::optional<ExecutionId> after;
    do {
      const auto page = run(engine().list_executions(filter, after, limit)).value();
      EXPECT_LE(page.items.size(), limit);
      for (const ExecutionSummary& item : page.items) {
        EXPECT_TRUE(!after || item.id > *after);
        EXPECT_TRUE(found.insert(item.id).second);
        EXPECT_EQ(item.state, describe(item.id).state);
      }
      after = page.next;
    } while (after);
    return found;
  }
};

TEST_F(ListingTest, AnEdgeIsSeenOnlyAsOneOfItsWorkflow) {
  const NewGraph two{.executions = std::vector<NewExecution>(2, {.kind = "w"}),
                     .edges = {{0, 1, "in"}}};
  const CreatedGraph graph = run(engine().create_graph(two)).value();
  const CreatedGraph other = run(engine().create_graph(two)).value();
  const EdgeId id = run(engine().edges_into(graph.workflow, graph.executions[1])).value().at(0).id;
  const auto seen = run(engine().describe(graph.workflow, id)).value();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->id, id);
  EXPECT_EQ(seen->edge.upstream, graph.executions[0]);
  EXPECT_EQ(seen->edge.downstream, graph.executions[1]);
  EXPECT_EQ(seen->edge.input, "in");
  EXPECT_EQ(run(engine().describe(other.workflow, id)).value().has_value(), false);
}

TEST_F(ListingTest, EdgesInAndOutAreListedInTheOrderOfTheirIds) {
  NewGraph graph{.executions = std::vector<NewExecution>(9, {.kind = "w"})};
  for (std::size_t upstream = 0; upstream < 3; ++upstream) graph.edges.push_back({upstream, 3});
  for (std::size_t downstream = 4; downstream < 9; ++downstream) {
    graph.edges.push_back({3, downstream, "from " + std::to_string(downstream)});
  }
  const CreatedGraph made = run(engine().create_graph(graph)).value();
  const CreatedGraph other = run(engine().create_graph(graph)).value();
  const std::vector<ExecutionId>& ids = made.executions;
  const auto expect = [&](const std::vector<EdgeInfo>& edges, auto end,
                          std::set<ExecutionId> expected) {
    std::set<ExecutionId> ends;
    for (const EdgeInfo& edge : edges) ends.insert(edge.edge.*end);
    EXPECT_EQ(ends, expected);
    EXPECT_EQ(edges.size(), expected.size());
    EXPECT_TRUE(std::ranges::is_sorted(edges, {}, &EdgeInfo::id));
  };
  const auto into = [&](std::size_t place) {
    return run(engine().edges_into(made.workflow, ids[place])).value();
  };
  const auto from = [&](std::size_t place) {
    return run(engine().edges_from(made.workflow, ids[place])).value();
  };
  expect(into(3), &Edge::upstream, {ids.begin(), ids.begin() + 3});
  expect(from(3), &Edge::downstream, {ids.begin() + 4, ids.end()});
  for (const EdgeInfo& edge : from(3)) EXPECT_TRUE(edge.edge.input.starts_with("from "));
  expect(from(0), &Edge::downstream, {ids[3]});
  expect(into(8), &Edge::upstream, {ids[3]});
  EXPECT_TRUE(into(0).empty());
  EXPECT_TRUE(from(8).empty()) << "a leaf";
  EXPECT_TRUE(run(engine().edges_from(other.workflow, ids[3])).value().empty()) << "a foreign one";
  EXPECT_TRUE(run(engine().edges_into(other.workflow, ids[3])).value().empty());
}

TEST_F(ListingTest, ExecutionsAreFoundByAllThatIsAskedFor) {
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 12; ++i) {
    NewExecution request{.kind = "work",
                         .space = i % 2 == 0 ? "even" : "odd",
                         .lane = i % 3 == 0 ? "fizz" : "default"};
    if (i % 4 == 0) request.tags = {{"by.four", std::to_string(i)}, {"a.tag", "x"}};
    if (i >= 8) request.not_before = time() + 60s;
    ids.push_back(create(request));
  }
  const auto fizz = claim({.worker = "w", .lane = "fizz", .executions_max = 1}).at(0).handle;
  ASSERT_TRUE(run(engine().complete(fizz)));
  const auto expect = [&](const ExecutionFilter& filter) {
    std::set<ExecutionId> expected;
    for (const ExecutionId& id : ids) {
      if (filter.admits(describe(id).execution)) expected.insert(id);
    }
    for (const std::size_t limit : {1, 2, 5, 1000}) EXPECT_EQ(list(filter, limit), expected);
    return expected.size();
  };
  EXPECT_EQ(expect({}), 12U);
  EXPECT_EQ(expect({.states = {PublicState::delayed}}), 4U);
  EXPECT_EQ(expect({.states = {PublicState::completed}}), 1U);
  EXPECT_EQ(expect({.states = {PublicState::waiting, PublicState::completed}}), 8U);
  EXPECT_EQ(expect({.space = "even"}), 6U);
  EXPECT_EQ(expect({.lane = "fizz"}), 4U);
  EXPECT_EQ(expect({.states = {PublicState::waiting}, .space = "odd", .lane = "default"}), 3U);
  EXPECT_EQ(expect({.tags = {{"a.tag", "x"}}}), 3U);
  EXPECT_EQ(expect({.tags = {{"a.tag", "x"}, {"by.four", "4"}}}), 1U);
  EXPECT_EQ(expect({.tags = {{"a.tag", "y"}}}), 0U);
  EXPECT_TRUE(run(engine().list_executions({}, {}, 0)).value().items.empty());
}

TEST_F(ListingTest, ThoseOfAWorkflowAreFoundAmongThem) {
  const auto first = run(engine().create_graph(
                             NewGraph{.executions = std::vector<NewExecution>(7, {.kind = "w"})}))
                         .value();
  run(engine().create_graph(NewGraph{.executions = std::vector<NewExecution>(5, {.kind = "w"})}))
      .value();
  ASSERT_TRUE(run(engine().cancel(first.executions[2])));
  const std::set<ExecutionId> all(first.executions.begin(), first.executions.end());
  EXPECT_EQ(list({.workflow = first.workflow}), all);
  EXPECT_EQ(list({.states = {PublicState::cancelled}, .workflow = first.workflow}),
            std::set{first.executions[2]});
  EXPECT_EQ(run(engine().list_executions({.workflow = WorkflowId{}})).error(), Errc::not_found);
}

TEST_F(ListingTest, AfterManyThatAreNotListedACursorIsGiven) {
  NewGraph many{.executions = std::vector<NewExecution>(1000, {.kind = "w"})};
  for (int i = 0; i < 11; ++i) ASSERT_TRUE(run(engine().create_graph(many)));
  std::size_t pages = 0;
  std::optional<ExecutionId> after;
  do {
    const auto page = run(engine().list_executions({.space = "nobody"}, after)).value();
    EXPECT_TRUE(page.items.empty());
    after = page.next;
    ++pages;
  } while (after);
  EXPECT_EQ(pages, 2U);
}

TEST_F(ListingTest, APageHasAThousandHoweverManyAreAskedFor) {
  constexpr std::size_t count = 1001;
  NewGraph fan{.executions = std::vector<NewExecution>(count + 1, {.kind = "w"})};
  for (std::size_t i = 1; i <= count; ++i) fan.edges.push_back({0, i});
  const CreatedGraph made = run(engine().create_graph(fan)).value();
  NewGraph ready{.executions = std::vector<NewExecution>(count, {.kind = "w", .lane = "ready"})};
  ASSERT_TRUE(run(engine().create_graph(ready)));
  const auto expect = [](const auto& page) {
    EXPECT_EQ(page.items.size(), 1000U);
    EXPECT_TRUE(page.next);
  };
  constexpr std::size_t many = 5000;
  expect(run(engine().members(made.workflow, {}, many)).value());
  const auto groups = run(engine().edge_groups(made.workflow, {}, many)).value();
  EXPECT_GE(groups.items.size(), 999U) << "the first has no edges into it";
  EXPECT_LE(groups.items.size(), 1000U);
  EXPECT_TRUE(groups.next);
  expect(run(engine().list_executions({}, {}, many)).value());
  EXPECT_EQ(run(engine().queue("ready", many)).value().waiting.size(), 1000U);
}

TEST_F(ListingTest, WorkflowsOfAllPartitionsAreListed) {
  std::set<std::pair<Partition, WorkflowId>> expected;
  for (int i = 0; i < 25; ++i) {
    const WorkflowId id = run(engine().create_workflow({})).value();
    expected.insert({id.partition(), id});
  }
  for (const std::size_t limit : {1, 7, 25, 26}) {
    std::vector<std::pair<Partition, WorkflowId>> found;
    std::optional<WorkflowId> after;
    do {
      const auto page = run(engine().list_workflows(after, limit)).value();
      EXPECT_LE(page.items.size(), limit);
      EXPECT_FALSE(page.items.empty());
      for (const WorkflowId& id : page.items) found.emplace_back(id.partition(), id);
      after = page.next;
    } while (after);
    EXPECT_TRUE(std::ranges::equal(found, expected)) << limit;
  }
  EXPECT_TRUE(run(engine().list_workflows({}, 0)).value().items.empty());
}

TEST_F(ListingTest, ManyAreDescribedAtOnceAsOneByOne) {
  const auto graph = run(engine().create_graph({.executions = {{.kind = "a"}, {.kind = "b"}},
                                                .edges = {{0, 1, "x"}, {0, 1}}}))
                         .value();
  const ExecutionId first = graph.executions[0];
  const ExecutionId last = graph.executions[1];
  const ExecutionId none = ExecutionId::in_lane("none", {});
  const auto infos = run(engine().executions({last, none, first})).value();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].id, last);
  EXPECT_EQ(infos[0].state, PublicState::waiting_children);
  EXPECT_EQ(infos[1].spec.kind, "a");
  const auto workflows = run(engine().workflows({WorkflowId{}, graph.workflow})).value();
  ASSERT_EQ(workflows.size(), 1U);
  EXPECT_EQ(workflows[0].workflow.edges, 2U);
  std::set<EdgeId> into;
  for (const EdgeInfo& edge : run(engine().edges_into(graph.workflow, last)).value())
    into.insert(edge.id);
  std::set<EdgeId> all;
  for (const EdgeInfo& edge : run(engine().edges(graph.workflow, {first, none, last})).value())
    all.insert(edge.id);
  EXPECT_EQ(all, into);
  EXPECT_EQ(all.size(), 2U);
  const auto other = run(engine().create_graph({.executions = {{.kind = "a"}}})).value();
  EXPECT_TRUE(run(engine().edges(other.workflow, {last})).value().empty());
  EXPECT_EQ(run(engine().edges(WorkflowId{}, {last})).error(), Errc::not_found);
}

TEST_F(ListingTest, GroupsOfAWorkflowAreListedInOrder) {
  NewGraph graph{.executions = std::vector<NewExecution>(6, {.kind = "w"}),
                 .edges = {{0, 2}, {1, 2}, {2, 3}, {0, 4}},
                 .policies = {{2, EdgePolicy::any_of(OnSatisfied::let_run)}}};
  const auto made = run(engine().create_graph(graph)).value();
  std::map<ExecutionId, std::uint32_t> found;
  std::optional<ExecutionId> after;
  do {
    const auto page = run(engine().edge_groups(made.workflow, after, 2)).value();
    for (const EdgeGroupInfo& group : page.items) found[group.downstream] = group.group.edges;
    after = page.next;
  } while (after);
  EXPECT_EQ(found, (std::map<ExecutionId, std::uint32_t>{
                       {made.executions[2], 2}, {made.executions[3], 1}, {made.executions[4], 1}}));
  EXPECT_EQ(run(engine().edge_groups(WorkflowId{})).error(), Errc::not_found);
}

TEST(Progress, IsOneWordByTheTable) {
  using enum PublicState;
  const auto progress = [](std::vector<PublicState> states, WorkflowState state) {
    Workflow workflow;
    workflow.state = state;
    for (const PublicState in : states) ++workflow.counts[in];
    return to_string(workflow.progress());
  };
  const auto open = WorkflowState::open;
  EXPECT_EQ(progress({}, open), "open");
  EXPECT_EQ(progress({waiting, PublicState::completed}, open), "open");
  EXPECT_EQ(progress({active, suspended}, open), "running");
  for (const PublicState state : {suspended, delayed, rate_limited, waiting_children}) {
    EXPECT_EQ(progress({waiting, state}, open), "blocked");
  }
  EXPECT_EQ(progress({active}, WorkflowState::cancelled), "cancelled");
  EXPECT_EQ(progress({PublicState::cancelled}, WorkflowState::completed), "completed");
  EXPECT_EQ(progress({PublicState::completed}, WorkflowState::failed), "failed");
}

}  // namespace
}  // namespace weir::flow::workflow
