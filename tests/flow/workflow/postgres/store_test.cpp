// What only a store that others share can show: engines side by side, a database that goes away,
// rows that were tampered with.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/open.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

TEST_F(StoreTest, OptionsThatMakeNoSenseAreRefusedByName) {
  Options options = options_for(server());
  options.batch_max = 0;
  auto refused = run(postgres::open(&system(), options));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::invalid_argument);
  EXPECT_NE(refused.error().message().find("batch_max"), std::string::npos);
}

TEST_F(StoreTest, ARowThatWasTamperedWithIsNamedAndHarmsNoOther) {
  const Engine engine = open();
  const auto broken = run(engine.create_execution({.kind = "work", .lane = "broken"})).value().id;
  const auto sound = run(engine.create_execution({.kind = "work"})).value().id;
  execute("update workflow_executions set record = '\\x00' where lane = 'broken'");
  std::vector<Error> errors(20);
  run(describe_all(&engine, {broken, sound}, &errors));
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (i % 2 == 1) {
      EXPECT_FALSE(errors[i].code()) << errors[i].message();
      continue;
    }
    EXPECT_EQ(errors[i], Errc::corruption) << errors[i].message();
    EXPECT_NE(errors[i].message().find("workflow_executions.record"), std::string::npos)
        << errors[i].message();
  }
}

TEST_F(StoreTest, ColumnsHoldOnlyTheWordsOfTheirEnumerations) {
  const Engine engine = open();
  run(engine.create_execution({.kind = "work"})).value();
  for (const char* column :
       {"state", "phase", "ownership", "eligibility", "reason", "outcome", "attempt_state"}) {
    EXPECT_THROW(execute(std::string("update workflow_executions set ") + column + " = 'half'"),
                 std::runtime_error)
        << column;
  }
}

