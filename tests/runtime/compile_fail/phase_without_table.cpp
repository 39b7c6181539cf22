// A Phased actor declares its phases.

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>

enum class Phase { idle, busy, done };

class Link final : public weir::Actor<>, public weir::Phased<Link, Phase> {
 public:
  void on_start() {}
};

void use(weir::ActorSystem& system) { system.spawn<Link>(); }
