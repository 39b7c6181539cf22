#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <weir/bench/actors/measure.hpp>

namespace weir::bench::actors::peers {

using Value = std::int64_t;

/// Starts a workload.
using GoAtom = caf::atom_constant<caf::atom("go")>;

/// THREADS workers that steal from each other; everything else as CAF ships it.
class Config : public caf::actor_system_config {
 public:
  Config() {
    set("scheduler.policy", caf::atom("stealing"));
    set("scheduler.max-threads", static_cast<std::size_t>(threads()));
  }
};

/// Lets the main thread wait until an actor says that the workload is done.
class Completion {
 public:
  void announce() { done_.set_value(); }
  void wait() { done_.get_future().wait(); }

 private:
  std::promise<void> done_;
};

/// Ends the program with actors, and what they point to, still in place: the workload is over.
[[noreturn]] inline void end_program() { std::_Exit(0); }

}  // namespace weir::bench::actors::peers
