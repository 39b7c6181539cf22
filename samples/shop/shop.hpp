#pragma once

#include <weir/runtime/task.hpp>
#include <weir/samples/shop/options.hpp>
#include <weir/storage/store.hpp>

namespace shop {

/// Opens the shop, keeps it until it is told to end, and closes it. Whether all is right, as far as
/// that was asked for.
weir::Task<weir::Result<bool>> keep_shop(weir::storage::Store* store, Options options);

}  // namespace shop
