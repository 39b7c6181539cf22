// A transition that is not declared does not compile when both ends are named.

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>

enum class Phase { idle, busy, done };

class Link final : public weir::Actor<>, public weir::Phased<Link, Phase> {
 public:
  static constexpr weir::PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle, .to = {Phase::busy}},
      {.phase = Phase::busy, .to = {Phase::done}},
      {.phase = Phase::done},
  };

  void on_start() { enter<Phase::idle, Phase::done>(); }
};

void use(weir::ActorSystem& system) { system.spawn<Link>(); }
