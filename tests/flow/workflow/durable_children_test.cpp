// What durable coroutines do with others, on whichever store: children, signals, questions; and how
// they change.
#include <weir/flow/workflow/workflow_context.hpp>

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::closed_door;
using testing::Door;
using testing::patient_options;
using testing::WorkerTest;
using Lines = std::vector<std::string>;

struct Offer {
  std::string courier;
  bool is_kept = true;
};

Task<Result<std::string>> consider(Door door, Offer offer) {
  co_await testing::wait_at(door);
  if (!offer.is_kept) co_return Error(Errc::step_failed, offer.courier + " has no time");
  co_return offer.courier;
}

Task<std::vector<std::string>> race(WorkflowContext ctx, std::uint32_t needed,
                                    std::vector<Offer> offers) {
  std::vector<Child<std::string>> children;
  for (const Offer& offer : offers) children.push_back(ctx.child<std::string>("offer", offer));
  co_return co_await ctx.quorum(needed, children, OnSatisfied::cancel_remaining);
}

class ChildrenTest : public WorkerTest {
 protected:
  void start_race(std::size_t executions_max) {
    WorkerOptions options = patient_options();
    options.executions_max = executions_max;
    options.lease = 5s;
    start(options, [this](Worker& worker) {
      worker.on("offer", [this](Offer o) { return consider(doors.at(o.courier), o); });
      worker.on("two", [](WorkflowContext c, std::vector<Offer> o) { return race(c, 2, o); });
    });
  }
  /// Each of them considers until it is let go on.
  void open(const std::string& courier) {
    const auto before = completions().size();
    doors.at(courier)->publish(1);
    wait_until("an offer", [&] { return completions().size() > before; });
    leap(1ms);  // the next one is later
  }
  void open_all() {
    for (const auto& [courier, door] : doors) door->publish(1);
  }
  std::map<PublicState, int> states() {
    std::map<PublicState, int> found;
    for (const auto& [id, times] : completions()) ++found[describe(id).state];
    return found;
  }
  void wait_for_active(std::uint64_t count) {
    wait_until("workers", [&] { return run(engine().report()).value().active == count; });
  }

  const std::map<std::string, Door> doors = {{"anna", closed_door()},
                                             {"bert", closed_door()},
                                             {"carl", closed_door()},
                                             {"dora", closed_door()}};
};

TEST_F(ChildrenTest, AQuorumGivesTheFirstAndCancelsTheRest) {
  start_race(8);
  const std::vector<Offer> offers = {{"anna"}, {"bert", false}, {"carl"}, {"dora"}};
  const ExecutionId id = begin_execution("two", to_payload(offers));
  for (const char* courier : {"bert", "carl", "anna"}) open(courier);
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(result<Lines>(id), (Lines{"carl", "anna"}));
  const auto ended = states();
  EXPECT_EQ(ended.at(PublicState::completed), 3);
  EXPECT_EQ(ended.at(PublicState::failed), 1);
  EXPECT_EQ(ended.at(PublicState::cancelled), 1);
}

TEST_F(ChildrenTest, WhoWaitsForChildrenLeavesThemItsPlace) {
  start_race(1);
  open_all();
  const std::vector<Offer> offers = {{"anna"}, {"bert"}};
  const ExecutionId id = begin_execution("two", to_payload(offers));
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(result<Lines>(id), (Lines{"anna", "bert"}));
}

TEST_F(ChildrenTest, ChildrenAreOfTheNamespaceOfTheirParent) {
  start_race(8);
  open_all();
  const std::vector<Offer> offers = {{"anna"}, {"bert"}};
  let_work(create({.kind = "two", .payload = to_payload(offers), .space = "blue"}));
  const auto ended = completions();
  EXPECT_EQ(ended.size(), 3U);
  for (const auto& [id, times] : ended) EXPECT_EQ(describe(id).execution.space, "blue");
}

