// `weir_bench_gateway weir|raw <workload>`: asked by this program itself, over loopback.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/gateway/client.hpp>
#include <weir/bench/gateway/raw.hpp>
#include <weir/bench/gateway/server.hpp>
#include <weir/bench/gateway/subscribers.hpp>

namespace weir::bench::gateway {
namespace {

constexpr const char* row_target = "/api/v1/views/large/rows/1";
constexpr int idle_connections = 2000;
constexpr int slow_connections = 500;
constexpr int subscriber_count = 1000;
constexpr std::int64_t changes_per_second = 1000;

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

/// What `requests` see while clients beside them send a header byte by byte.
Asked ask_beside_slow(const Asking& requests) {
  Sockets slow;
  for (int index = 0; index < slow_connections; ++index)
    slow.add(requests.port, "GET / HTTP/1.1\r\nX-Slow: ", false);
  std::atomic<bool> is_over{false};
  std::thread dripping([&] {
    while (!is_over.load()) {
      slow.send_byte('x');
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const Asked asked = ask(requests);
  is_over.store(true);
  dripping.join();
  return asked;
}

/// In turns, so that what disturbs the machine disturbs both.
void measure_slow(std::uint16_t port) {
  constexpr std::size_t turns = 7;
  Asking requests = asking(port, 1);
  requests.requests /= 4;
  ask(requests);
  std::array<double, turns> alone;
  std::array<double, turns> beside;
  std::array<double, turns> rates;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    alone[turn] = ask(requests).p99_us;
    const Asked asked = ask_beside_slow(requests);
    beside[turn] = asked.p99_us;
    rates[turn] = asked.per_second;
  }
  for (auto* figures : {&alone, &beside, &rates}) std::ranges::sort(*figures);
  constexpr std::size_t middle = turns / 2;
  std::printf("RESULT slow %.0f requests/s p99_ratio=%.3f p99_us=%.0f\n", rates[middle],
              beside[middle] / alone[middle], beside[middle]);
}

void measure_idle(std::uint16_t port) {
  const std::string request =
      std::string("GET ") + row_target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Sockets first;
  for (int index = 0; index < 100; ++index) first.add(port, request, true);
  const double before = actors::resident_bytes();
  Sockets idle;
  for (int index = 0; index < idle_connections; ++index) idle.add(port, request, true);
  std::printf("RESULT idle %.0f B\n", (actors::resident_bytes() - before) / idle_connections);
}

/// By `wrk`, which many know, in a process of its own.
void measure_wrk(std::uint16_t port) {
  const int seconds = actors::scale() < 1 ? 1 : 5;
  const std::string command = "wrk --threads 1 --connections 64 --latency --duration " +
                              std::to_string(seconds) +
                              "s http://127.0.0.1:" + std::to_string(port) + row_target;
  std::FILE* output = ::popen(command.c_str(), "r");
  actors::verify(output != nullptr, "wrk was started");
  std::array<char, 256> line;
  double per_second = 0;
  bool has_failures = false;
  while (std::fgets(line.data(), line.size(), output)) {
    const std::string_view text(line.data());
    if (text.starts_with("Requests/sec:")) per_second = std::atof(text.data() + 13);
    has_failures = has_failures || text.find("Non-2xx") != std::string_view::npos ||
                   text.find("Socket errors") != std::string_view::npos;
  }
  actors::verify(::pclose(output) == 0 && per_second > 0 && !has_failures, "wrk got its answers");
  std::printf("RESULT wrk %.0f requests/s\n", per_second);
}

/// Memory is what is there when all has been sent, less what there was before they came: after as
/// many changes without them.
void measure_subscribers(WeirServer& server) {
  const std::int64_t changes = actors::scaled(10'000);
  server.insert(changes, changes_per_second * 10);
  const double before = actors::resident_bytes();
  Subscribers subscribers(server.port(), subscriber_count);
  const double cpu_before = actors::cpu_ns();
  std::thread writer([&] { server.insert(changes, changes_per_second); });
  subscribers.receive(changes);
  writer.join();
  const double seconds = static_cast<double>(changes) / changes_per_second;
  std::printf("RESULT subscribers %.1f ms p50_ms=%.1f max_ms=%.1f bytes_each=%.0f cpus=%.2f\n",
              subscribers.latency_ms(0.99), subscribers.latency_ms(0.5), subscribers.latency_ms(1),
              (actors::resident_bytes() - before) / subscriber_count,
              (actors::cpu_ns() - cpu_before) / 1e9 / seconds);
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
  } else if (workload == "wrk") {
    measure_wrk(port);
  } else if (workload == "subscribers" && weir) {
    measure_subscribers(*weir);
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
    std::fprintf(stderr, "usage: %s weir|raw get_row|wrk|pipelined|slow|idle|subscribers\n",
                 arguments[0]);
    return 2;
  }
  return weir::bench::gateway::run(arguments[1], arguments[2]);
}
