// Uses the component `storage_postgres` of the installed package, in the forms that GCC 12 compiles
// correctly.

#include <weir/runtime/check.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/postgres/listener.hpp>
#include <weir/storage/postgres/migrate.hpp>
#include <weir/storage/postgres/pool.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

namespace postgres = weir::storage::postgres;

weir::Task<weir::Result<std::int64_t>> count(postgres::Transaction transaction,
                                             std::vector<std::int64_t> ids) {
  postgres::Statement statement("select count(*) from jobs where id = any($1)", ids);
  auto executing = transaction.execute(std::move(statement));
  WEIR_CO_TRY(rows, co_await std::move(executing));
  co_return rows[0].get<std::int64_t>(0);
}

}  // namespace

int main() {
  weir::ActorSystem system;
  postgres::Options options;
  options.connection = "host=/no/such/directory";
  options.reconnect_budget = std::chrono::milliseconds(1);
  const auto pool = postgres::Pool::open(system, options);
  weir::check(pool.has_value(), "a pool opens without a server");
  const std::vector<std::int64_t> ids{1, 2, 3};
  auto counting = pool->transaction(postgres::Isolation::serializable, &count, ids);
  const auto counted = system.run(std::move(counting));
  weir::check(counted.error() == postgres::Errc::unavailable, "nobody is there");
  std::puts("querying consumer: ok");
}
