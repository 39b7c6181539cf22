// A phase that no other leads to cannot be entered.

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>

enum class Phase { idle, busy, done };

class Link final : public weir::Actor<>, public weir::Phased<Link, Phase> {
 public:
  static constexpr weir::PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle, .to = {Phase::busy}},
      {.phase = Phase::busy},
  };

  void on_start() { enter<Phase::idle>(); }
};

void use(weir::ActorSystem& system) { system.spawn<Link>(); }