TEST_F(ChildrenTest, AnyNumberOfThemCanWaitForChildren) {
  const std::vector<Offer> offers = {{"anna"}, {"bert"}};
  // How many wait is up to the worker; elsewhere each of them is a few transactions.
  const std::uint64_t races = engine().store() != nullptr ? 1100 : 40;
  for (std::uint64_t i = 0; i < races; ++i) begin_execution("two", to_payload(offers));
  open_all();
  // Those that were begun first are claimed first: all of them wait before the first child is done.
  start_race(8);
  wait_until("all of them", [&] { return report().completed == 3 * races; });
}

Task<> begin_and_end(WorkflowContext ctx, Lines* order, std::string name) {
  const auto note = [order](std::string line) { order->push_back(line); };
  co_await ctx.step("begin", note, name + " begins");
  co_await ctx.result(ctx.child<void>("part", name));
  co_await ctx.step("end", note, name + " ends");
}

TEST_F(ChildrenTest, WhatHasBegunIsFinishedBeforeOthersBegin) {
  Lines order;
  for (const char* name : {"a", "b", "c"}) {
    begin_execution("whole", to_payload(std::string(name)));
    leap(1ms);  // the next one is later
  }
  start({.executions_max = 1}, [&](Worker& worker) {
    worker.on("part", [&](std::string) {});
    worker.on("whole", [&](WorkflowContext ctx, std::string name) {
      return begin_and_end(ctx, &order, name);
    });
  });
  wait_until("all of them", [&] { return report().completed == 6; });
  ASSERT_EQ(order.size(), 6U);
  const auto place = [&](const char* line) { return std::ranges::find(order, line); };
  std::string all;
  for (const std::string& line : order) all += line + "; ";
  EXPECT_LT(place("a ends"), place("c begins")) << all;
}

TEST_F(ChildrenTest, AQuorumThatCannotBeReachedFails) {
  start_race(8);
  open_all();
  const std::vector<Offer> offers = {{"anna"}, {"bert", false}, {"carl", false}};
  const ExecutionId id = begin_execution("two", to_payload(offers));
  const ExecutionInfo info = let_work(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("bert has no time"), std::string::npos)
      << info.execution.end_reason;
}

TEST_F(ChildrenTest, ChildrenAreBegunOnceWhateverCrashes) {
  start_race(8);
  const std::vector<Offer> offers = {{"anna"}, {"carl"}};
  const ExecutionId id = begin_execution("two", to_payload(offers));
  wait_for_active(3);
  open("carl");
  crash_all();
  leap(6s);
  wait_for_active(2);
  crash_all();
  leap(6s);
  wait_for_active(2);
  open("anna");
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(result<Lines>(id), (Lines{"carl", "anna"}));
  EXPECT_EQ(completions().size(), 3U) << "a child was begun twice";
}

struct Approval {
  std::string by;
  bool is_given = false;
};

Task<std::string> approved(WorkflowContext ctx) {
  const auto first = co_await ctx.signal<Approval>("approve");
  const auto second = co_await ctx.signal<Approval>("approve", within(1h));
  co_return first.by + " " + (second ? second->by : "nobody");
}

class SignalledTest : public WorkerTest {
 protected:
  void start_approval() {
    start(patient_options(), [](Worker& worker) { worker.on("approved", approved); });
  }
  void approve(const ExecutionId& id, const std::string& by) {
    ASSERT_TRUE(run(engine().approve(
        {.execution = id, .waitpoint = "approve", .payload = to_payload(Approval{by, true})})));
  }
};

TEST_F(SignalledTest, ASignalIsWaitedForWithoutAPlace) {
  start_approval();
  const ExecutionId id = begin_execution("approved");
  EXPECT_EQ(let_work(id).state, PublicState::suspended);
  wait_until("its place", [&] { return report().running == 0; });
  crash_all();
  approve(id, "ann");
  wait_until("the signal", [&] { return !names(id).empty(); });
  EXPECT_EQ(let_work(id).state, PublicState::suspended);
  EXPECT_EQ(names(id), (Lines{"signal approve"}));
  crash_all();
  leap(1h - 5s);
  EXPECT_EQ(let_work(id).state, PublicState::suspended);
  leap(6s);
  wait_for_state(id, PublicState::completed);
  EXPECT_EQ(result<std::string>(id), "ann nobody");
}

