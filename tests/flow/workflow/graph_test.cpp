#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/graph_board.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::flow::workflow {
namespace {

using std::chrono::seconds;
using testing::GraphBoard;
using testing::refuses;

constexpr auto let_run = OnSatisfied::let_run;
constexpr auto cancel_remaining = OnSatisfied::cancel_remaining;

TEST(Graph, NothingBeginsBeforeItIsApplied) {
  GraphBoard board;
  const ExecutionId first = board.member();
  const ExecutionId second = board.member();
  const ExecutionId later =
      board.make_member(board.id, {.kind = "w", .not_before = board.now + seconds(5)});
  board.link(first, second);
  for (const ExecutionId& id : {first, second, later}) {
    EXPECT_EQ(board.state(id).phase, Phase::submitted);
    EXPECT_TRUE(refuses(board.try_claim(id), Errc::wrong_state, "submitted"));
  }
  EXPECT_EQ(board.workflow().unpromoted, 3U);
  EXPECT_TRUE(board.apply(board.id, {first, second, later}));
  EXPECT_EQ(board.workflow().unpromoted, 0U);
  EXPECT_EQ(board.public_state(first), PublicState::waiting);
  EXPECT_EQ(board.public_state(second), PublicState::waiting_children);
  EXPECT_EQ(board.public_state(later), PublicState::delayed);
  EXPECT_TRUE(refuses(board.try_claim(second), Errc::wrong_state, "blocked_by_dependencies"));
  EXPECT_TRUE(board.apply(board.id, {first, second, later}));
  EXPECT_EQ(board.workflow().counts.total(), 3U);
}

TEST(Graph, ADependentWaitsForItsTimeTooOnceItsDependenciesAreSatisfied) {
  GraphBoard board;
  const ExecutionId first = board.member();
  const Time time = board.now + seconds(5);
  const ExecutionId second = board.make_member(board.id, {.kind = "w", .not_before = time});
  board.all.push_back(second);
  board.link(first, second);
  board.apply_all();
  board.succeed(first);
  EXPECT_EQ(board.public_state(second), PublicState::delayed);
  EXPECT_EQ(board.execution(second).eligible_at, time);
  board.now = time;
  EXPECT_EQ(board.promote_due(second), true);
  board.succeed(second);
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Graph, NothingDependsOnItself) {
  GraphBoard board;
  const ExecutionId id = board.member();
  EXPECT_TRUE(refuses(board.stage(board.id, {{id, id}}), Errc::cycle, to_string(id)));
}

TEST(Graph, ACycleIsRefusedAndPrinted) {
  GraphBoard board;
  const auto ids = board.members(4);
  board.link(ids[0], ids[1]);
  board.link(ids[1], ids[2]);
  board.link(ids[1], ids[3]);
  const std::string cycle = to_string(ids[2]) + " -> " + to_string(ids[0]) + " -> " +
                            to_string(ids[1]) + " -> " + to_string(ids[2]);
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[2], ids[0]}}), Errc::cycle, cycle));
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[3], ids[0]}}), Errc::cycle,
                      to_string(ids[1]) + " -> " + to_string(ids[3])));
  // One among the edges that are staged together is found too, and none of them stays.
  const std::uint64_t revision = board.workflow().revision;
  EXPECT_TRUE(
      refuses(board.stage(board.id, {{ids[2], ids[3]}, {ids[3], ids[0]}}), Errc::cycle, "->"));
  EXPECT_EQ(board.workflow().edges, 3U);
  EXPECT_EQ(board.workflow().revision, revision);
  EXPECT_EQ(board.group(ids[3]).edges, 1U);
  EXPECT_TRUE(board.stage(board.id, {{ids[0], ids[3]}, {ids[2], ids[3]}}));
}

