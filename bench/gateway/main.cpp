// `weir_bench_gateway weir|raw <workload>`: asked by this program itself, over loopback.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/gateway/client.hpp>
#include <weir/bench/gateway/raw.hpp>
#include <weir/flow/data/expression.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::gateway {
namespace {

constexpr const char* row_target = "/api/v1/views/large/rows/1";
constexpr int idle_connections = 2000;
constexpr int slow_connections = 500;

/// A view with some rows behind a gateway.
class WeirServer {
 public:
  WeirServer()
      : store_(storage::Store::open(system_).value()),
        database_(system_.run(flow::view::Database::open(&store_)).value()) {
    using flow::data::col;
    using flow::data::Kind;
    auto schema = std::make_shared<const flow::data::Schema>(
        flow::data::Schema::make(
            {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"cents", Kind::int64}},
            {"id"})
            .value());
    const auto orders = system_.run(database_.create_table("orders", schema)).value();
    const auto large =
        system_.run(database_.create_view("large", from(orders).filter(col("cents") > 1000)))
            .value();
    auto transaction = database_.begin();
    for (int id = 0; id < 1000; ++id)
      system_.run(transaction.insert(orders, {id, "apples", 2000})).value();
    const auto version = system_.run(transaction.commit()).value();
    system_.run(database_.fresh(large, version)).value();
    gateway_ = std::make_unique<server::Gateway>(
        server::Gateway::start({&store_, &database_}, {.port = 0}).value());
  }

  std::uint16_t port() const { return gateway_->port(); }

 private:
  ActorSystem system_{ActorSystemOptions{.threads = static_cast<unsigned>(actors::threads())}};
  storage::Store store_;
  flow::view::Database database_;
  std::unique_ptr<server::Gateway> gateway_;
};

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

Asking asking(std::uint16_t port, int under_way) {
  return {.port = port,
          .target = row_target,
          .under_way = under_way,
          .requests = actors::scaled(200'000)};
}

void measure_rate(std::string_view workload, std::uint16_t port, int under_way) {
  Asking warm = asking(port, under_way);
  warm.requests /= 10;
  ask(warm);
  const Asked asked = ask(asking(port, under_way));
  std::printf("RESULT %s %.0f requests/s p99_us=%.0f\n", workload.data(), asked.per_second,
              asked.p99_us);
}

void measure_slow(std::uint16_t port) {
  const Asked alone = ask(asking(port, 1));
  Sockets slow;
  for (int index = 0; index < slow_connections; ++index)
    slow.add(port, "GET / HTTP/1.1\r\nX-Slow: ", false);
  std::atomic<bool> is_over{false};
  std::thread dripping([&] {
    while (!is_over.load()) {
      slow.send_byte('x');
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const Asked beside = ask(asking(port, 1));
  is_over.store(true);
  dripping.join();
  std::printf("RESULT slow %.0f requests/s p99_ratio=%.3f p99_us=%.0f\n", beside.per_second,
              beside.p99_us / alone.p99_us, beside.p99_us);
}

void measure_idle(std::uint16_t port) {
  const std::string request =
      std::string("GET ") + row_target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Sockets first;
  for (int index = 0; index < 100; ++index) first.add(port, request, true);
  const double before = resident_bytes();
  Sockets idle;
  for (int index = 0; index < idle_connections; ++index) idle.add(port, request, true);
  std::printf("RESULT idle %.0f B\n", (resident_bytes() - before) / idle_connections);
}

int run(std::string_view subject, std::string_view workload) {
  std::unique_ptr<WeirServer> weir;
  std::unique_ptr<RawServer> raw;
  if (subject == "weir") weir = std::make_unique<WeirServer>();
  if (subject == "raw") raw = std::make_unique<RawServer>();
  if (!weir && !raw) return 2;
  const std::uint16_t port = weir ? weir->port() : raw->port();
  if (workload == "get_row") {
    measure_rate(workload, port, 1);
  } else if (workload == "pipelined") {
    measure_rate(workload, port, 16);
  } else if (workload == "slow") {
    measure_slow(port);
  } else if (workload == "idle") {
    measure_idle(port);
  } else {
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench::gateway

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s weir|raw get_row|pipelined|slow|idle\n", arguments[0]);
    return 2;
  }
  return weir::bench::gateway::run(arguments[1], arguments[2]);
}
