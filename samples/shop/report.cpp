#include <weir/samples/shop/report.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <weir/runtime/error.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/samples/shop/countdown.hpp>

namespace shop {
namespace {

using namespace std::chrono_literals;
using weir::Result;
using weir::Task;
using weir::flow::data::Timestamp;

constexpr auto patience = 30s;

/// Adds numbers to the row that begins with this value.
void add(std::vector<Row>& rows, const weir::flow::data::Value& key,
         const std::vector<std::int64_t>& numbers) {
  auto found = std::ranges::find(rows, key, [](const Row& row) { return row[0]; });
  if (found == rows.end()) found = rows.insert(rows.end(), Row{key});
  found->resize(1 + numbers.size(), std::int64_t{0});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    (*found)[1 + i] = number(*found, 1 + i) + numbers[i];
  }
}

/// What the tables say, added up in the plainest way.
struct Recomputed {
  std::vector<Row> revenue;
  std::vector<Row> top_products;
  std::vector<Row> stock;
  std::vector<Row> totals;
};

Recomputed recompute(const std::vector<Row>& orders, const std::vector<Row>& deliveries,
                     const std::vector<Row>& ledger) {
  Recomputed made;
  for (const Row& order : orders) {
    add(made.totals, order[5], {1, number(order, 4)});
    if (order[5] != "paid") continue;
    const Timestamp minute = std::chrono::floor<std::chrono::minutes>(order[1].as<Timestamp>());
    add(made.revenue, minute, {1, number(order, 4)});
    add(made.top_products, order[2], {number(order, 3), number(order, 4)});
    add(made.stock, order[2], {-number(order, 3)});
  }
  for (const Row& delivery : deliveries) add(made.stock, delivery[1], {number(delivery, 2)});
  for (const Row& entry : ledger) add(made.totals, entry[1], {1, number(entry, 3)});
  // Those that earned the most; of two that earned the same, that whose name comes first.
  std::ranges::sort(made.top_products, [](const Row& a, const Row& b) {
    return a[2] != b[2] ? a[2] > b[2] : a[0] < b[0];
  });
  made.top_products.resize(std::min<std::size_t>(made.top_products.size(), 5));
  return made;
}

bool tell(bool is_right, const char* what, std::size_t rows) {
  std::printf("  %-5s  %s: %zu\n", is_right ? "right" : "WRONG", what, rows);
  return is_right;
}

Task<Result<bool>> is_equal(Snapshot snapshot, Relation view, std::vector<Row> expected) {
  WEIR_CO_TRY(rows, co_await all_rows(snapshot, view));
  std::ranges::sort(expected);
  std::ranges::sort(rows);
  co_return tell(rows == expected, view.name().c_str(), rows.size());
}

/// Each paid order, and no other, was charged once and shipped once, at its price.
bool is_exact(const std::vector<Row>& orders, const std::vector<Row>& ledger, const char* what) {
  std::map<std::int64_t, std::int64_t> due;
  for (const Row& order : orders) {
    if (order[5] == "paid") due[number(order, 0)] = number(order, 4);
  }
  std::size_t entries = 0;
  bool is_right = true;
  for (const Row& entry : ledger) {
    if (entry[1] != what) continue;
    ++entries;
    const auto found = due.find(number(entry, 0));
    is_right = is_right && found != due.end() && found->second == number(entry, 3);
    if (found != due.end()) due.erase(found);
  }
  return tell(is_right && due.empty(), what, entries);
}

bool has_all_numbers(const std::vector<Row>& customers, const std::vector<Row>& orders) {
  std::int64_t numbers = 0;
  for (const Row& customer : customers) numbers += number(customer, 1);
  return tell(numbers == static_cast<std::int64_t>(orders.size()), "orders", orders.size());
}

}  // namespace

Task<Result<>> settle(const weir::storage::Store* store, const Database* database, Tables tables) {
  Countdown countdown("checkouts are not done yet");
  std::int64_t least = -1;
  for (auto since = store->time();;) {
    WEIR_CO_TRY_VOID(co_await database->fresh(tables.totals, store->version()));
    WEIR_CO_TRY(open, co_await open_checkouts(database->read(), tables));
    if (open <= 0) break;  // fewer than none: something was shipped twice
    countdown.show(open);
    if (open != least) since = store->time();
    least = open;
    if (store->time() - since > patience) {
      co_return weir::Error(weir::Errc::timed_out,
                            std::to_string(open) + " checkouts do not get on");
    }
    WEIR_CO_TRY_VOID(co_await weir::sleep_for(50ms));
  }
  for (const Relation& view : {tables.revenue, tables.top_products, tables.stock, tables.totals}) {
    WEIR_CO_TRY_VOID(co_await database->fresh(view, store->version()));
  }
  co_return {};
}

Task<Result<bool>> verify(const Database* database, Tables tables) {
  const Snapshot now = database->read();
  WEIR_CO_TRY(customers, co_await all_rows(now, tables.customers));
  WEIR_CO_TRY(orders, co_await all_rows(now, tables.orders));
  WEIR_CO_TRY(deliveries, co_await all_rows(now, tables.deliveries));
  WEIR_CO_TRY(ledger, co_await all_rows(now, tables.ledger));
  const Recomputed made = recompute(orders, deliveries, ledger);

  bool is_right = has_all_numbers(customers, orders);
  is_right = is_exact(orders, ledger, "charge") && is_right;
  is_right = is_exact(orders, ledger, "ship") && is_right;
  WEIR_CO_TRY(revenue, co_await is_equal(now, tables.revenue, made.revenue));
  WEIR_CO_TRY(top_products, co_await is_equal(now, tables.top_products, made.top_products));
  WEIR_CO_TRY(stock, co_await is_equal(now, tables.stock, made.stock));
  WEIR_CO_TRY(totals, co_await is_equal(now, tables.totals, made.totals));
  co_return is_right&& revenue&& top_products&& stock&& totals;
}

}  // namespace shop
