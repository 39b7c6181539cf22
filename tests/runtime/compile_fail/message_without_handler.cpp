// Every message that an actor lists has a handler.

#include <weir/runtime/actor_system.hpp>

struct Deposit {};
struct Withdraw {};

class Account final : public weir::Actor<Deposit, Withdraw> {
 public:
  void on(Deposit) {}
};

void use(weir::ActorSystem& system) { system.spawn<Account>(); }