TEST_F(SignalledTest, SignalsThatCameBeforeAreKept) {
  start_approval();
  const ExecutionId id = create({.kind = "approved", .not_before = time() + 5s});
  approve(id, "ann");
  approve(id, "bob");
  leap(5s);
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(id), "ann bob");
}

TEST_F(SignalledTest, ASignalThatIsSomethingElseIsAFailure) {
  start_approval();
  const ExecutionId id = begin_execution("approved");
  ASSERT_TRUE(run(engine().approve({.execution = id, .waitpoint = "approve", .payload = "\x70"})));
  wait_for_state(id, PublicState::failed);
  const ExecutionInfo info = describe(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("signal 'approve'"), std::string::npos);
}

Task<> counts(WorkflowContext ctx, int* runs) {
  ++*runs;
  std::int64_t done = 0;
  ctx.on_query("progress", [&done](std::int64_t factor) { return done * factor; });
  for (; done < 5; ++done) {
    co_await ctx.step("one", [] {});
    co_await ctx.sleep(10s);
  }
}

TEST_F(WorkerTest, ARunningCoroutineCanBeAsked) {
  int runs = 0;
  start(patient_options(), [&](Worker& worker) {
    worker.on("counts", [&runs](WorkflowContext ctx) { return counts(ctx, &runs); });
    worker.on("plain", [](std::string) {});
  });
  const ExecutionId id = begin_execution("counts");
  for (int i = 0; i < 2; ++i) leap(let_work(id).execution.eligible_at - time());
  let_work(id);
  const auto before = names(id);
  const auto ask = [&](std::string name) {
    return run(worker().query<std::int64_t>(id, std::move(name), std::int64_t{10}));
  };
  EXPECT_EQ(ask("progress").value(), 20);
  EXPECT_EQ(names(id), before) << "a question changes nothing";
  EXPECT_EQ(ask("other").error(), Errc::not_found);
  leap(10s);
  let_work(id);
  EXPECT_EQ(ask("progress").value(), 30);
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(ask("progress").error(), Errc::wrong_state);
  EXPECT_EQ(run(worker().query<int>(begin_execution("plain"), "x")).error(), Errc::not_found);
}

Task<> answers_badly(WorkflowContext ctx) {
  ctx.on_query("bad", [](std::int64_t) -> std::int64_t { throw std::runtime_error("no idea"); });
  ctx.on_query("worse", [](std::int64_t) -> std::int64_t { throw 7; });
  co_await ctx.sleep(10s);
}

TEST_F(WorkerTest, AnAnswerThatIsThrownIsForWhoAsked) {
  start(patient_options(), [](Worker& worker) { worker.on("answers", answers_badly); });
  const ExecutionId id = begin_execution("answers");
  let_work(id);
  for (const auto& [name, what] : {std::pair("bad", "no idea"), std::pair("worse", "no std::")}) {
    const auto answer = run(worker().query<std::int64_t>(id, name, std::int64_t{1}));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), weir::Errc::failed) << answer.error().message();
    EXPECT_NE(answer.error().message().find(what), std::string::npos) << answer.error().message();
  }
  EXPECT_EQ(sleep_through(id).state, PublicState::completed) << "the worker is gone";
}

Task<> begins_late(WorkflowContext ctx) {
  ctx.on_query("is_there", [](std::int64_t number) { return number; });
  co_await ctx.sleep(10s);
  ctx.child<std::string>("offer", Offer{"anna"});
}

TEST_F(WorkerTest, AQuestionBeginsNoChildren) {
  start(patient_options(), [](Worker& worker) {
    worker.on("late", [](WorkflowContext c) { return begins_late(c); });
  });
  const ExecutionId id = begin_execution("late");
  let_work(id);
  ASSERT_TRUE(run(engine().cancel(id, "not needed")));
  leap(20s);
  const auto count = [&] {
    return run(engine().list_executions({}, {}, 100)).value().items.size();
  };
  const std::size_t before = count();
  EXPECT_EQ(run(worker().query<std::int64_t>(id, "is_there", std::int64_t{7})).value(), 7);
  EXPECT_EQ(count(), before);
}

