// A race that a thousand ordinary test runs miss, found by simulation.
//
// A shop charges the card and then reserves the item; the bank, once it is paid, tells the
// warehouse to ship. The shop sends both of its messages in one breath, before anybody has answered
// anything, and so the reservation always comes first. Or does it?

#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

#include <weir/runtime/explore.hpp>

namespace {

struct Order {
  int item;
};
struct Charge {
  int item;
};
struct Approve {
  using Reply = bool;
  int item;
};
struct Reserve {
  int item;
};
struct Ship {
  int item;
};
struct Shipped {
  using Reply = int;
};

class Warehouse final : public weir::Actor<Reserve, Ship, Shipped> {
 public:
  void on(Reserve message) { reserved_.insert(message.item); }
  void on(Ship message) { shipped_ += static_cast<int>(reserved_.erase(message.item)); }
  int on(Shipped) const { return shipped_; }

 private:
  std::set<int> reserved_;
  int shipped_ = 0;
};

class FraudCheck final : public weir::Actor<Approve> {
 public:
  bool on(Approve) { return true; }
};

class Bank final : public weir::Actor<Charge> {
 public:
  Bank(weir::RefOf<FraudCheck> fraud_check, weir::ActorRef<Ship> warehouse)
      : fraud_check_(std::move(fraud_check)), warehouse_(std::move(warehouse)) {}

  weir::Task<> on(Charge message) {
    const weir::Result<bool> approved = co_await fraud_check_.ask<Approve>(message.item);
    if (approved && *approved) warehouse_.send<Ship>(message.item);
  }

 private:
  weir::RefOf<FraudCheck> fraud_check_;
  weir::ActorRef<Ship> warehouse_;
};

enum class Sequence { charge_first, reserve_first };

// [shop]
class Shop final : public weir::Actor<Order> {
 public:
  Shop(Sequence sequence, weir::ActorRef<Charge> bank, weir::ActorRef<Reserve> warehouse)
      : sequence_(sequence), bank_(std::move(bank)), warehouse_(std::move(warehouse)) {}

  void on(Order message) {
    if (sequence_ == Sequence::reserve_first) warehouse_.send<Reserve>(message.item);
    bank_.send<Charge>(message.item);
    if (sequence_ == Sequence::charge_first) warehouse_.send<Reserve>(message.item);
  }

 private:
  Sequence sequence_;
  weir::ActorRef<Charge> bank_;
  weir::ActorRef<Reserve> warehouse_;
};
// [/shop]

// [scenario]
weir::Task<int> count_shipped(weir::ActorRef<Shipped> warehouse) {
  co_return (co_await warehouse.ask<Shipped>()).value();
}

void sell_one_item(weir::Simulation& simulation, Sequence sequence) {
  weir::ActorSystem& system = simulation.system();
  auto warehouse = system.spawn<Warehouse>();
  auto bank = system.spawn<Bank>(system.spawn<FraudCheck>(), warehouse);
  auto shop = system.spawn<Shop>(sequence, bank, warehouse);

  shop.send<Order>(1);
  simulation.run_until_idle();

  if (simulation.run(count_shipped(warehouse)) != 1) {
    throw std::runtime_error("an item was paid for and never shipped");
  }
}
// [/scenario]

std::string describe(const weir::ExploreReport& report) {
  const std::string seeds = std::to_string(report.seeds_run);
  return report.has_failed() ? "the item is lost under seed " + std::to_string(*report.failed_seed)
                             : "the item is sold under every seed of " + seeds;
}

}  // namespace

int main() {
  // [explore]
  const weir::ExploreReport charging_first = weir::explore(
      {.seeds = 1000},
      [](weir::Simulation& simulation) { sell_one_item(simulation, Sequence::charge_first); });
  // [/explore]
  const weir::ExploreReport reserving_first = weir::explore(
      {.seeds = 1000},
      [](weir::Simulation& simulation) { sell_one_item(simulation, Sequence::reserve_first); });
  std::printf("charging first:  %s\n", describe(charging_first).c_str());
  std::printf("reserving first: %s\n", describe(reserving_first).c_str());
  return charging_first.has_failed() && !reserving_first.has_failed() ? 0 : 1;
}