TEST(Graph, OnlyMembersAreLinkedOrApplied) {
  GraphBoard board;
  const ExecutionId inside = board.member();
  const ExecutionId alone = board.make();
  const WorkflowId other = board.create_workflow().value();
  const ExecutionId elsewhere = board.make_member(other);
  const ExecutionId nobody = ExecutionId::in_workflow(board.id, testing::make_uuid(5, 5));
  for (const ExecutionId& id : {alone, elsewhere, nobody}) {
    const std::string text = to_string(id);
    EXPECT_TRUE(refuses(board.stage(board.id, {{id, inside}}), Errc::not_found, text));
    EXPECT_TRUE(refuses(board.stage(board.id, {{inside, id}}), Errc::not_found, text));
    EXPECT_TRUE(refuses(board.apply(board.id, {id}), Errc::not_found, text));
    EXPECT_TRUE(refuses(board.set_policy(board.id, id, EdgePolicy::any_of(let_run)),
                        Errc::not_found, text));
  }
  const WorkflowId none = {testing::make_uuid(6, 6)};
  const std::string text = to_string(none);
  EXPECT_TRUE(refuses(board.stage(none, {}), Errc::not_found, text));
  EXPECT_TRUE(refuses(board.apply(none, {}), Errc::not_found, text));
  EXPECT_TRUE(refuses(board.close(none), Errc::not_found, text));
  EXPECT_TRUE(refuses(board.cancel(none, CancelPolicy::cancel_all), Errc::not_found, text));
  EXPECT_TRUE(refuses(board.cancel_members(none, {}, true), Errc::not_found, text));
  EXPECT_TRUE(refuses(board.set_tag(none, "a.b", ""), Errc::not_found, text));
}

TEST(Graph, ARevisionThatIsNotTheNewestIsRefused) {
  GraphBoard board;
  const auto ids = board.members(3);
  const std::uint64_t before = board.workflow().revision;
  const std::uint64_t after = board.stage(board.id, {{ids[0], ids[1]}}, before).value();
  EXPECT_GT(after, before);
  const auto stale = board.stage(board.id, {{ids[0], ids[2]}}, before);
  EXPECT_TRUE(refuses(stale, Errc::stale_revision, "revision " + std::to_string(before)));
  EXPECT_TRUE(refuses(stale, Errc::stale_revision, "is at " + std::to_string(after)));
  // A new member and a new policy are changes of the graph, an empty list is none.
  EXPECT_EQ(board.stage(board.id, {}, after), after);
  EXPECT_EQ(board.set_policy(board.id, ids[2], EdgePolicy::any_of(let_run)), true);
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[0], ids[2]}}, after), Errc::stale_revision, ""));
  const std::uint64_t newest = board.workflow().revision;
  board.member();
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[0], ids[2]}}, newest), Errc::stale_revision, ""));
}

TEST(Graph, AnEdgeIdIsUsedOnceAndNamesAreBounded) {
  GraphBoard board;
  const auto ids = board.members(2);
  const EdgeId edge = {testing::make_uuid(3, 3)};
  EXPECT_TRUE(board.stage(board.id, {{ids[0], ids[1], edge}}));
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[0], ids[1], edge}}), Errc::already_exists,
                      to_string(edge)));
  EXPECT_EQ(board.find<Edge>(edge)->creator, "engine");
  const std::string name(name_bytes_max + 1, 'n');
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[0], ids[1], {}, name}}), Errc::too_large,
                      "input has 257"));
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[0], ids[1], {}, "", name}}), Errc::too_large,
                      "creator has 257"));
}

TEST(Graph, WhoHasBegunGetsNoMoreDependencies) {
  GraphBoard board;
  const auto ids = board.members(4);
  board.link(ids[0], ids[1]);
  EXPECT_TRUE(board.apply(board.id, {ids[0], ids[1]}));
  // One that waits may be given more to wait for.
  EXPECT_TRUE(board.stage(board.id, {{ids[2], ids[1]}}));
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[2], ids[0]}}), Errc::wrong_state, "eligible"));
  board.succeed(ids[0]);
  EXPECT_EQ(board.public_state(ids[1]), PublicState::waiting_children);
  board.apply_all();
  board.succeed(ids[2]);
  EXPECT_EQ(board.public_state(ids[1]), PublicState::waiting);
  EXPECT_TRUE(refuses(board.stage(board.id, {{ids[3], ids[1]}}), Errc::group_fired, "satisfied"));
}

