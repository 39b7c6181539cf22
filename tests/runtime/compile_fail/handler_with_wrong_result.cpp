// The handler of a request gives its reply.

#include <weir/runtime/actor_system.hpp>

struct Balance {
  using Reply = int;
};

class Account final : public weir::Actor<Balance> {
 public:
  const char* on(Balance) { return "a lot"; }
};

void use(weir::ActorSystem& system) { system.spawn<Account>(); }
