#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <weir/flow/view/database.hpp>

namespace shop {

using weir::flow::view::Database;
using weir::flow::view::Relation;
using weir::flow::view::Row;
using weir::flow::view::Snapshot;

struct Product {
  const char* name;
  std::int64_t cents;
};

inline constexpr std::array products = {
    Product{"teapot", 42'00},    Product{"kettle", 35'50},     Product{"cup", 4'80},
    Product{"saucer", 3'20},     Product{"strainer", 2'90},    Product{"tea, green", 7'50},
    Product{"tea, black", 6'90}, Product{"sugar tongs", 9'00},
};

inline std::int64_t number(const Row& row, std::size_t column) {
  return row[column].as<std::int64_t>();
}

/// All that the shop keeps. The first four are written, the others follow.
struct Tables {
  Relation customers;   // number, orders
  Relation orders;      // id, at, product, units, cents, state: placed or paid
  Relation deliveries;  // id, product, units
  Relation ledger;      // order, entry: charge or ship, receipt, cents, courier

  Relation paid;          // orders that are
  Relation revenue;       // window_start, orders, cents: of each minute
  Relation top_products;  // product, units, cents: the five that sell best
  Relation stock;         // product, units
  Relation totals;        // what: placed, paid, charge or ship; count, cents
};

/// Makes them, or finds those that are there, and waits until the views can be read.
weir::Task<weir::Result<Tables>> open_tables(Database* database, const weir::storage::Store* store);

weir::Task<weir::Result<std::vector<Row>>> all_rows(Snapshot snapshot, Relation relation);

/// How many orders are paid for and have not been shipped.
weir::Task<weir::Result<std::int64_t>> open_checkouts(Snapshot snapshot, Tables tables);

}  // namespace shop