TEST(Graph, PoliciesAreFixedByTheFirstEdge) {
  GraphBoard board;
  const auto ids = board.members(2);
  const EdgePolicy any = EdgePolicy::any_of(let_run);
  const auto set = [&](EdgePolicy policy) { return board.set_policy(board.id, ids[1], policy); };
  EXPECT_TRUE(refuses(set(EdgePolicy::quorum(0, let_run)), Errc::invalid_argument, "k is 0"));
  EXPECT_TRUE(refuses(set({static_cast<EdgePolicy::Kind>(9)}), Errc::unsupported_policy, "9"));
  EXPECT_EQ(set(EdgePolicy::quorum(2, let_run)), true);
  EXPECT_EQ(set(EdgePolicy::quorum(2, let_run)), false);
  EXPECT_EQ(set(EdgePolicy::quorum(3, let_run)), true);
  EXPECT_EQ(set(EdgePolicy::quorum(3, cancel_remaining)), true);
  EXPECT_EQ(set(any), true);
  board.link(ids[0], ids[1]);
  EXPECT_EQ(set(any), false);
  EXPECT_TRUE(refuses(set(EdgePolicy::any_of(cancel_remaining)), Errc::policy_fixed, "any_of"));
  EXPECT_TRUE(refuses(set(EdgePolicy::all_of()), Errc::policy_fixed, "any_of(let_run)"));
  EXPECT_EQ(board.group(ids[1]).policy, any);
}

TEST(Graph, AQuorumOfMoreThanThereAreIsRefusedWhenItIsApplied) {
  GraphBoard board;
  const auto ids = board.members(3);
  board.set_policy(board.id, ids[2], EdgePolicy::quorum(2, let_run)).value();
  board.link(ids[0], ids[2]);
  EXPECT_TRUE(
      refuses(board.apply(board.id, ids), Errc::invalid_argument, "quorum(2, let_run) of 1 edges"));
  EXPECT_EQ(board.workflow().unpromoted, 3U);
  board.link(ids[1], ids[2]);
  EXPECT_TRUE(board.apply(board.id, ids));
}

TEST(Graph, EdgesIntoAnExecutionWhoseUpstreamsHaveEndedResolveAtOnce) {
  GraphBoard board;
  const auto ids = board.members(5);
  EXPECT_TRUE(board.apply(board.id, {ids[0], ids[1]}));
  board.succeed(ids[0]);
  board.fail_for_good(ids[1]);
  board.link(ids[0], ids[2]);
  board.link(ids[1], ids[3]);
  board.link(ids[3], ids[4]);
  board.apply_all();
  EXPECT_EQ(board.public_state(ids[2]), PublicState::waiting);
  EXPECT_EQ(board.public_state(ids[3]), PublicState::skipped);
  EXPECT_EQ(board.public_state(ids[4]), PublicState::skipped);
}

// The group is decided by the first of them, when the others have not been looked at yet.
TEST(Graph, WhoeverIsNotNeededAtApplyIsCancelledTooWhicheverEdgeCameFirst) {
  for (const bool is_reversed : {false, true}) {
    GraphBoard board;
    const auto ids = board.members(3);
    board.set_policy(board.id, ids[2], EdgePolicy::any_of(cancel_remaining)).value();
    EXPECT_TRUE(board.apply(board.id, {ids[0], ids[1]}));
    board.succeed(ids[0]);
    board.link(ids[is_reversed ? 1 : 0], ids[2]);
    board.link(ids[is_reversed ? 0 : 1], ids[2]);
    board.apply_all();
    EXPECT_EQ(board.public_state(ids[2]), PublicState::waiting);
    EXPECT_EQ(board.cancel_siblings(ids[2])->cancelled, std::vector{ids[1]});
  }
}

