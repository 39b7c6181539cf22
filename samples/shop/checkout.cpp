#include <weir/samples/shop/checkout.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/compose/database_step.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>

namespace shop {
namespace {

using weir::Result;
using weir::Task;
using weir::flow::compose::step;
using weir::flow::view::Transaction;
using namespace weir::flow::workflow;

struct PaidOrder {
  std::int64_t id = 0;
  std::int64_t cents = 0;
};

// [checkout]
/// Writes to the ledger in the commit that says that the step was done.
Task<Result<>> enter(Transaction* rows, Relation ledger, PaidOrder order, std::string entry,
                     std::string courier) {
  const auto receipt = static_cast<std::int64_t>(rows->version().number);
  co_return co_await rows->insert(ledger, {order.id, entry, receipt, order.cents, courier});
}

/// Survives `kill -9`: what is in its journal is not done again.
Task<> checkout(WorkflowContext ctx, const Database* database, Relation ledger, PaidOrder order) {
  co_await step(ctx, database, "charge", enter, ledger, order, std::string("charge"),
                std::string());
  std::vector<Child<std::string>> offers;
  for (const std::string courier : {"anna", "bert", "carl"}) {
    offers.push_back(ctx.child<std::string>("offer", courier));
  }
  std::string courier = co_await ctx.any_of(offers, OnSatisfied::cancel_remaining);
  co_await step(ctx, database, "ship", enter, ledger, order, std::string("ship"), courier);
}
// [/checkout]

/// Thinks about it for a while; who is first gets the parcel.
Task<Result<std::string>> offer(weir::ActorSystem* system, std::string courier) {
  const auto pause = std::chrono::milliseconds(1 + system->random() % 20);
  WEIR_CO_TRY_VOID(co_await weir::sleep_for(pause));
  co_return courier;
}

}  // namespace

void add_checkout(Worker& worker, weir::ActorSystem* system, const Database* database,
                  const Tables& tables) {
  worker.on("checkout", [database, ledger = tables.ledger](WorkflowContext ctx, PaidOrder order) {
    return checkout(ctx, database, ledger, order);
  });
  worker.on("offer", [system](std::string courier) { return offer(system, std::move(courier)); });
}

// [start]
weir::flow::compose::Start checkout_of_paid_order() {
  return {.name = "checkouts", .kind = "checkout", .payload = [](const Row& paid) {
            const PaidOrder order{paid[0].as<std::int64_t>(), paid[4].as<std::int64_t>()};
            return std::optional(to_payload(order));
          }};
}
// [/start]

}  // namespace shop
