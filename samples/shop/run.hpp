#pragma once

#include <weir/samples/shop/options.hpp>

namespace shop {

/// Keeps the shop until it is told to end. Gives what the process ends with: 0 if all is right.
int run(const Options& options);

}  // namespace shop
