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
/// Three offers, of which one is enough, and then the delivery.
NewGraph parcel() {
  NewGraph graph;
  for (const char* courier : {"anna", "bert", "carl"}) {
    graph.executions.push_back({.kind = "offer", .payload = courier});
  }
  graph.executions.push_back({.kind = "deliver", .payload = "parcel"});
  graph.edges = {{0, 3, "courier"}, {1, 3, "courier"}, {2, 3, "courier"}};
  graph.policies = {{3, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}};
  return graph;
}
// [/graph]

// [worker]
/// Bert has no time; the others agree.
Task<Result<>> work_on(const Engine* engine, Claimed claimed) {
  const std::string& payload = claimed.spec.payload;
  if (claimed.spec.kind == "offer" && payload == "bert") {
    std::printf("  bert has no time\n");
    WEIR_CO_TRY_VOID(co_await engine->fail(claimed.handle, {"no time"}));
  } else if (claimed.spec.kind == "offer") {
    std::printf("  %s agrees\n", payload.c_str());
    co_return co_await engine->complete(claimed.handle, payload);
  } else {
    std::printf("  %s brings the %s\n", claimed.inputs.at(0).payload.c_str(), payload.c_str());
    co_return co_await engine->complete(claimed.handle, "brought");
  }
  co_return {};
}
// [/worker]

Task<Result<>> print(const Engine* engine, WorkflowId id) {
  WEIR_CO_TRY(info, co_await engine->describe(id));
  if (!info) co_return {};
  std::printf("the workflow is %s:\n", std::string(to_string(info->workflow.state)).c_str());
  WEIR_CO_TRY(members, co_await engine->members(id));
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
  // Failures of couriers are no failure of the parcel.
  NewGraph graph = parcel();
  graph.workflow = {.kind = "parcel", .on_failure = FailurePolicy::collect};
  WEIR_CO_TRY(created, co_await engine.create_graph(std::move(graph)));
  // [/open]

  // [loop]
  for (;;) {
    // What an earlier run left is here as well, as soon as its leases have expired.
    WEIR_CO_TRY(claimed, co_await engine.claim({.worker = "couriers", .lease = 5s}));
    if (claimed.empty()) break;
    for (Claimed& one : claimed) WEIR_CO_TRY_VOID(co_await work_on(&engine, std::move(one)));
  }
  // [/loop]
  WEIR_CO_TRY_VOID(co_await print(&engine, created.workflow));
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
