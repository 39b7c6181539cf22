// A message is sent only to an actor that handles it.

#include <weir/runtime/actor_system.hpp>

struct Deposit {};
struct Withdraw {};

void use(const weir::ActorRef<Deposit>& account) { account.send<Withdraw>(); }
