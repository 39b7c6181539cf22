// An order is paid for, waits for its cooling-off time, finds a courier and is shipped: written as
// one coroutine that survives `kill -9`. Give it a directory, kill it at any moment, and start it
// again: it goes on at the step where it was, and the ledger shows each effect once.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/store.hpp>

using namespace std::chrono_literals;
using weir::Result;
using weir::Task;
using weir::storage::Transaction;
using namespace weir::flow::workflow;

struct Order {
  std::string item;
  std::int64_t cents = 0;
};
struct Payment {
  std::uint64_t receipt = 0;
  std::int64_t cents = 0;
};

/// What was done, in the order in which it was: one row for each effect.
using Ledger = weir::storage::RowSpace<std::uint64_t, std::string>;

/// Writes a line in the transaction of a step, and gives its number.
Task<Result<std::uint64_t>> enter(Transaction* transaction, Ledger ledger, std::string line) {
  std::uint64_t number = 1;
  while (true) {
    WEIR_CO_TRY(taken, co_await transaction->get(ledger, number));
    if (!taken) break;
    ++number;
  }
  transaction->put(ledger, number, line);
  std::printf("  trying to %s\n", line.c_str());
  std::fflush(stdout);
  co_return number;
}

// [steps]
Task<Result<Payment>> charge(Transaction* transaction, Ledger ledger, Order order) {
  WEIR_CO_TRY(receipt, co_await enter(transaction, std::move(ledger), "charge " + order.item));
  co_return Payment{receipt, order.cents};
}
Task<Result<std::uint64_t>> refund(Transaction* transaction, const Ledger& ledger,
                                   const Payment& payment) {
  return enter(transaction, ledger, "refund " + std::to_string(payment.cents));
}
Task<Result<std::uint64_t>> ship(Transaction* transaction, const Ledger& ledger, const Order& order,
                                 const std::string& courier) {
  return enter(transaction, ledger, "ship " + order.item + " by " + courier);
}
// [/steps]

// [checkout]
Task<std::string> checkout(WorkflowContext ctx, Ledger ledger, Order order) {
  // What a step writes is committed with the journal: it has happened once, whatever happens.
  Payment payment = co_await ctx.step("charge", charge, ledger, order);
  ctx.compensate("refund", refund, ledger, payment);  // if what follows fails

  co_await ctx.sleep(300ms);  // goes on after a restart, when it is time

  std::vector<Child<std::string>> offers;
  for (const std::string name : {"anna", "bert", "carl"}) {
    offers.push_back(ctx.child<std::string>("offer", name));
  }
  std::string courier = co_await ctx.any_of(offers, OnSatisfied::cancel_remaining);

  auto shipped = co_await ctx.step("ship", ship, ledger, order, courier);
  co_return "receipt " + std::to_string(payment.receipt) + ", shipped as " +
      std::to_string(shipped);
}
// [/checkout]

Task<Result<>> print(weir::storage::Store* store, Ledger ledger) {
  const auto now = store->read();
  auto scan = now.scan(ledger);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return {};
    std::printf("  line %d: %s\n", static_cast<int>(row->key), row->value.c_str());
  }
}

Task<Result<>> run(weir::storage::Store* store) {
  WEIR_CO_TRY(ledger, co_await store->open_rows<std::uint64_t, std::string>("ledger"));
  WEIR_CO_TRY(engine, co_await Engine::open(store));
  // [worker]
  Worker worker(&engine, {.name = "shop", .lease = 1s});
  worker.on("offer", [](std::string courier) {
    std::printf("  %s is asked\n", courier.c_str());
    std::fflush(stdout);
    return courier;
  });
  worker.on("checkout", [ledger](WorkflowContext ctx, Order order) {
    return checkout(ctx, ledger, std::move(order));
  });
  worker.start();
  NewExecution request{.kind = "checkout", .payload = to_payload(Order{"a teapot", 4200})};
  request.idempotency_key = "order 1";  // the same one after a restart
  WEIR_CO_TRY(order, co_await engine.create_execution(std::move(request)));
  WEIR_CO_TRY_VOID(co_await engine.wait_for_end({order.id}));
  WEIR_CO_TRY(receipt, co_await engine.result(order.id));
  // [/worker]
  std::printf("%s, by the ledger:\n", receipt.value_or("it failed").c_str());
  WEIR_CO_TRY_VOID(co_await print(store, ledger));
  WEIR_CO_TRY_VOID(co_await worker.stop());
  co_return co_await engine.close();
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::printf("usage: %s [directory]\nWithout a directory all is in memory.\n", argv[0]);
    return 2;
  }
  weir::ActorSystem system;
  auto store = weir::storage::Store::open(system, {.directory = argc > 1 ? argv[1] : ""});
  const Result<> done = store ? system.run(run(&*store)) : Result<>(store.error());
  if (!done) std::fprintf(stderr, "checkout: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
