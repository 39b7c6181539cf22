// A phase has one row.

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>

enum class Phase { idle, busy, done };

class Link final : public weir::Actor<>, public weir::Phased<Link, Phase> {
 public:
  static constexpr weir::PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle, .to = {Phase::busy}},
      {.phase = Phase::busy, .to = {Phase::idle}},
      {.phase = Phase::busy, .to = {Phase::busy}},
  };

  void on_start() {}
};

void use(weir::ActorSystem& system) { system.spawn<Link>(); }
