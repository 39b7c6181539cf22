// Only a request can be asked.

#include <weir/runtime/actor_system.hpp>

struct Deposit {};

weir::Task<> use(weir::ActorRef<Deposit> account) { co_await account.ask<Deposit>(); }