// s successes and f failures of n upstreams, in both orders, under each policy.
TEST(Graph, GroupsAreDecidedAsTheTableSays) {
  constexpr std::uint32_t n = 4;
  const auto step = static_cast<std::uint32_t>(testing::board_size(1, 7));
  for (std::uint32_t kind = 0; kind < 2 + n; ++kind) {
    for (const auto on_satisfied : {let_run, cancel_remaining}) {
      const EdgePolicy policy = kind == 0   ? EdgePolicy::all_of()
                                : kind == 1 ? EdgePolicy::any_of(on_satisfied)
                                            : EdgePolicy::quorum(kind - 1, on_satisfied);
      const std::uint32_t needed = kind == 0 ? n : kind == 1 ? 1 : kind - 1;
      for (std::uint32_t ways = 0; ways < 1U << n; ways += step) {
        GraphBoard board;
        const ExecutionId last = board.fan_in(n, policy);
        EdgeState expected = EdgeState::pending;
        std::uint32_t good = 0, bad = 0;
        for (std::uint32_t i = 0; i < n && expected == EdgeState::pending; ++i) {
          const bool succeeds = ((ways >> i) & 1U) != 0;
          succeeds ? board.succeed(board.all[i]) : board.fail_for_good(board.all[i]);
          ++(succeeds ? good : bad);
          if (good >= needed) expected = EdgeState::satisfied;
          if (n - bad < needed) expected = EdgeState::impossible;
          ASSERT_EQ(board.group(last).state, expected) << to_string(policy) << " " << ways;
        }
        ASSERT_NE(expected, EdgeState::pending);
        EXPECT_EQ(board.group(last).fired_at, board.now);
        EXPECT_EQ(board.public_state(last),
                  expected == EdgeState::satisfied ? PublicState::waiting : PublicState::skipped);
        const bool cancels = kind > 0 && on_satisfied == cancel_remaining;
        EXPECT_EQ(board.group(last).cancelling.size(), cancels ? n - good - bad : 0);
        if (cancels) {
          EXPECT_EQ(board.group(last).cancel_reason, expected == EdgeState::satisfied
                                                         ? "sibling_quorum_satisfied"
                                                         : "sibling_quorum_impossible");
        }
      }
    }
  }
}

TEST(Graph, AGroupThatHasFiredGoesOnCounting) {
  GraphBoard board;
  const ExecutionId last = board.fan_in(3, EdgePolicy::any_of(let_run));
  board.succeed(board.all[0]);
  const auto fired_at = board.group(last).fired_at;
  board.pass(seconds(1));
  board.fail_for_good(board.all[1]);
  board.cancel(board.all[2]).value();
  const EdgeGroup& group = board.group(last);
  EXPECT_EQ(group.state, EdgeState::satisfied);
  EXPECT_EQ(group.fired_at, fired_at);
  EXPECT_EQ(group.succeeded, 1U);
  EXPECT_EQ(group.failed, 2U);
  EXPECT_EQ(group.skipped, 0U);
}

TEST(Graph, OutcomesCountAsWhatTheyAre) {
  GraphBoard board;
  const ExecutionId first = board.member();
  const ExecutionId dated =
      board.make_member(board.id, {.kind = "w", .deadline = board.now + seconds(1)});
  board.all.push_back(dated);
  const auto ids = board.members(3);
  const ExecutionId last = board.member();
  board.set_policy(board.id, last, EdgePolicy::quorum(4, let_run)).value();
  board.link(first, ids[0]);
  for (const ExecutionId& id : {dated, ids[0], ids[1], ids[2]}) board.link(id, last);
  board.apply_all();
  board.fail_for_good(first);
  EXPECT_EQ(board.group(last).skipped, 1U);
  board.cancel(ids[1]).value();
  board.pass(seconds(1));
  EXPECT_EQ(board.expire_execution(dated), true);
  board.succeed(ids[2]);
  EXPECT_EQ(board.group(last).failed, 2U);
  EXPECT_EQ(board.group(last).succeeded, 1U);
  EXPECT_EQ(board.group(last).state, EdgeState::impossible);
}

