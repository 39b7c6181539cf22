// Uses the component `storage` of the installed package, in the forms that GCC 12 compiles
// correctly.

#include <weir/runtime/check.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>
#include <weir/storage/store.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>

namespace {

using weir::storage::Store;
using weir::storage::Transaction;
using weir::storage::Version;

struct Account {
  std::string owner;
  std::int64_t cents = 0;

  static auto weir_fields(auto& self) { return std::tie(self.owner, self.cents); }
};
using Accounts = weir::storage::RowSpace<std::uint64_t, Account>;

weir::Task<weir::Result<>> deposit(Transaction& transaction, Accounts accounts,
                                   std::int64_t cents) {
  WEIR_CO_TRY(found, co_await transaction.get(accounts, 7));
  // The name is too long to be kept inside the string, so that one destroyed twice is noticed.
  Account account{"an owner with a name of many characters", cents};
  if (found) account.cents += found->cents;
  transaction.put(accounts, 7, account);
  co_return weir::Result<>();
}

weir::Task<weir::Result<std::int64_t>> use_store(Store* store) {
  const std::string name = "accounts";
  auto opening = store->open_rows<std::uint64_t, Account>(name);
  WEIR_CO_TRY(accounts, co_await std::move(opening));
  const weir::storage::RetryOptions options;
  for (std::int64_t cents = 1; cents <= 3; ++cents) {
    auto depositing = weir::storage::transact(store, options, &deposit, accounts, cents);
    WEIR_CO_TRY_VOID(co_await std::move(depositing));
  }
  WEIR_CO_TRY(records, co_await store->log().read(Version{1}));
  weir::check(records.size() == 3, "each commit is in the change log");
  const auto reading = store->read();
  WEIR_CO_TRY(account, co_await reading.get(accounts, 7));
  co_return account->cents;
}

}  // namespace

int main() {
  weir::ActorSystem system;
  auto store = Store::open(system);
  weir::check(store.has_value(), "a store in memory opens");
  const auto cents = system.run(use_store(&*store));
  weir::check(cents && *cents == 6, "what was committed is read");
  std::puts("storing consumer: ok");
}
