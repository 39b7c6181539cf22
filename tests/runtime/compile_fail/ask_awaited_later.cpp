// A request borrows its reference: it is awaited in the expression that makes it.

#include <weir/runtime/actor_system.hpp>

struct Balance {
  using Reply = int;
};

weir::Task<int> read(weir::ActorRef<Balance> account) {
  auto request = account.ask<Balance>();
  const auto cents = co_await request;
  co_return *cents;
}