TEST(Graph, AGroupIsCancelledWithItsExecution) {
  GraphBoard board;
  const ExecutionId last = board.fan_in(2, EdgePolicy::all_of());
  board.cancel(last).value();
  EXPECT_EQ(board.group(last).state, EdgeState::cancelled);
  EXPECT_EQ(board.group(last).fired_at, board.now);
  board.succeed(board.all[0]);
  board.succeed(board.all[1]);
  EXPECT_EQ(board.group(last).state, EdgeState::cancelled);
  EXPECT_EQ(board.group(last).succeeded, 2U);
  EXPECT_EQ(board.public_state(last), PublicState::cancelled);
}

TEST(Graph, AChainOfFiftyThousandIsSkippedWithoutRecursion) {
  const std::size_t length =
      testing::board_size(static_cast<std::size_t>(weir::testing::scaled(50'000)), 200);
  GraphBoard board;
  const auto ids = board.members(length);
  std::vector<NewEdge> edges;
  for (std::size_t i = 1; i < length; ++i) edges.push_back({ids[i - 1], ids[i]});
  EXPECT_TRUE(board.stage(board.id, edges));
  board.apply_all();
  board.take_notices();
  board.fail_for_good(ids[0]);
  EXPECT_EQ(board.workflow().counts[PublicState::skipped], length - 1);
  EXPECT_EQ(board.workflow().state, WorkflowState::failed);
  EXPECT_EQ(board.public_state(ids.back()), PublicState::skipped);
  EXPECT_EQ(board.execution(ids.back()).end_reason, "dependency_impossible");
  const auto kinds = board.take_kinds();
  EXPECT_EQ(std::ranges::count(kinds, NoticeKind::completion), static_cast<long>(length));
}

TEST(Graph, OneExecutionLetsManyBegin) {
  GraphBoard board;
  const ExecutionId first = board.member();
  const std::size_t count = testing::board_size(1000, 50);
  const auto others = board.members(count);
  for (const ExecutionId& id : others) board.link(first, id, "input");
  board.apply_all();
  EXPECT_EQ(board.workflow().counts[PublicState::waiting_children], count);
  board.succeed(first, "seed");
  EXPECT_EQ(board.workflow().counts[PublicState::waiting], count);
  for (const ExecutionId& id : others) {
    const Claimed claimed = board.claim(id);
    ASSERT_EQ(claimed.inputs.size(), 1U);
    EXPECT_EQ(claimed.inputs[0].payload, "seed");
    EXPECT_TRUE(board.complete(claimed.handle));
  }
  EXPECT_EQ(board.workflow().state, WorkflowState::completed);
}

TEST(Graph, ResultsArePassedUnderTheNamesOfTheirEdges) {
  GraphBoard board;
  const auto ids = board.members(4);
  const ExecutionId last = board.member();
  board.set_policy(board.id, last, EdgePolicy::quorum(2, let_run)).value();
  board.link(ids[0], last, "left");
  board.link(ids[1], last, "right");
  board.link(ids[2], last);
  board.link(ids[3], last, "failed");
  board.apply_all();
  board.fail_for_good(ids[3]);
  board.succeed(ids[0], "1");
  board.succeed(ids[2], "unnamed");
  // It may begin, and what comes until it does is given to it too.
  EXPECT_EQ(board.public_state(last), PublicState::waiting);
  board.succeed(ids[1], "");
  const Claimed claimed = board.claim(last);
  ASSERT_EQ(claimed.inputs.size(), 2U);
  EXPECT_EQ(claimed.inputs[0].name, "left");
  EXPECT_EQ(claimed.inputs[0].payload, "1");
  EXPECT_EQ(claimed.inputs[0].upstream, ids[0]);
  EXPECT_EQ(claimed.inputs[1].name, "right");
  EXPECT_EQ(claimed.inputs[1].payload, "");
}

}  // namespace
}  // namespace weir::flow::workflow
