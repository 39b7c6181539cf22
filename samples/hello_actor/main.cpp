// [program]
#include <cstdio>

#include <weir/runtime/actor_system.hpp>

struct Deposit {
  int cents;
};
struct Balance {
  using Reply = int;
};

class Account final : public weir::Actor<Deposit, Balance> {
 public:
  void on(Deposit deposit) { cents_ += deposit.cents; }
  int on(Balance) const { return cents_; }

 private:
  int cents_ = 0;
};

weir::Task<> visit(weir::ActorRef<Deposit, Balance> account) {
  account.send<Deposit>(100);
  const weir::Result<int> cents = co_await account.ask<Balance>();
  std::printf("%d cents\n", cents.value());
}

int main() {
  weir::ActorSystem system;
  system.run(visit(system.spawn<Account>()));
}
// [/program]
