#include <weir/samples/shop/customers.hpp>

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace shop {
namespace {

using namespace std::chrono_literals;
using weir::Result;
using weir::Task;

constexpr int customer_count = 16;
constexpr std::int64_t low_stock = 500;
constexpr std::int64_t delivery_units = 2'000;

/// Those at the front of the list sell better.
Product choose(std::uint64_t random) {
  const std::size_t most = 1 + random % products.size();
  return products[(random >> 32) % most];
}

}  // namespace

// [customer]
Task<> Customer::on(Buy) {
  const auto visit = weir::root_span("visit");  // a trace begins with each
  const Product product = choose(random());
  const auto order = co_await place(product, 1 + static_cast<std::int64_t>(random() % 3));
  const bool changes_mind = random() % 10 == 0;
  if (!changes_mind) (co_await pay(order.value())).value();
}

/// The number and the order are one commit: no number is used twice, whatever crashes.
Task<Result<std::int64_t>> Customer::place(Product product, std::int64_t units) {
  auto rows = database_->begin();
  WEIR_CO_TRY(known, co_await rows.get(tables_.customers, {number_}));
  const std::int64_t orders = 1 + (known ? (*known)[1].as<std::int64_t>() : 0);
  const std::int64_t id = orders * 100 + number_;
  WEIR_CO_TRY_VOID(co_await rows.upsert(tables_.customers, {number_, orders}));
  WEIR_CO_TRY_VOID(co_await rows.insert(
      tables_.orders, {id, store_->time(), product.name, units, units * product.cents, "placed"}));
  WEIR_CO_TRY_VOID(co_await rows.commit());
  co_return id;
}

Task<Result<>> Customer::pay(std::int64_t order) {
  auto rows = database_->begin();
  WEIR_CO_TRY(row, co_await rows.get(tables_.orders, {order}));
  row->back() = "paid";
  WEIR_CO_TRY_VOID(co_await rows.update(tables_.orders, *row));
  WEIR_CO_TRY_VOID(co_await rows.commit());
  co_return {};
}
// [/customer]

Customers let_in(const weir::storage::Store* store, const Database* database,
                 const Tables& tables) {
  Customers customers;
  for (std::int64_t number = 0; number < customer_count; ++number) {
    const weir::SpawnOptions options{.name = "customer " + std::to_string(number),
                                     .mailbox_capacity = 16,
                                     .supervision = weir::Supervision::restart()};
    customers.push_back(store->system().spawn<Customer>(options, store, database, tables, number));
  }
  return customers;
}

Task<Result<>> keep_coming(Customers customers, const Database* database, Tables tables,
                           double orders_per_second) {
  const auto crowd = static_cast<std::int64_t>(100 + 2 * orders_per_second);
  double due = 0;
  std::size_t next = 0;
  for (;;) {
    WEIR_CO_TRY_VOID(co_await weir::sleep_for(50ms));
    WEIR_CO_TRY(open, co_await open_checkouts(database->read(), tables));
    if (open > crowd) continue;
    for (due += orders_per_second / 20; due >= 1; --due) {
      const auto sent = co_await customers[next++ % customers.size()].deliver<Buy>();
      if (!sent) co_return sent.error();
    }
  }
}

// [supplier]
Task<Result<>> deliver(const Database* database, Relation deliveries, std::string product) {
  auto rows = database->begin();
  const auto id = static_cast<std::int64_t>(rows.version().number);
  WEIR_CO_TRY_VOID(co_await rows.insert(deliveries, {id, product, delivery_units}));
  WEIR_CO_TRY_VOID(co_await rows.commit());
  co_return {};
}

Task<Result<>> keep_stocked(const Database* database, Tables tables) {
  WEIR_CO_TRY(stock, database->subscribe(tables.stock, {.with_snapshot = true}));
  std::set<std::string> on_the_way;
  for (;;) {
    WEIR_CO_TRY(delta, co_await stock.next());
    for (std::size_t i = 0; i < delta.changes.size(); ++i) {
      if (delta.changes.weights()[i] < 0) continue;
      const Row row = delta.changes.row(i);
      const auto& product = row[0].as<std::string>();
      const bool is_low = row[1].as<std::int64_t>() < low_stock;
      if (!is_low) on_the_way.erase(product);
      if (is_low && on_the_way.insert(product).second) {
        WEIR_CO_TRY_VOID(co_await deliver(database, tables.deliveries, product));
      }
    }
  }
}
// [/supplier]

}  // namespace shop
