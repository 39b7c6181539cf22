// One trace from a request to its commit, the views it moves, and the execution it begins with all
// of its steps, wherever the process ends in between.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/compose/database_step.hpp>
#include <weir/flow/compose/on_change.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir::flow::compose {
namespace {

using namespace std::chrono_literals;
using telemetry::SpanRecord;
using weir::testing::RecordedSpans;
using workflow::WorkflowContext;

struct Tables {
  view::Relation orders;
  view::Relation ledger;
};

data::SchemaRef schema_of(const char* key, const char* number) {
  auto made = data::Schema::make(
      {{key, data::Kind::text, false}, {number, data::Kind::int64, false}}, {key});
  return std::make_shared<const data::Schema>(*std::move(made));
}

/// What a gateway does with a request that says where it comes from.
Task<Result<>> place_order(const view::Database* database, view::Relation orders,
                           telemetry::TraceContext customer, std::string id) {
  const Span request = remote_span("request", customer);
  view::Transaction rows = database->begin();
  WEIR_CO_TRY_VOID(co_await rows.insert(orders, {id, std::int64_t{900}}));
  WEIR_CO_TRY_VOID(co_await rows.commit());
  co_return {};
}

Task<Result<>> enter(view::Transaction* rows, view::Relation ledger, std::string entry) {
  co_return co_await rows->insert(ledger, {entry, std::int64_t{900}});
}

Task<> charge_and_ship(WorkflowContext ctx, const view::Database* database, view::Relation ledger,
                       std::string order) {
  co_await step(ctx, database, "charge", enter, ledger, "charge " + order);
  const auto offer = ctx.child<std::string>("offer", std::string("anna"));
  static_cast<void>(co_await ctx.result(offer));
  co_await ctx.sleep(10s);
  co_await step(ctx, database, "ship", enter, ledger, "ship " + order);
}

/// A process with all of it, on a disk that outlives it.
class TracedShop {
 public:
  explicit TracedShop(std::string relation)
      : simulation_({.system = {.telemetry = spans.telemetry()}}), relation_(std::move(relation)) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    open();
  }
  ~TracedShop() { close(); }

  void crash() {
    options_.opened_at = store_->time();
    options_.disk->crash();
    options_.disk->repair();
    simulation_.node().crash();
    close();
    simulation_.node().restart();
    open();
  }
  void pass(Duration time) { simulation_.run_for(time); }
  void place(const telemetry::TraceContext& customer, std::string id) {
    simulation_.run(place_order(&*database_, tables_->orders, customer, std::move(id))).value();
  }

  RecordedSpans spans;

 private:
  void open() {
    store_.emplace(storage::Store::open(simulation_.system(), options_).value());
    simulation_.run(open_all()).value();
  }
  Task<Result<>> open_all() {
    WEIR_CO_TRY(database, co_await view::Database::open(&*store_));
    database_.emplace(std::move(database));
    WEIR_CO_TRY(orders,
                co_await database_->create_or_open_table("orders", schema_of("id", "cents")));
    WEIR_CO_TRY(ledger,
                co_await database_->create_or_open_table("ledger", schema_of("entry", "cents")));
    WEIR_CO_TRY_VOID(co_await database_->create_or_open_view(
        "large", from(orders).filter(data::col("cents") > 500)));
    WEIR_CO_TRY_VOID(co_await database_->create_or_open_view(
        "large_at_once", from(orders).filter(data::col("cents") > 500),
        {.update = view::ViewUpdate::transactional}));
    WEIR_CO_TRY_VOID(co_await database_->create_or_open_view(
        "entries", from(ledger).filter(data::col("cents") > 500)));
    tables_.emplace(Tables{orders, ledger});
    WEIR_CO_TRY(engine, co_await workflow::Engine::open(&*store_));
    engine_.emplace(std::move(engine));
    work();
    Start start{.name = "orders", .kind = "checkout", .payload = [](const view::Row& row) {
                  return std::optional(workflow::to_payload(row.at(0).as<std::string>()));
                }};
    WEIR_CO_TRY(starter, co_await on_change(&*engine_, &*database_, relation_, std::move(start)));
    starter_.emplace(std::move(starter));
    co_return {};
  }
  void work() {
    worker_.emplace(&*engine_, workflow::WorkerOptions{.lease = 3s});
    worker_->on("checkout", [database = database_->share(), ledger = tables_->ledger](
                                WorkflowContext ctx, std::string order) {
      return charge_and_ship(ctx, database.get(), ledger, std::move(order));
    });
    worker_->on("offer", [](std::string courier) { return courier; });
    worker_->start();
  }
  void close() {
    starter_.reset();
    worker_.reset();
    engine_.reset();
    tables_.reset();
    database_.reset();
    store_.reset();
  }

  Simulation simulation_;
  const std::string relation_;
  storage::StoreOptions options_;
  std::optional<storage::Store> store_;
  std::optional<view::Database> database_;
  std::optional<Tables> tables_;
  std::optional<workflow::Engine> engine_;
  std::optional<workflow::Worker> worker_;
  std::optional<Follower> starter_;
};

telemetry::TraceContext customer(std::uint8_t number, bool is_sampled = true) {
  telemetry::TraceContext context;
  context.trace.bytes.fill(number);
  context.span.bytes.fill(number);
  context.is_sampled = is_sampled;
  return context;
}

