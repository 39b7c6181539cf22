// Transfers between accounts for ever, telling every version that was acknowledged on standard
// output. Made to be killed: `weir_storage_crash_writer <directory> durable|buffered`.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/crash_accounts.hpp>

namespace weir::storage::test {
namespace {

struct Begin {};

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "writer: %s\n", error.message().c_str());
  ::_exit(1);
}

Task<Result<>> transfer(Transaction& transaction, Accounts accounts, std::uint64_t from,
                        std::uint64_t to) {
  WEIR_CO_TRY(source, co_await transaction.get(accounts, from));
  WEIR_CO_TRY(target, co_await transaction.get(accounts, to));
  transaction.put(accounts, from, std::to_string(std::stoll(*source) - 1));
  transaction.put(accounts, to, std::to_string(std::stoll(*target) + 1));
  co_return {};
}

Task<Result<Accounts>> open_accounts(Store* store) {
  WEIR_CO_TRY(accounts, co_await store->open_rows<std::uint64_t, std::string>(accounts_name));
  auto transaction = store->begin();
  WEIR_CO_TRY(first, co_await transaction.get(accounts, 0));
  if (first) co_return accounts;
  for (std::uint64_t key = 0; key < account_count; ++key) {
    transaction.put(accounts, key, std::to_string(account_money));
  }
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return accounts;
}

class Teller final : public Actor<Begin> {
 public:
  Teller(Store* store, Accounts accounts) : store_(store), accounts_(std::move(accounts)) {}

  Task<> on(Begin) {
    for (;;) {
      const std::uint64_t from = random() % account_count;
      const std::uint64_t to = (from + 1 + random() % (account_count - 1)) % account_count;
      const auto version =
          co_await transact(store_, {.attempts_max = 1000}, &transfer, accounts_, from, to);
      if (!version) give_up(version.error());
      const std::string line = std::to_string(version->number) + "\n";
      // One call: whole, or not at all.
      if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(2);
    }
  }

 private:
  Store* store_;
  Accounts accounts_;
};

}  // namespace
}  // namespace weir::storage::test

int main(int argc, char** argv) {
  using namespace weir::storage;
  if (argc != 3) return 64;
  const auto durability = std::string(argv[2]) == "durable"
                              ? Durability::durable()
                              : Durability::buffered(std::chrono::milliseconds(2));
  weir::ActorSystem system({.threads = 2});
  auto store = Store::open(system, test::crash_options(argv[1], durability));
  if (!store) test::give_up(store.error());
  auto accounts = system.run(test::open_accounts(&*store));
  if (!accounts) test::give_up(accounts.error());
  for (int i = 0; i < 4; ++i) system.spawn<test::Teller>(&*store, *accounts).send<test::Begin>();
  for (;;) ::pause();
}
