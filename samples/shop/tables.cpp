#include <weir/samples/shop/tables.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/try.hpp>

namespace shop {
namespace {

using namespace weir::flow::operators;
using weir::Result;
using weir::Task;
using weir::flow::data::col;
using weir::flow::data::Kind;
using weir::flow::data::Schema;
using weir::flow::data::SchemaRef;
using weir::flow::view::Errc;
using weir::flow::view::ViewUpdate;

// [schemas]
SchemaRef of(Result<Schema> schema) { return std::make_shared<const Schema>(schema.value()); }

SchemaRef customers_schema() {
  return of(Schema::make({{"number", Kind::int64, false}, {"orders", Kind::int64, false}},  //
                         {"number"}));
}
SchemaRef orders_schema() {
  return of(Schema::make({{"id", Kind::int64, false},
                          {"at", Kind::timestamp, false},
                          {"product", Kind::text, false},
                          {"units", Kind::int64, false},
                          {"cents", Kind::int64, false},
                          {"state", Kind::text, false}},
                         {"id"}));
}
SchemaRef deliveries_schema() {
  return of(Schema::make(
      {{"id", Kind::int64, false}, {"product", Kind::text, false}, {"units", Kind::int64, false}},
      {"id"}));
}
/// The receipt is another one each time: what was done twice would be there twice.
SchemaRef ledger_schema() {
  return of(Schema::make({{"order", Kind::int64, false},
                          {"entry", Kind::text, false},
                          {"receipt", Kind::int64, false},
                          {"cents", Kind::int64, false},
                          {"courier", Kind::text, false}},
                         {"order", "entry", "receipt"}));
}
// [/schemas]

// [views]
Plan paid_plan(const Relation& orders) { return from(orders).filter(col("state") == "paid"); }

Plan revenue_plan(const Relation& paid) {
  return from(paid)
      .window(tumbling(col("at"), std::chrono::minutes(1)))
      .group_by({"window_start"})
      .aggregate({count().as("orders"), sum(col("cents")).as("cents")});
}
Plan top_products_plan(const Relation& paid) {
  return from(paid)
      .group_by({"product"})
      .aggregate({sum(col("units")).as("units"), sum(col("cents")).as("cents")})
      .take(5, {descending("cents")});
}
Plan stock_plan(const Relation& deliveries, const Relation& paid) {
  auto came = from(deliveries).map({{"product", col("product")}, {"units", col("units")}});
  auto went = from(paid).map({{"product", col("product")}, {"units", -col("units")}});
  return came.append({went}).group_by({"product"}).aggregate({sum(col("units")).as("units")});
}
Plan totals_plan(const Relation& orders, const Relation& ledger) {
  auto said = from(orders).map({{"what", col("state")}, {"cents", col("cents")}});
  auto done = from(ledger).map({{"what", col("entry")}, {"cents", col("cents")}});
  return said.append({done}).group_by({"what"}).aggregate(
      {count().as("count"), sum(col("cents")).as("cents")});
}
// [/views]

/// Part of the commit that pays an order, so that its checkout is of the same trace. A shop that is
/// older has one that follows, and keeps it.
Task<Result<Relation>> open_paid(Database* database, Relation orders) {
  auto paid = co_await database->create_or_open_view("paid", paid_plan(orders),
                                                     {.update = ViewUpdate::transactional});
  if (paid || paid.error() != Errc::already_exists) co_return paid;
  co_return co_await database->relation("paid");
}

}  // namespace

Task<Result<Tables>> open_tables(Database* database, const weir::storage::Store* store) {
  WEIR_CO_TRY(customers, co_await database->create_or_open_table("customers", customers_schema()));
  WEIR_CO_TRY(orders, co_await database->create_or_open_table("orders", orders_schema()));
  WEIR_CO_TRY(deliveries,
              co_await database->create_or_open_table("deliveries", deliveries_schema()));
  WEIR_CO_TRY(ledger, co_await database->create_or_open_table("ledger", ledger_schema()));
  WEIR_CO_TRY(paid, co_await open_paid(database, orders));
  WEIR_CO_TRY(revenue, co_await database->create_or_open_view("revenue", revenue_plan(paid)));
  WEIR_CO_TRY(top_products,
              co_await database->create_or_open_view("top_products", top_products_plan(paid)));
  WEIR_CO_TRY(stock, co_await database->create_or_open_view("stock", stock_plan(deliveries, paid)));
  WEIR_CO_TRY(totals,
              co_await database->create_or_open_view("totals", totals_plan(orders, ledger)));
  for (const Relation& made : {paid, revenue, top_products, stock, totals}) {
    WEIR_CO_TRY_VOID(co_await database->fresh(made, store->version()));
  }
  co_return Tables{customers, orders,       deliveries, ledger, paid,
                   revenue,   top_products, stock,      totals};
}

Task<Result<std::vector<Row>>> all_rows(Snapshot snapshot, Relation relation) {
  std::vector<Row> all;
  auto scan = snapshot.scan(relation);
  for (;;) {
    WEIR_CO_TRY(rows, co_await scan.next());
    if (rows.is_empty()) co_return all;
    for (std::size_t row = 0; row < rows.size(); ++row) all.push_back(rows.row(row));
  }
}

Task<Result<std::int64_t>> open_checkouts(Snapshot snapshot, Tables tables) {
  WEIR_CO_TRY(paid, co_await snapshot.get(tables.totals, {"paid"}));
  WEIR_CO_TRY(shipped, co_await snapshot.get(tables.totals, {"ship"}));
  const auto count = [](const auto& row) {
    return row ? (*row)[1].template as<std::int64_t>() : 0;
  };
  co_return count(paid) - count(shipped);
}

}  // namespace shop