/// The spans of one trace.
class Tree {
 public:
  Tree(const RecordedSpans& spans, const telemetry::TraceContext& root) : root_(root) {
    for (SpanRecord& span : spans.all())
      if (span.context.trace == root.trace) spans_.push_back(std::move(span));
  }
  bool is_empty() const { return spans_.empty(); }
  std::vector<SpanRecord> named(std::string_view name) const {
    std::vector<SpanRecord> found;
    for (const SpanRecord& span : spans_)
      if (span.name == name) found.push_back(span);
    return found;
  }
  /// What is above it, up to the customer, who is not recorded here.
  std::vector<std::string> above(const SpanRecord& span) const {
    std::vector<std::string> names;
    for (telemetry::SpanId parent = span.parent; parent != root_.span;) {
      const auto found = std::ranges::find(
          spans_, parent, [](const SpanRecord& known) { return known.context.span; });
      if (found == spans_.end()) return {"nothing: the trace has a hole"};
      names.push_back(found->name);
      parent = found->parent;
    }
    return names;
  }
  /// Whether all spans of a name, and there are some, are below others in this order.
  bool has(std::string_view name, std::vector<std::string> path) const {
    const auto found = named(name);
    return !found.empty() && std::ranges::all_of(found, [&](const SpanRecord& span) {
      const auto names = above(span);
      auto next = path.begin();
      for (const std::string& passed : names)
        if (next != path.end() && passed == *next) ++next;
      return next == path.end() && !names.empty() && names.back() == "request";
    });
  }

 private:
  telemetry::TraceContext root_;
  std::vector<SpanRecord> spans_;
};

class ComposedTrace : public ::testing::TestWithParam<const char*> {};

TEST_P(ComposedTrace, HoldsARequestAndAllThatBecameOfItAcrossACrash) {
  TracedShop shop(GetParam());
  shop.place(customer(7), "o1");
  shop.pass(5s);
  shop.crash();  // while it sleeps
  shop.pass(30s);
  const Tree tree(shop.spans, customer(7));
  EXPECT_TRUE(tree.has("flow.coordinator.consume", {"request"}));
  EXPECT_TRUE(tree.has("flow.pool.submit", {"flow.coordinator.consume"}));
  EXPECT_TRUE(tree.has("flow.worker.process", {"request"}));
  EXPECT_TRUE(tree.has("flow.on_change", {"request"}));
  EXPECT_TRUE(tree.has("workflow.attempt.checkout", {"flow.on_change"}));
  EXPECT_EQ(tree.named("workflow.attempt.checkout").size(), 2u) << "one before the crash";
  EXPECT_TRUE(tree.has("workflow.step.charge", {"workflow.attempt.checkout"}));
  EXPECT_TRUE(tree.has("workflow.attempt.offer", {"workflow.attempt.checkout"}));
  EXPECT_TRUE(tree.has("workflow.step.ship", {"workflow.attempt.checkout"}));
  EXPECT_EQ(tree.named("workflow.step.charge").size(), 1u);
  EXPECT_EQ(tree.named("workflow.step.ship").size(), 1u);
  // What the steps committed moves views, of their trace.
  const auto consumed = tree.named("flow.coordinator.consume");
  const auto of_step = std::ranges::count_if(consumed, [&](const SpanRecord& span) {
    return std::ranges::count(tree.above(span), "workflow.attempt.checkout") > 0;
  });
  EXPECT_GE(of_step, 2) << "of " << consumed.size();
}

TEST_P(ComposedTrace, OfACustomerWhoIsNotRecordedNothingIs) {
  TracedShop shop(GetParam());
  shop.place(customer(7, false), "o1");
  shop.pass(30s);
  EXPECT_TRUE(Tree(shop.spans, customer(7)).is_empty());
  EXPECT_TRUE(shop.spans.named("workflow.attempt.checkout").empty());
  EXPECT_TRUE(shop.spans.named("workflow.step.ship").empty());
}

TEST_P(ComposedTrace, CustomersOneAfterTheOtherHaveTracesOfTheirOwn) {
  TracedShop shop(GetParam());
  shop.place(customer(7), "o1");
  shop.pass(1s);
  shop.place(customer(8), "o2");
  shop.pass(30s);
  for (std::uint8_t number = 7; number <= 8; ++number) {
    const Tree tree(shop.spans, customer(number));
    EXPECT_EQ(tree.named("workflow.step.ship").size(), 1u) << int{number};
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ComposedTrace, ::testing::Values("orders", "large"),
                         [](const auto& info) {
                           return std::string(info.param) == "orders" ? "ATable" : "AView";
                         });

/// Of what is in the log as part of the commit that caused it.
class ComposedTraceOfACommit : public ::testing::TestWithParam<const char*> {};

TEST_P(ComposedTraceOfACommit, CustomersAtOnceHaveTracesOfTheirOwn) {
  TracedShop shop(GetParam());
  for (std::uint8_t number = 1; number <= 20; ++number)
    shop.place(customer(number), "o" + std::to_string(number));
  shop.pass(30s);
  for (std::uint8_t number = 1; number <= 20; ++number) {
    const Tree tree(shop.spans, customer(number));
    EXPECT_EQ(tree.named("workflow.step.ship").size(), 1u) << int{number};
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ComposedTraceOfACommit, ::testing::Values("orders", "large_at_once"),
                         [](const auto& info) {
                           return std::string(info.param) == "orders" ? "ATable"
                                                                      : "ATransactionalView";
                         });

}  // namespace
}  // namespace weir::flow::compose