TEST_F(StoreTest, TextThatTheDatabaseCannotHoldIsRefused) {
  const Engine engine = open();
  const std::string bad = "\xff";
  auto refused = run(engine.create_execution({.kind = "work", .lane = bad}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::invalid_argument) << refused.error().message();
  // What nobody looks for may be anything.
  EXPECT_TRUE(run(engine.create_execution({.kind = "work", .payload = bad})));
}

TEST_F(StoreTest, EnginesThatComeTogetherMakeTheTablesOnce) {
  std::vector<std::optional<Engine>> engines(4);
  std::vector<std::thread> threads;
  for (auto& engine : engines) {
    threads.emplace_back([&] { engine.emplace(open()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(query("select count(*) from weir_workflow_migrations"),
            std::to_string(internal::migrations().size()));
}

TEST_F(StoreTest, EnginesSideBySideNeverClaimTheSame) {
  const Engine first = open();
  const Engine second = open();
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) {
    run((i % 2 == 0 ? first : second).create_execution({.kind = "work"})).value();
  }
  std::vector<ExecutionId> claimed;
  run(claim_all({&first, &second}, count, &claimed));
  EXPECT_EQ(std::set<ExecutionId>(claimed.begin(), claimed.end()).size(), std::size_t{count});
  EXPECT_EQ(run(first.lane("default")).value().active, std::uint64_t{count});
  EXPECT_EQ(run(second.lane("default")).value().active, std::uint64_t{count});
}

TEST_F(StoreTest, TheLimitOfALaneIsOneForAllEngines) {
  const Engine first = open();
  const Engine second = open();
  for (int i = 0; i < 20; ++i) run(first.create_execution({.kind = "work"})).value();
  ASSERT_TRUE(run(first.set_lane_limit("default", 7)));
  std::vector<ExecutionId> claimed;
  run(claim_all({&first, &second}, 7, &claimed));
  EXPECT_EQ(claimed.size(), 7U);
  EXPECT_TRUE(run(first.claim({.worker = "w"})).value().empty());
  EXPECT_TRUE(run(second.claim({.worker = "w"})).value().empty());
}

TEST_F(StoreTest, AKeyThatTwoEnginesUseAtOnceGivesOneExecution) {
  const Engine first = open();
  const Engine second = open();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "key" + std::to_string(i);
    std::vector<Created> created;
    run(create_twice({&first, &second}, key, &created));
    ASSERT_EQ(created.size(), 2U) << key;
    EXPECT_EQ(created[0].id, created[1].id) << key;
    EXPECT_NE(created[0].is_duplicate, created[1].is_duplicate) << key;
  }
  EXPECT_EQ(query("select count(*) from workflow_executions"), "20");
}

TEST_F(StoreTest, WhoWaitsIsWokenByWhatAnotherEngineMakes) {
  // Nobody looks for himself before the test is over.
  Options patient = options_for(server());
  patient.poll = 10min;
  const Engine waits = run(postgres::open(&system(), patient)).value();
  const Engine makes = run(postgres::open(&system(), patient)).value();
  for (int i = 0; i < 5; ++i) {
    ExecutionId made;
    ExecutionId taken;
    run(make_and_take(&makes, &waits, &made, &taken));
    EXPECT_EQ(made, taken);
  }
}

TEST_F(StoreTest, WhatIsDueInAPartitionOfAnotherEngineIsDoneByThatOne) {
  Options patient = options_for(server());
  patient.poll = 1min;
  patient.ownership = 10min;
  const Engine owner = run(postgres::open(&system(), patient)).value();
  // It owns nothing: the other one has not shared yet.
  execute("update workflow_owners set expires_at = now() + interval '1 hour'");
  const Engine other = run(postgres::open(&system(), patient)).value();
  weir::testing::eventually("the sharing", [&] {
    return query("select count(distinct owner) from workflow_partitions") == "2";
  });
  for (int i = 0; i < 8; ++i) {
    const std::string lane = "lane" + std::to_string(i);
    const auto time = run(now_of(&other));
    const auto id =
        run(other.create_execution({.kind = "work", .lane = lane, .not_before = time + 50ms}))
            .value()
            .id;
    auto claimed = run(other.next({.worker = "w", .lane = lane}));
    ASSERT_TRUE(claimed);
    EXPECT_EQ(claimed->at(0).handle.execution, id);
  }
}

TEST_F(StoreTest, EnginesOfProcessesWithTheSameSeedAreNotTheSame) {
  ActorSystem other{weir::testing::quiet()};
  const Engine first = open();
  const Engine second = other.run(postgres::open(&other, options_for(server()))).value();
  EXPECT_EQ(query("select count(*) from workflow_owners"), "2");
}

TEST_F(StoreTest, PartitionsAreSharedAndThoseOfTheDeadAreTakenOver) {
  const auto owned = [&](const char* text) { return query(text); };
  const Engine first = open();
  EXPECT_EQ(owned("select count(*) from workflow_partitions where owner is not null"), "256");
  auto second = run(internal::PostgresStore::open(&system(), options_for(server()))).value();
  weir::testing::eventually("equal shares", [&] {
    return owned(
               "select string_agg(n::text, ',') from (select count(*) n from workflow_partitions"
               " where owner is not null group by owner) shares") == "128,128";
  });
  const std::string epochs = owned("select sum(epoch) from workflow_partitions");
  second->abandon();
  weir::testing::eventually("the takeover", [&] {
    return owned(
               "select count(*) from workflow_partitions where owner is not null group by owner") ==
           "256";
  });
  EXPECT_NE(owned("select sum(epoch) from workflow_partitions"), epochs);
  // One that is closed gives them up by itself.
  {
    const Engine third = open();
    weir::testing::eventually("equal shares", [&] {
      return owned("select count(distinct owner) from workflow_partitions") == "2";
    });
  }
  EXPECT_EQ(owned("select count(distinct owner) from workflow_partitions"), "1");
}

TEST_F(StoreTest, WhoDoesNotOwnAPartitionAnyMoreDoesNothingThere) {
  const Engine engine = open();
  const auto id = run(engine.create_execution({.kind = "work"})).value().id;
  for (const std::int64_t epoch : {epoch_of(id) - 1, epoch_of(id) + 1}) {
    EXPECT_EQ(cancel_as_owner(id, epoch), Errc::stale_lease) << epoch;
    EXPECT_EQ(query("select state from workflow_executions"), "waiting");
  }
  EXPECT_FALSE(cancel_as_owner(id, epoch_of(id)).code());
  EXPECT_EQ(query("select state from workflow_executions"), "cancelled");
}

TEST_F(StoreTest, NoticesHaveNoGapsForWhoReadsWhileOthersWrite) {
  const Engine first = open();
  const Engine second = open();
  constexpr int count = 100;
  Told told;
  run(work_and_read({&first, &second}, count, &told));
  EXPECT_EQ(told.gaps, 0);
  EXPECT_EQ(told.completions.size(), std::size_t{count});
  for (const auto& [id, times] : told.completions) EXPECT_EQ(times, 1) << to_string(id);
}

TEST_F(StoreTest, OthersWhoAreAlwaysFasterAreGivenUpOn) {
  const Engine engine = open();
  execute(
      "create sequence tries; create function collide() returns trigger language plpgsql as $$"
      " begin perform nextval('test.tries'); raise exception using errcode = '40001'; end $$;"
      " create trigger collide before insert on workflow_executions execute function collide()");
  auto refused = run(engine.create_execution({.kind = "work"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::retry_exhausted) << refused.error().message();
  EXPECT_EQ(query("select last_value from tries"), "3");
  execute("drop trigger collide on workflow_executions");
  EXPECT_TRUE(run(engine.create_execution({.kind = "work"})));
}

TEST_F(StoreTest, WhatWasLostBeforeItsCommitIsDoneAgain) {
  const Engine engine = open();
  execute(
      "create sequence tries; create function die() returns trigger language plpgsql as $$"
      " begin if nextval('test.tries') = 1 then"
      " perform pg_terminate_backend(pg_backend_pid()); end if; return null; end $$;"
      " create constraint trigger die after insert on workflow_executions"
      " deferrable initially deferred for each row execute function die()");
  auto created = run(engine.create_execution({.kind = "work"}));
  ASSERT_TRUE(created) << created.error().message();
  EXPECT_EQ(query("select last_value from tries"), "2");
  EXPECT_EQ(query("select count(*) from workflow_executions"), "1");
}

TEST_F(StoreTest, EnginesRemoveWhatHasEndedEachInItsPartitionsAndOnce) {
  Options options = options_for(server());
  options.poll = 10ms;
  options.retention = {.keep = 1ms, .keep_notices = 1ms, .period = 1ms, .removals_max = 3};
  const Engine first = run(postgres::open(&system(), options)).value();
  const Engine second = run(postgres::open(&system(), options)).value();
  for (int i = 0; i < 40; ++i) {
    const std::string lane = "lane" + std::to_string(i);
    NewGraph graph{.executions = std::vector<NewExecution>(2, {.kind = "w", .lane = lane})};
    if (i % 4 == 0) run(first.create_graph(graph)).value();
    if (i % 4 != 0) run(first.create_execution({.kind = "w", .lane = lane})).value();
    const ClaimRequest all{.worker = "w", .lane = lane, .executions_max = 2};
    for (const Claimed& one : run(second.claim(all)).value()) {
      ASSERT_TRUE(run(second.complete(one.handle)));
    }
  }
  weir::testing::eventually("nothing is left", [&] {
    return query(
               "select (select count(*) from workflow_executions)"
               " + (select count(*) from workflow_ended)"
               " + (select count(*) from workflow_notices)") == "0";
  });
  const EngineReport by_first = run(first.report()).value();
  const EngineReport by_second = run(second.report()).value();
  EXPECT_EQ(by_first.executions_removed + by_second.executions_removed, 50U);
  EXPECT_EQ(by_first.workflows_removed + by_second.workflows_removed, 10U);
  EXPECT_EQ(by_first.removal_errors + by_second.removal_errors, 0U);
  EXPECT_EQ(query("select count(*) from workflow_remains"), "0");
}

TEST_F(StoreTest, WhatWasLostAfterItsCommitIsNotDoneAgain) {
  const Engine engine = open();
  run(engine.create_execution({.kind = "first"})).value();
  // Commits wait for a copy that does not exist; they are done all the same.
  execute("alter system set synchronous_standby_names = 'nobody'");
  execute("select pg_reload_conf()");
  // The server heeds that a little later: until then commits do not wait.
  Result<Created> created = Error(Errc::unavailable);
  int others = 0;
  std::atomic<bool> has_waited = false;
  std::thread caller([&] {
    do {
      created = run(engine.create_execution({.kind = "other"}));
      ++others;
    } while (created && !has_waited);
  });
  weir::testing::eventually("a commit that waits", [&] {
    return query(
               "select count(pg_terminate_backend(pid)) from pg_stat_activity"
               " where wait_event = 'SyncRep' and query = 'commit'") != "0";
  });
  has_waited = true;
  execute("alter system reset synchronous_standby_names");
  execute("select pg_reload_conf()");
  caller.join();
  ASSERT_TRUE(created) << created.error().message();
  EXPECT_EQ(query("select count(*) from workflow_executions"), std::to_string(1 + others));
  EXPECT_TRUE(run(engine.describe(created->id)).value());
}

TEST_F(StoreTest, AServerThatIsRestartedUnderneathIsWaitedFor) {
  const Engine engine = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(engine.create_execution({.kind = "work"})));
    server().restart();
  }
  EXPECT_EQ(run(engine.claim({.worker = "w", .executions_max = 10})).value().size(), 3U);
}

TEST_F(StoreTest, AServerThatStaysAwayIsUnavailable) {
  Options hasty = options_for(server());
  hasty.database.reconnect_budget = 100ms;
  const Engine engine = run(postgres::open(&system(), hasty)).value();
  server().kill();
  auto refused = run(engine.create_execution({.kind = "work"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::unavailable) << refused.error().message();
  EXPECT_EQ(run(engine.notices(1)).error(), Errc::unavailable);
  server().revive();
  weir::testing::eventually(
      "the server", [&] { return run(engine.create_execution({.kind = "work"})).has_value(); });
}

TEST_F(StoreTest, CancellingManyHoldsUpNothingElse) {
  Options fine = options_for(server());
  fine.cancels_max = 1;
  const Engine engine = run(postgres::open(&system(), fine)).value();
  constexpr std::size_t members = 300;
  NewGraph many{.workflow = {.on_failure = FailurePolicy::fail_fast},
                .executions = std::vector<NewExecution>(members, {.kind = "work"})};
  const auto graph = run(engine.create_graph(many)).value();
  const auto cancelled = [&] {
    return run(engine.describe(graph.workflow)).value()->workflow.counts[PublicState::cancelled];
  };
  const Handle handle = run(engine.claim({.worker = "w"})).value().at(0).handle;
  ASSERT_TRUE(run(engine.fail(handle, {.reason = "rain", .is_final = true})));
  weir::testing::eventually("the first of them", [&] { return cancelled() > 0; });
  // Answered by who cancels them.
  EXPECT_TRUE(run(engine.set_aside()).value().empty());
  EXPECT_LT(cancelled(), members - 1);
  weir::testing::eventually("the last of them", [&] { return cancelled() == members - 1; });
}

TEST_F(StoreTest, ARowThatCannotBeReadIsPassedOverAndTold) {
  Options impatient = options_for(server());
  impatient.poll = 20ms;
  const Engine engine = run(postgres::open(&system(), impatient)).value();
  std::vector<ExecutionId> ids;
  for (int priority : {9, 8, 7, 0}) {
    ids.push_back(run(engine.create_execution({.kind = "work", .priority = priority})).value().id);
  }
  const auto tamper = [&](const std::string& table, int priority) {
    execute("update " + table +
            " set record = '\\x00' where key = (select key from"
            " workflow_executions where priority = " +
            std::to_string(priority) + ")");
  };
  tamper("workflow_executions", 9);
  tamper("workflow_execution_specs", 8);
  tamper("workflow_executions", 7);
  const auto graph =
      run(engine.create_graph({.executions = {{.kind = "work", .priority = 6}}})).value();
  execute("update workflow_workflows set record = '\\x00'");
  execute("update workflow_executions set due_at = now() where priority = 7");
  const auto claimed = run(engine.claim({.worker = "w", .lease = 1h, .executions_max = 4}));
  ASSERT_TRUE(claimed) << claimed.error().message();
  ASSERT_EQ(claimed->size(), 1U);
  EXPECT_EQ(claimed->at(0).handle.execution, ids[3]);
  const auto late = run(engine.create_execution(
      {.kind = "work", .lane = "late", .not_before = claimed->at(0).expires_at - 1h + 10ms}));
  weir::testing::eventually("a timer behind them", [&] {
    return run(engine.describe(late.value().id)).value()->state == PublicState::waiting;
  });
  const auto aside = run(engine.set_aside()).value();
  ASSERT_EQ(aside.size(), 4U);
  const std::string member = "execution " + to_string(graph.executions[0]);
  EXPECT_EQ(std::ranges::count(aside, member, &SetAside::what), 1);
  for (const SetAside& one : aside) {
    const std::string table = one.what == member ? "workflow_workflows" : "workflow_execution";
    EXPECT_NE(one.reason.message().find(table), std::string::npos) << one.reason.message();
    EXPECT_NE(one.reason.message().find("record"), std::string::npos) << one.reason.message();
  }
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
