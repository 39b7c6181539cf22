// Three couriers are asked to bring a parcel; the first who agrees gets it, and the others are told
// not to bother. Give it a directory, kill it at any moment with `kill -9`, and start it again: it
// goes on where it was.

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/store.hpp>

using namespace std::chrono_literals;
using weir::Result;
using weir::Task;
using namespace weir::flow::workflow;

// [graph]
/// The same ones when it is started again.
const WorkflowId parcel_id = {.uuid = {{1}}};
const ExecutionId delivery_id = ExecutionId::in_workflow(parcel_id, {{2}});

/// Three offers, of which one is enough, and then the delivery.
NewGraph parcel() {
  NewGraph graph;
  for (const char* courier : {"anna", "bert", "carl"}) {
    graph.executions.push_back({.kind = "offer", .payload = courier});
  }
  graph.executions.push_back({.kind = "deliver", .payload = "parcel", .id = delivery_id});
  graph.edges = {{0, 3, "courier"}, {1, 3, "courier"}, {2, 3, "courier"}};
  graph.policies = {{3, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}};
  // Failures of couriers are no failure of the parcel.
  graph.workflow = {.kind = "parcel", .id = parcel_id, .on_failure = FailurePolicy::collect};
  return graph;
}
// [/graph]

void tell(const std::string& line) {
  std::printf("  %s\n", line.c_str());
  std::fflush(stdout);
}

// [worker]
/// Bert has no time; the others agree.
Task<Result<>> work_on(const Engine* engine, Claimed claimed) {
  const std::string& payload = claimed.spec.payload;
  if (claimed.spec.kind == "offer" && payload == "bert") {
    tell("bert has no time");
    WEIR_CO_TRY_VOID(co_await engine->fail(claimed.handle, {"no time"}));
  } else if (claimed.spec.kind == "offer") {
    tell(payload + " agrees");
    co_return co_await engine->complete(claimed.handle, payload);
  } else {
    tell(claimed.inputs.at(0).payload + " brings the " + payload);
    co_return co_await engine->complete(claimed.handle, "brought");
  }
  co_return {};
}
// [/worker]

Task<Result<>> print(const Engine* engine) {
  WEIR_CO_TRY(members, co_await engine->members(parcel_id));
  // Those who lost the race are cancelled by the engine.
  for (const ExecutionId& member : members.items)
    WEIR_CO_TRY_VOID(co_await engine->wait_for_end({member}));
  WEIR_CO_TRY(parcel, co_await engine->describe(parcel_id));
  std::printf("the workflow is %s:\n", std::string(to_string(parcel->workflow.state)).c_str());
  for (const ExecutionId& member : members.items) {
    WEIR_CO_TRY(execution, co_await engine->describe(member));
    std::printf("  %-8s %-7s %s\n", execution->spec.kind.c_str(), execution->spec.payload.c_str(),
                std::string(to_string(execution->state)).c_str());
  }
  co_return {};
}

Task<Result<>> run(weir::storage::Store* store) {
  // [open]
  WEIR_CO_TRY(engine, co_await Engine::open(store));
  WEIR_CO_TRY(known, co_await engine.describe(parcel_id));  // by an earlier run
  if (!known) WEIR_CO_TRY_VOID(co_await engine.create_graph(parcel()));
  // [/open]

  // [loop]
  for (;;) {
    WEIR_CO_TRY(delivery, co_await engine.describe(delivery_id));
    if (delivery->execution.has_ended()) break;
    // Waits, also until the leases of an earlier run have expired.
    WEIR_CO_TRY(claimed, co_await engine.next({.worker = "couriers", .lease = 2s}));
    for (Claimed& one : claimed) WEIR_CO_TRY_VOID(co_await work_on(&engine, std::move(one)));
  }
  // [/loop]
  WEIR_CO_TRY_VOID(co_await print(&engine));
  co_return co_await engine.close();
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::printf("usage: %s [directory]\nWithout a directory all is in memory.\n", argv[0]);
    return 2;
  }
  weir::ActorSystem system;
  auto store = weir::storage::Store::open(system, {.directory = argc > 1 ? argv[1] : ""});
  const Result<> done = store ? system.run(run(&*store)) : Result<>(store.error());
  if (!done) std::fprintf(stderr, "courier_race: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