Task<std::string> grows(WorkflowContext ctx, std::string input) {
  co_return co_await ctx.continue_as_new(std::string(3U << 20U, 'x') + input);
}

TEST_F(WorkerTest, WhatIsTooLargeToGoOnWithIsAFailure) {
  start(patient_options(), [](Worker& worker) {
    worker.on("grows", [](WorkflowContext c, std::string s) { return grows(c, std::move(s)); });
  });
  const ExecutionInfo info = let_work(begin_execution("grows", to_payload(std::string("x"))));
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("large"), std::string::npos)
      << info.execution.end_reason;
}

Task<std::int64_t> forever_more(WorkflowContext ctx, Lines* effects, std::int64_t round) {
  co_await ctx.step("work", [effects, round] { effects->push_back(std::to_string(round)); });
  co_await ctx.sleep(2s);
  if (round < 5) co_return co_await ctx.continue_as_new(round + 1);
  co_return round;
}

TEST_F(WorkerTest, ContinuingAsNewBeginsWithAnEmptyJournal) {
  Lines effects;
  start(patient_options(), [&](Worker& worker) {
    worker.on("w", [&effects](WorkflowContext ctx, std::int64_t round) {
      return forever_more(ctx, &effects, round);
    });
  });
  const ExecutionId id = begin_execution("w", to_payload(std::int64_t{1}));
  leap(let_work(id).execution.eligible_at - time());
  let_work(id);
  EXPECT_EQ(names(id), (Lines{"input", "step work", "sleep"}));
  crash_all();
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(result<std::int64_t>(id), 5);
  EXPECT_EQ(effects, (Lines{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(run(engine().journal(id)).value().entries.size(), 3U);
}

Task<std::string> before_patch(WorkflowContext ctx) {
  co_await ctx.step("old", [] {});
  co_await ctx.sleep(5s);
  co_await ctx.step("end", [] {});
  co_return "old";
}
Task<std::string> after_patch(WorkflowContext ctx) {
  const bool is_new = ctx.patched("faster");
  if (is_new) {
    co_await ctx.step("new", [] {});
  } else {
    co_await ctx.step("old", [] {});
  }
  co_await ctx.sleep(5s);
  const std::uint32_t version = ctx.version("ending", 1, 3);
  co_await ctx.step("end", [] {});
  co_return (is_new ? "new " : "old ") + std::to_string(version);
}

TEST_F(WorkerTest, APatchConcernsThoseThatHaveNotPassedIt) {
  start(patient_options(), [](Worker& worker) { worker.on("w", before_patch); });
  const ExecutionId old = begin_execution("w");
  let_work(old);
  deploy([](Worker& worker) { worker.on("w", after_patch); });
  const ExecutionId fresh = begin_execution("w");
  let_work(fresh);
  crash_all();
  EXPECT_EQ(sleep_through(old).state, PublicState::completed);
  EXPECT_EQ(sleep_through(fresh).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(old), "old 3");
  EXPECT_EQ(result<std::string>(fresh), "new 3");
}

Task<std::string> version_is(WorkflowContext ctx, std::uint32_t oldest, std::uint32_t newest) {
  const std::uint32_t version = ctx.version("part", oldest, newest);
  co_await ctx.step("one", [] {});
  co_await ctx.sleep(5s);
  co_return std::to_string(version);
}

TEST_F(WorkerTest, AVersionThatIsGoneFromTheCodeIsNamed) {
  start(patient_options(), [](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return version_is(ctx, 0, 1); });
  });
  const ExecutionId id = create({.kind = "w", .retry = {.retries_max = 0}});
  let_work(id);
  deploy([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return version_is(ctx, 2, 3); });
  });
  const ExecutionInfo info = sleep_through(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("version 1 of 'part' is not between 2 and 3"),
            std::string::npos)
      << info.execution.end_reason;
}

}  // namespace
}  // namespace weir::flow::workflow
