// A gateway with an engine of workflows and nobody who works: worker.py does that, from outside.

#include <cstdio>
#include <cstdlib>

#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>

namespace {

using weir::flow::view::Database;
using weir::flow::workflow::Engine;
using weir::flow::workflow::NewGraph;
using weir::server::Gateway;

// [graph]
/// Two texts are counted, side by side, and then added up.
NewGraph word_count() {
  NewGraph graph;
  graph.workflow.kind = "word_count";
  graph.executions = {{.kind = "count", .payload = "to be or not to be"},
                      {.kind = "count", .payload = "that is the question"},
                      {.kind = "add"}};
  graph.edges = {{0, 2, "first"}, {1, 2, "second"}};
  return graph;
}
// [/graph]

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8080);
  weir::ActorSystem system;
  auto store = weir::storage::Store::open(system).value();
  auto database = system.run(Database::open(&store)).value();
  auto engine = system.run(Engine::open(&store)).value();
  const auto made = system.run(engine.create_graph(word_count())).value();
  // [gateway]
  auto gateway = Gateway::start({&store, &database, &engine}, {.port = port});
  // [/gateway]
  if (!gateway) {
    std::fprintf(stderr, "%s\n", gateway.error().message().c_str());
    return 1;
  }
  std::printf("%s\nworkflow %s\n", gateway->url().c_str(), to_string(made.workflow).c_str());
  std::printf("serves until its input ends: Ctrl-D\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  static_cast<void>(system.run(gateway->stop()));
  static_cast<void>(system.run(engine.close()));
  static_cast<void>(system.run(database.close()));
  return 0;
}
