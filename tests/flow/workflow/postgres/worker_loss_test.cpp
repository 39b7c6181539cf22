// Workers whose database goes away at the wrong moment.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/worker.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

Task<int> one_step(WorkflowContext ctx) {
  co_return co_await ctx.step("one", [] { return 1; });
}

class WorkerLossTest : public StoreTest {
 protected:
  /// The first time that an execution ends, the connection is lost instead.
  void lose_first_end() {
    execute(
        "create sequence ends; create function lose() returns trigger language plpgsql as $$"
        " begin if new.phase = 'terminal' and nextval('test.ends') = 1 then"
        " perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$;"
        " create trigger lose before update on workflow_executions"
        " for each row execute function lose()");
  }
  void wait_for_end(const Engine& engine, const ExecutionId& id) {
    weir::testing::eventually("the end", [&] {
      const auto info = run(engine.describe(id));
      return info && (*info)->execution.has_ended();
    });
  }
};

TEST_F(WorkerLossTest, AResultThatCouldNotBeToldIsNoFailure) {
  Options hasty = options_for(server());
  hasty.losses_max = 1;
  hasty.poll = 20ms;
  const Engine engine = run(postgres::open(&system(), hasty)).value();
  for (const char* kind : {"plain", "durable"}) {
    lose_first_end();
    Worker worker(&engine, {.lease = 200ms});
    worker.on("plain", [](std::string) { return 1; });
    worker.on("durable", one_step);
    worker.start();
    const ExecutionId id = run(engine.create_execution({.kind = kind})).value().id;
    wait_for_end(engine, id);
    const ExecutionInfo info = *run(engine.describe(id)).value();
    EXPECT_EQ(info.state, PublicState::completed) << kind << ": " << info.execution.end_reason;
    EXPECT_EQ(query("select last_value from ends"), "2") << "it was not lost";
    ASSERT_TRUE(run(worker.stop()));
    execute("drop function lose cascade; drop sequence ends");
  }
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
