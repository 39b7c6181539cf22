#pragma once

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/directory.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>

namespace weir::bench::workflows {

/// What cannot fail in a benchmark.
template <class T>
T must(Result<T> result, const char* what) {
  if (result) {
    if constexpr (std::is_void_v<T>) {
      return;
    } else {
      return *std::move(result);
    }
  }
  std::fprintf(stderr, "bench workflows: %s: %s\n", what, result.error().message().c_str());
  std::exit(1);
}

/// An engine on a store in a directory of its own.
struct Subject {
  explicit Subject(::weir::storage::Durability durability)
      : store(must(::weir::storage::Store::open(
                       system, {.directory = directory.path() / "store", .durability = durability}),
                   "open")),
        engine(must(system.run(flow::workflow::Engine::open(&store)), "open the engine")) {}

  storage::Directory directory;
  ActorSystem system{{.threads = static_cast<unsigned>(actors::threads())}};
  ::weir::storage::Store store;
  flow::workflow::Engine engine;
};

}  // namespace weir::bench::workflows
