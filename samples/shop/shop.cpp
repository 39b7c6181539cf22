#include <weir/samples/shop/shop.hpp>

#include <csignal>
#include <cstdio>
#include <utility>

#include <boost/asio/signal_set.hpp>

#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/asio.hpp>
#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/samples/shop/checkout.hpp>
#include <weir/samples/shop/customers.hpp>
#include <weir/samples/shop/report.hpp>
#include <weir/samples/shop/summary.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/gateway.hpp>

namespace shop {
namespace {

using namespace std::chrono_literals;
using weir::Result;
using weir::Task;
using weir::flow::workflow::Engine;
using weir::flow::workflow::Worker;
using weir::server::Gateway;
using weir::storage::Store;

/// The shop over HTTP, for this machine alone: at the port that was asked for, or else at the usual
/// one, or at any if that is taken.
Result<Gateway> open_gateway(weir::server::Served served, std::optional<std::uint16_t> port) {
  if (port) return Gateway::start(served, {.port = *port});
  Result<Gateway> gateway = Gateway::start(served);
  const bool is_taken = !gateway && gateway.error() == weir::server::Errc::cannot_listen;
  return is_taken ? Gateway::start(served, {.port = 0}) : std::move(gateway);
}

Task<> end_after(std::chrono::seconds time, boost::asio::signal_set* signals) {
  if (co_await weir::sleep_for(time)) signals->cancel();
}

/// Waits for Ctrl-C, SIGTERM or the end of its time. A second Ctrl-C then ends the process at once.
Task<> until_told(weir::ActorSystem* system, std::optional<std::chrono::seconds> time) {
  if (time == 0s) co_return;
  boost::asio::signal_set signals(io_context(*system), SIGINT, SIGTERM);
  weir::TaskScope clock;
  if (time) clock.spawn(end_after(*time, &signals));
  static_cast<void>(co_await signals.async_wait(weir::use_task));
  clock.cancel_all();
  co_await clock.join();
}

/// Until it is cancelled: any other end is a failure, told at once and thrown in the end.
Task<> in_background(Task<Result<>> work) {
  const Result<> ended = co_await std::move(work);
  if (ended || ended.error() == weir::Errc::cancelled) co_return;
  std::fprintf(stderr, "shop: %s\n", ended.error().message().c_str());
  throw weir::ErrorException(ended.error());
}

Task<Result<>> keep_showing(const Store* store, const Database* database, Tables tables,
                            Screen* screen) {
  for (;;) {
    WEIR_CO_TRY(figures, co_await read_figures(store, database, tables));
    screen->show(figures);
    WEIR_CO_TRY_VOID(co_await weir::sleep_for(screen->is_terminal() ? 500ms : 1s));
  }
}

// [trade]
/// Until it is told to end; then nobody writes orders or deliveries any more.
Task<> trade(const Store* store, const Database* database, Tables tables, Options options,
             Screen* screen) {
  const Customers customers = let_in(store, database, tables);
  weir::TaskScope scope;
  scope.spawn(in_background(keep_stocked(database, tables)));
  scope.spawn(in_background(keep_coming(customers, database, tables, options.orders_per_second)));
  scope.spawn(in_background(keep_showing(store, database, tables, screen)));
  co_await until_told(&store->system(), options.seconds);
  scope.cancel_all();
  co_await scope.join();
  static_cast<void>(co_await weir::ask_all<Leave>(customers));
}
// [/trade]

/// Whether all is right once all is done.
Task<Result<bool>> report(const Store* store, const Database* database, Tables tables,
                          Figures begin) {
  std::printf("waiting for the last checkouts\n");
  std::fflush(stdout);
  WEIR_CO_TRY_VOID(co_await settle(store, database, tables));
  WEIR_CO_TRY(end, co_await read_figures(store, database, tables));
  std::printf("processed: %s\n", processed(begin, end).c_str());
  WEIR_CO_TRY(is_right, co_await verify(database, tables));
  std::printf("%s\n", is_right ? "everything is as it should be" : "SOMETHING IS WRONG");
  co_return is_right;
}

}  // namespace

// [keep]
Task<Result<bool>> keep_shop(Store* store, Options options) {
  WEIR_CO_TRY(database, co_await Database::open(store));
  WEIR_CO_TRY(tables, co_await open_tables(&database, store));
  WEIR_CO_TRY(engine, co_await Engine::open(store));
  Worker worker(&engine, {.name = "shop", .lease = 3s, .drain_max = 5s});
  add_checkout(worker, &store->system(), &database, tables);
  worker.start();
  WEIR_CO_TRY(starter, co_await on_change(&engine, &database, "paid", checkout_of_paid_order()));
  WEIR_CO_TRY(begin, co_await read_figures(store, &database, tables));

  WEIR_CO_TRY(gateway, open_gateway({store, &database, &engine}, options.port));
  Screen screen(gateway.url());
  co_await trade(store, &database, tables, options, &screen);

  Result<bool> is_right = true;
  if (options.verifies) is_right = co_await report(store, &database, tables, begin);
  static_cast<void>(co_await gateway.stop());
  WEIR_CO_TRY_VOID(co_await starter.close());
  WEIR_CO_TRY_VOID(co_await worker.stop());
  WEIR_CO_TRY(end, co_await read_figures(store, &database, tables));
  if (!options.verifies) screen.show(end);
  WEIR_CO_TRY_VOID(co_await engine.close());
  WEIR_CO_TRY_VOID(co_await database.close());
  co_return is_right;
}
// [/keep]

}  // namespace shop
