// A small shop that keeps going: what `./dev run` runs.
//
// Customers are actors that write orders to tables; views follow; each order that is paid for
// begins a durable coroutine, exactly once, which charges it, lets couriers race and ships it. Kill
// it at any moment, and start it again.

#include <cstdio>
#include <exception>

#include <weir/samples/shop/options.hpp>
#include <weir/samples/shop/run.hpp>

int main(int argc, char** argv) {
  const auto options = shop::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr, "shop: %s\n", options.error().message().c_str());
    return 2;
  }
  if (options->asks_for_help) {
    std::fputs(shop::usage, stdout);
    return 0;
  }
  try {
    return shop::run(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shop: %s\n", error.what());
    return 1;
  }
}
