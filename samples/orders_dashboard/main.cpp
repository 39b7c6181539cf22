// A table of orders, two views in a chain that follow every transaction, and a dashboard that is
// told of each change. Give it a directory, and it goes on there when it is started again.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/store.hpp>

namespace data = weir::flow::data;
using data::col;
using weir::Result;
using weir::Task;
using weir::flow::view::Database;
using weir::flow::view::Relation;
using weir::flow::view::Snapshot;
using weir::storage::Store;
using weir::storage::Version;

// [schema]
data::SchemaRef orders_schema() {
  return std::make_shared<const data::Schema>(data::Schema::make({{"id", data::Kind::int64, false},
                                                                  {"item", data::Kind::text, false},
                                                                  {"cents", data::Kind::int64}},
                                                                 {"id"})
                                                  .value());
}
// [/schema]

struct Relations {
  Relation orders;
  Relation large;
  Relation wanted;
};

// [relations]
Task<Result<Relations>> open_relations(Database* database) {
  WEIR_CO_TRY(orders, co_await database->create_or_open_table("orders", orders_schema()));
  auto large_orders = from(orders).filter(col("cents") >= 1000);
  WEIR_CO_TRY(large, co_await database->create_or_open_view("large", large_orders));
  auto their_items = from(large).map({{"item", col("item")}}).distinct();
  WEIR_CO_TRY(wanted, co_await database->create_or_open_view("wanted", their_items));
  co_return Relations{orders, large, wanted};
}
// [/relations]

// [scan]
Task<Result<>> print(Snapshot snapshot, Relation relation) {
  std::printf("  %s:\n", relation.name().c_str());
  auto scan = snapshot.scan(relation);
  for (;;) {
    WEIR_CO_TRY(rows, co_await scan.next());
    if (rows.is_empty()) co_return {};
    std::printf("%s", to_string(rows).c_str());
  }
}
// [/scan]

/// Both views once they have seen `version`.
// [fresh]
Task<Result<>> print_fresh(const Database* database, Relations relations, Version version) {
  WEIR_CO_TRY_VOID(co_await database->fresh(relations.wanted, version));
  const Snapshot now = database->read();
  WEIR_CO_TRY_VOID(co_await print(now, relations.large));
  co_return co_await print(now, relations.wanted);
}
// [/fresh]

// [subscription]
/// The dashboard: prints what comes into a view and what goes, as it happens, for so many commits.
Task<> watch(const Database* database, Relation relation, int commits) {
  auto subscription = database->subscribe(relation).value();
  for (; commits > 0; --commits) {
    const auto delta = (co_await subscription.next()).value();
    std::printf("%s changes:\n%s", relation.name().c_str(), to_string(delta.changes).c_str());
  }
}
// [/subscription]

Task<Result<>> run(Store* store) {
  // [open]
  WEIR_CO_TRY(database, co_await Database::open(store));
  WEIR_CO_TRY(relations, co_await open_relations(&database));
  // [/open]
  WEIR_CO_TRY_VOID(co_await print_fresh(&database, relations, store->version()));
  const Relation& orders = relations.orders;
  weir::TaskScope dashboard;
  dashboard.spawn(watch(&database, relations.large, 2));

  // [transaction]
  auto placing = database.begin();
  const auto id = static_cast<std::int64_t>(placing.version().number);  // new in every run
  WEIR_CO_TRY_VOID(co_await placing.insert(orders, {id, "apples", 500}));
  WEIR_CO_TRY_VOID(co_await placing.insert(orders, {id + 1, "pears", 2500}));
  WEIR_CO_TRY(placed, co_await placing.commit());
  // [/transaction]
  WEIR_CO_TRY_VOID(co_await database.fresh(relations.wanted, placed));
  const Version then = database.read().version();
  auto growing = database.begin();
  WEIR_CO_TRY_VOID(co_await growing.update(orders, {id, "apples", 1500}));
  WEIR_CO_TRY_VOID(co_await growing.remove(orders, {id + 1}));
  WEIR_CO_TRY(grown, co_await growing.commit());
  co_await dashboard.join();
  WEIR_CO_TRY_VOID(co_await print_fresh(&database, relations, grown));

  // [past]
  WEIR_CO_TRY(past, database.read_at(then));
  std::printf("as it was with two orders:\n");
  WEIR_CO_TRY_VOID(co_await print(past, relations.wanted));
  // [/past]
  co_return co_await database.close();
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::printf("usage: %s [directory]\nWithout a directory all is in memory.\n", argv[0]);
    return 2;
  }
  weir::ActorSystem system;
  // [store]
  auto store = Store::open(system, {.directory = argc > 1 ? argv[1] : "",
                                    .retention = {.history = std::chrono::hours(1)}});
  // [/store]
  const Result<> done = store ? system.run(run(&*store)) : Result<>(store.error());
  if (!done) std::fprintf(stderr, "orders_dashboard: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
