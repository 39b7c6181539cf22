#pragma once

#include <weir/storage/engine/errc.hpp>

namespace weir::storage {

/// Why an operation of the store did not succeed.
using engine::Errc;

}  // namespace weir::storage
