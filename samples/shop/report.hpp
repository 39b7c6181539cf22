#pragma once

#include <weir/samples/shop/tables.hpp>
#include <weir/storage/store.hpp>

namespace shop {

/// Waits until every paid order is shipped, and every view shows the newest tables. Nobody may
/// write orders or deliveries meanwhile. An error if the checkouts do not get on.
weir::Task<weir::Result<>> settle(const weir::storage::Store* store, const Database* database,
                                  Tables tables);

/// Computes from the tables what the views and the ledger must be, without any of the operators
/// that keep them, and prints a line for each. Whether all of them are.
weir::Task<weir::Result<bool>> verify(const Database* database, Tables tables);

}  // namespace shop
