// A small bank that keeps going: customers pay each other while the clerk of the ledger faints.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>

using namespace std::chrono_literals;
using Book = std::vector<int>;

struct Deposit {
  using Reply = void;
  int cents;
};
struct Withdraw {
  using Reply = void;
  int cents;
};
struct Balance {
  using Reply = int;
};

class Account final : public weir::Actor<Deposit, Withdraw, Balance> {
 public:
  explicit Account(int cents) : cents_(cents) {}
  void on(Deposit deposit) { cents_ += deposit.cents; }
  weir::Result<> on(Withdraw withdraw) {
    if (withdraw.cents > cents_) return weir::Error(weir::Errc::invalid_argument, "no cover");
    cents_ -= withdraw.cents;
    return {};
  }
  int on(Balance) const { return cents_; }

 private:
  int cents_;
};

struct Entry {
  int cents;
};

// A restart makes a new clerk. What must survive it, the book, lives outside of the actor.
class Ledger final : public weir::Actor<Entry> {
 public:
  explicit Ledger(std::shared_ptr<Book> book) : book_(std::move(book)) {}
  void on(Entry entry) {
    if (entry.cents == 13'13) throw std::runtime_error("the clerk fainted at 13.13");
    book_->push_back(entry.cents);
  }

 private:
  std::shared_ptr<Book> book_;
};

struct Transfer {
  using Reply = void;
  weir::ActorRef<Withdraw, Deposit> from;
  weir::ActorRef<Deposit> to;
  int cents;
};
struct Heartbeat {};
class Bank final : public weir::Actor<Transfer, Heartbeat> {
 public:
  // A transfer waits for accounts and for the ledger; meanwhile the bank serves others.
  static constexpr bool interleaves = true;

  explicit Bank(const std::shared_ptr<Book>& book) {
    ledger_ = spawn<Ledger>(
        {.name = "ledger", .mailbox_capacity = 4, .supervision = weir::Supervision::restart()},
        book);
    schedule_every<Heartbeat>(50ms);
  }

  weir::Task<weir::Result<>> on(Transfer transfer) {
    WEIR_CO_TRY_VOID(co_await transfer.from.ask<Withdraw>(transfer.cents));
    const auto paid = co_await transfer.to.ask<Deposit>(transfer.cents);
    if (!paid) transfer.from.send<Deposit>(transfer.cents);  // give it back
    ++waiting_;
    co_await ledger_.deliver<Entry>(transfer.cents);  // for room in the ledger's mailbox
    --waiting_;
    ++done_;
    co_return paid;
  }

  void on(Heartbeat) { std::printf("  %d paid, %d wait for the ledger\n", done_, waiting_); }

 private:
  weir::RefOf<Ledger> ledger_;
  int waiting_ = 0;
  int done_ = 0;
};

weir::Task<> pay(weir::ActorRef<Transfer> bank, Transfer transfer) {
  for (int i = 0; i < 100; ++i, ++transfer.cents) {
    (co_await bank.ask<Transfer>(transfer).within(5s)).value();
    (co_await weir::sleep_for(2ms)).value();
  }
}

weir::Task<int> total(std::vector<weir::RefOf<Account>> accounts) {
  int sum = 0;
  for (const auto& balance : co_await weir::ask_all<Balance>(accounts)) sum += balance.value();
  co_return sum;
}

weir::Task<> open_for_business(weir::ActorSystem* system, weir::ActorRef<Transfer> bank) {
  std::vector<weir::RefOf<Account>> accounts;
  for (const char* owner : {"alice", "bob", "carol"}) {
    accounts.push_back(system->spawn<Account>({.name = owner}, 5000'00));
  }
  const int before = co_await total(accounts);

  std::puts("three customers pay each other, a hundred times each");
  weir::TaskScope customers;
  customers.spawn(pay(bank, {accounts[0], accounts[1], 10'00}));
  customers.spawn(pay(bank, {accounts[1], accounts[2], 12'50}));
  customers.spawn(pay(bank, {accounts[2], accounts[0], 15'00}));
  co_await customers.join();
  const int after = co_await total(accounts);
  std::printf("money in the bank: %.2f before, %.2f after\n", before / 100.0, after / 100.0);

  accounts[2].stop();
  const auto sent = accounts[2].send<Deposit>(5'00);
  std::printf("to carol, who has left: %s\n", sent.error().message().c_str());
}

int main() {
  weir::ActorSystem system({.name = "bank"});
  const auto book = std::make_shared<Book>();
  auto counter = system.spawn<Bank>({.name = "bank"}, book);
  system.run(open_for_business(&system, counter));

  std::puts("actor   handled  restarts  last failure");
  for (const weir::ActorInfo& actor : system.actors()) {
    if (actor.name == "task") continue;  // what `run` ran, on its way out
    std::printf("%-6s  %7d  %8d  %s\n", actor.name.c_str(),
                static_cast<int>(actor.messages_handled), static_cast<int>(actor.restarts),
                actor.last_failure.c_str());
  }
  const bool is_clean = system.stop().is_clean();
  std::printf("%zu entries in the book, %d dead letter, stopped %s\n", book->size(),
              static_cast<int>(system.dead_letters().total()), is_clean ? "cleanly" : "by force");
  return is_clean ? 0 : 1;
}
