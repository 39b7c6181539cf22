#include <weir/cli/demo.hpp>

#include <unistd.h>

#include <cstdio>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/errc.hpp>
#include <weir/runtime/error.hpp>
#include <weir/samples/shop/options.hpp>  // tidy: allow layers: the demo is that sample
#include <weir/samples/shop/run.hpp>      // tidy: allow layers: the demo is that sample

namespace weir::cli {
namespace {

/// What is printed goes to standard error until it ends.
class TextAside {
 public:
  explicit TextAside(bool is_wanted) {
    if (!is_wanted) return;
    std::fflush(stdout);
    before_ = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~TextAside() {
    if (before_ < 0) return;
    std::fflush(stdout);
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  TextAside(const TextAside&) = delete;
  TextAside& operator=(const TextAside&) = delete;

 private:
  int before_ = -1;
};

int run_shop(const shop::Options& options, bool is_json) {
  const TextAside aside(is_json);
  return shop::run(options);
}

}  // namespace

Result<> run_demo(const DemoOptions& options, Output& output) {
  shop::Options shop{.directory = options.directory,
                     .begins_anew = options.begins_anew,
                     .orders_per_second = options.orders_per_second,
                     .port = options.port,
                     .verifies = options.verifies};
  if (options.seconds) shop.seconds = std::chrono::seconds(*options.seconds);
  if (shop.directory.empty()) shop.directory = shop::default_directory();
  if (shop.directory.empty()) return Error(Errc::usage, "there is no HOME: say --directory");
  const int code = run_shop(shop, output.is_json());
  if (output.is_json()) {
    output.line(boost::json::serialize(
        boost::json::value{{"directory", shop.directory.string()}, {"right", code == 0}}));
  }
  return code == 0 ? Result<>() : Error(Errc::failed, "the shop did not end as it should");
}

}  // namespace weir::cli
