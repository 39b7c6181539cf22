// An order passes through four actors; every step shows in one trace.
//
//     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 weir_sample_traced     # to a collector
//     OTEL_TRACES_EXPORTER=console weir_sample_traced                          # to the terminal

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/telemetry/log_sinks.hpp>
#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace {

using namespace std::chrono_literals;

struct Charge {
  using Reply = int;  // the number of the receipt
  int cents;
};
struct Print {
  int receipt;
};
struct Remind {
  int receipt;
};
struct Order {
  using Reply = int;
  int cents;
};

/// Runs out of paper once, and is restarted.
class Printer final : public weir::Actor<Print> {
 public:
  explicit Printer(bool* has_paper) : has_paper_(has_paper) {}
  void on(Print) {
    if (!std::exchange(*has_paper_, true)) throw std::runtime_error("no paper");
  }

 private:
  bool* has_paper_;
};

class Bank final : public weir::Actor<Charge> {
 public:
  // [span]
  weir::Task<int> on(Charge charge) {
    const auto writing = weir::span("write to the ledger", {{"cents", charge.cents}});
    auto write = [] { return 4711; };  // a call that would block
    co_return *co_await weir::on_blocking_pool(write);
  }
  // [/span]
};

class Shop final : public weir::Actor<Order, Remind> {
 public:
  Shop(weir::RefOf<Bank> bank, weir::RefOf<Printer> printer)
      : bank_(std::move(bank)), printer_(std::move(printer)) {}

  weir::Task<weir::Result<int>> on(Order order) {
    const auto receipt = co_await bank_.ask<Charge>(order.cents);
    if (!receipt) co_return receipt.error();
    printer_.send<Print>(*receipt);
    schedule_once<Remind>(10ms, *receipt);
    co_return *receipt;
  }
  void on(Remind remind) { printer_.send<Print>(remind.receipt); }

 private:
  weir::RefOf<Bank> bank_;
  weir::RefOf<Printer> printer_;
};

weir::Task<> visit(weir::RefOf<Shop> shop, weir::telemetry::Logger* logger) {
  const auto receipt = co_await shop.ask<Order>(250);
  logger->info("ordered", {{"receipt", receipt.value()}});
  static_cast<void>(co_await weir::sleep_for(300ms));  // for what the order causes later
}

void run(weir::telemetry::Telemetry& telemetry) {
  bool has_paper = false;
  weir::ActorSystem system({.telemetry = &telemetry});
  const weir::SpawnOptions restarted{
      .supervision = {.directive = weir::Supervision::Directive::restart}};
  auto printer = system.spawn<Printer>(restarted, &has_paper);
  auto shop = system.spawn<Shop>(system.spawn<Bank>(), printer);
  system.run(visit(shop, &telemetry.logger()));
  system.stop({.drain = 1s, .timeout = 5s});
}

}  // namespace

int main() {
  try {
    const auto options = weir::telemetry::options_from_environment();
    weir::telemetry::Telemetry telemetry(options, weir::telemetry::otel::make_exporters(options),
                                         {weir::telemetry::log_sink()});
    run(telemetry);
    const auto spans = telemetry.span_counts();
    std::printf("%llu spans exported, %llu dropped, %llu not accepted\n",
                static_cast<unsigned long long>(spans.exported),
                static_cast<unsigned long long>(spans.dropped),
                static_cast<unsigned long long>(spans.failed));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
