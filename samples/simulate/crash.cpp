// Does a payment survive a crash of the bank at any point, and is it still made only once?
//
// A customer asks until it is answered; the ledger writes down a number with each payment, so that
// one that comes again is not made again. The simulation crashes the bank after every step of the
// run, and then, under many seeds, lets everything else go wrong as well.

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/runtime/explore.hpp>

namespace {

using namespace std::chrono_literals;

struct Deposit {
  using Reply = void;
  int number;
  int cents;
};
struct Record {
  using Reply = void;
  int number;
};
struct Begin {};

/// Survives crashes, as actors do not.
struct Disk {
  std::map<int, int> deposits;
};

class Audit final : public weir::Actor<Record> {
 public:
  void on(Record) {}
};

class Ledger final : public weir::Actor<Deposit> {
 public:
  Ledger(Disk* disk, weir::ActorRef<Record> audit) : disk_(disk), audit_(std::move(audit)) {}

  weir::Task<weir::Result<>> on(Deposit deposit) {
    disk_->deposits[deposit.number] = deposit.cents;  // `+=` would pay twice after a crash here
    co_return co_await audit_.ask<Record>(deposit.number);
  }

 private:
  Disk* disk_;
  weir::ActorRef<Record> audit_;
};

class Customer final : public weir::Actor<Begin> {
 public:
  explicit Customer(const weir::ActorRef<Deposit>* ledger) : ledger_(ledger) {}

  weir::Task<> on(Begin) {
    const weir::ActorRef<Deposit> ledger = *ledger_;
    const weir::Result<> answer = co_await ledger.ask<Deposit>(number_, 100).within(1s);
    if (answer) ++number_;
    if (number_ <= 3) schedule_once<Begin>(1ms);
  }

 private:
  int number_ = 1;
  const weir::ActorRef<Deposit>* ledger_;
};

// [scenario]
void crash_after(std::uint64_t steps, weir::Simulation& simulation) {
  Disk disk;
  weir::ActorRef<Deposit> ledger;
  weir::SimulatedNode& bank = simulation.add_node("bank", [&](weir::ActorSystem& system) {
    ledger = system.spawn<Ledger>({.supervision = weir::Supervision::restart()}, &disk,
                                  system.spawn<Audit>());
  });
  simulation.system().spawn<Customer>(&ledger).send<Begin>();

  simulation.run_steps(steps);
  bank.restart();
  simulation.run_until_idle();

  if (disk.deposits != std::map<int, int>{{1, 100}, {2, 100}, {3, 100}}) {
    throw std::runtime_error("wrong after a crash in step " + std::to_string(steps));
  }
}
// [/scenario]

}  // namespace

int main() {
  std::uint64_t steps = 0;
  for (bool is_over = false; !is_over; ++steps) {
    weir::Simulation simulation;
    crash_after(steps, simulation);
    is_over = simulation.steps() < steps;
  }
  std::printf("three payments survive a crash after each of %d steps\n", static_cast<int>(steps));

  // [faults]
  weir::ExploreOptions options{.seeds = 500};
  options.simulation.faults = {
      .actor_crash = 0.1,
      .refused_send = 0.1,
      .late_timer = 0.1,
      .message_time_max = 4ms,
      .applies_to = [](auto type, auto) { return type.ends_with("Ledger"); },
  };
  const weir::ExploreReport report = weir::explore(options, [](weir::Simulation& simulation) {
    crash_after(simulation.random() % 40, simulation);
  });
  // [/faults]
  if (report.has_failed()) return 1;
  std::printf("and anything else that goes wrong, under %d seeds\n",
              static_cast<int>(report.seeds_run));
  return 0;
}
