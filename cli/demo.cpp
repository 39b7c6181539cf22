#include <weir/cli/demo.hpp>

#include <weir/cli/errc.hpp>
#include <weir/runtime/error.hpp>
#include <weir/samples/shop/options.hpp>  // tidy: allow layers: the demo is that sample
#include <weir/samples/shop/run.hpp>      // tidy: allow layers: the demo is that sample

namespace weir::cli {

Result<> run_demo(const DemoOptions& options, Output& /*output*/) {
  shop::Options shop{.directory = options.directory,
                     .begins_anew = options.begins_anew,
                     .orders_per_second = options.orders_per_second,
                     .port = options.port,
                     .verifies = options.verifies};
  if (options.seconds) shop.seconds = std::chrono::seconds(*options.seconds);
  if (shop.directory.empty()) shop.directory = shop::default_directory();
  if (shop.directory.empty()) return Error(Errc::usage, "there is no HOME: say --directory");
  const int code = shop::run(shop);
  return code == 0 ? Result<>() : Error(Errc::failed, "the shop did not end as it should");
}

}  // namespace weir::cli
