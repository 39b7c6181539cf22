// A ledger that survives `kill -9`: tellers move money in transactions, an auditor follows the
// change log. Give it a directory, kill it whenever you like, and start it again.

#include <cinttypes>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>
#include <weir/storage/store.hpp>

using weir::storage::Store;
using weir::storage::Transaction;
using weir::storage::Version;

// [rows]
struct Account {
  std::string owner;
  std::int64_t cents = 0;

  static auto weir_fields(auto& self) { return std::tie(self.owner, self.cents); }
};

using Accounts = weir::storage::RowSpace<std::uint64_t, Account>;
// [/rows]

constexpr std::uint64_t account_count = 8;
constexpr std::int64_t opening_cents = 100'00;
constexpr int transfers_of_each_teller = 100;

double in_euros(std::int64_t cents) { return static_cast<double>(cents) / 100; }

weir::Task<weir::Result<>> open_accounts(Transaction& transaction, Accounts accounts) {
  for (std::uint64_t number = 0; number < account_count; ++number) {
    WEIR_CO_TRY(account, co_await transaction.get(accounts, number));
    if (account) continue;
    transaction.put(accounts, number, {"customer " + std::to_string(number), opening_cents});
  }
  co_return {};
}

// [transfer]
weir::Task<weir::Result<>> transfer(Transaction& transaction, Accounts accounts, std::uint64_t from,
                                    std::uint64_t to, std::int64_t cents) {
  WEIR_CO_TRY(payer, co_await transaction.get(accounts, from));
  WEIR_CO_TRY(payee, co_await transaction.get(accounts, to));
  if (!payer || !payee || payer->cents < cents) {
    co_return weir::Error(weir::Errc::invalid_argument, "no cover");
  }
  payer->cents -= cents;
  payee->cents += cents;
  transaction.put(accounts, from, *payer);
  transaction.put(accounts, to, *payee);
  co_return {};
}
// [/transfer]

struct Work {
  using Reply = int;
};

/// Pays from one account to others. Tellers meet: `transact` runs a transfer again that lost.
class Teller final : public weir::Actor<Work> {
 public:
  Teller(Store* store, Accounts accounts, std::uint64_t account)
      : store_(store), accounts_(std::move(accounts)), account_(account) {}

  weir::Task<int> on(Work) {
    int done = 0;
    for (int i = 0; i < transfers_of_each_teller; ++i) {
      const std::uint64_t to = (account_ + 1 + random() % (account_count - 1)) % account_count;
      const auto cents = static_cast<std::int64_t>(1 + random() % 5'00);
      if (co_await transact(store_, {}, &transfer, accounts_, account_, to, cents)) ++done;
    }
    co_return done;
  }

 private:
  Store* store_;
  Accounts accounts_;
  std::uint64_t account_;
};

// [follow]
/// Adds up every change ever made, and remembers how far it has come: across restarts too.
weir::Task<weir::Result<>> audit(Store* store, Accounts accounts, Version until) {
  auto reading = store->begin();
  WEIR_CO_TRY(checkpoint, co_await reading.checkpoint("auditor"));
  Version seen = checkpoint ? checkpoint->version : Version{};
  std::int64_t total = checkpoint ? std::stoll(checkpoint->payload) : 0;
  while (seen < until) {
    WEIR_CO_TRY(records, co_await store->log().next(seen));
    for (const auto& record : records) {
      for (const auto& change : record.of(accounts.id())) {
        const auto account = Accounts::decode(change).value();
        total += (account.after ? account.after->cents : 0) -
                 (account.before ? account.before->cents : 0);
      }
    }
    seen = records.back().version();
  }
  auto writing = store->begin();
  writing.set_checkpoint("auditor", seen, std::to_string(total));
  WEIR_CO_TRY(version, co_await writing.commit());
  std::printf("auditor: %.2f in all accounts at version %" PRIu64 ", noted in version %" PRIu64
              "\n",
              in_euros(total), seen.number, version.number);
  co_return {};
}
// [/follow]

weir::Task<weir::Result<>> run(weir::ActorSystem* system, Store* store) {
  WEIR_CO_TRY(accounts, co_await store->open_rows<std::uint64_t, Account>("accounts"));
  std::printf("ledger: opened at version %" PRIu64 "\n", store->version().number);
  WEIR_CO_TRY_VOID(co_await transact(store, {}, &open_accounts, accounts));
  std::vector<weir::ActorRef<Work>> tellers;
  for (std::uint64_t number = 0; number < 3; ++number)
    tellers.push_back(system->spawn<Teller>(store, accounts, number));
  for (const auto& done : co_await weir::ask_all<Work>(tellers).within(weir::forever))
    std::printf("teller: %d transfers had cover\n", done.value());
  WEIR_CO_TRY_VOID(co_await audit(store, accounts, store->version()));
  const auto reader = store->read();
  auto scan = reader.scan(accounts);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return {};
    std::printf("%s has %.2f\n", row->value.owner.c_str(), in_euros(row->value.cents));
  }
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::printf("usage: %s [directory]\nWithout a directory all is in memory.\n", argv[0]);
    return 2;
  }
  weir::ActorSystem system;
  auto store = Store::open(system, {.directory = argc > 1 ? argv[1] : ""});
  if (!store) {
    std::fprintf(stderr, "ledger: %s\n", store.error().message().c_str());
    return 1;
  }
  const auto done = system.run(run(&system, &*store));
  if (!done) std::fprintf(stderr, "ledger: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
