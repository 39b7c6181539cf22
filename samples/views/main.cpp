// A table of orders and two views in a chain, which follow every transaction. Give it a directory,
// and it goes on there when it is started again.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/store.hpp>

namespace data = weir::flow::data;
using data::col;
using weir::Result;
using weir::Task;
using weir::flow::view::Database;
using weir::flow::view::Errc;
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

/// What `making` makes, or what is there already.
Task<Result<Relation>> make_or_open(const Database* database, std::string name,
                                    Task<Result<Relation>> making) {
  auto made = co_await std::move(making);
  if (made || made.error() != Errc::already_exists) co_return made;
  co_return co_await database->relation(std::move(name));
}

// [relations]
Task<Result<Relations>> open_relations(Database* database) {
  WEIR_CO_TRY(orders, co_await make_or_open(database, "orders",
                                            database->create_table("orders", orders_schema())));
  auto large_orders = from(orders).filter(col("cents") >= 1000);
  WEIR_CO_TRY(large, co_await make_or_open(database, "large",
                                           database->create_view("large", large_orders)));
  auto their_items = from(large).map({{"item", col("item")}}).distinct();
  WEIR_CO_TRY(wanted, co_await make_or_open(database, "wanted",
                                            database->create_view("wanted", their_items)));
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

/// Both views once they have seen `version`. Gives the version in which they show it.
// [fresh]
Task<Result<Version>> print_fresh(const Database* database, Relations relations, Version version) {
  WEIR_CO_TRY_VOID(co_await database->fresh(relations.wanted, version));
  const Snapshot now = database->read();
  WEIR_CO_TRY_VOID(co_await print(now, relations.large));
  WEIR_CO_TRY_VOID(co_await print(now, relations.wanted));
  co_return now.version();
}
// [/fresh]

Task<Result<>> run(Store* store) {
  // [open]
  WEIR_CO_TRY(database, co_await Database::open(store));
  WEIR_CO_TRY(relations, co_await open_relations(&database));
  // [/open]
  const Relation& orders = relations.orders;
  std::printf("before:\n");
  WEIR_CO_TRY_VOID(co_await print_fresh(&database, relations, store->version()));

  // [transaction]
  auto placing = database.begin();
  const auto id = static_cast<std::int64_t>(placing.version().number);  // new in every run
  WEIR_CO_TRY_VOID(co_await placing.insert(orders, {id, "apples", 500}));
  WEIR_CO_TRY_VOID(co_await placing.insert(orders, {id + 1, "pears", 2500}));
  WEIR_CO_TRY(placed, co_await placing.commit());
  // [/transaction]
  std::printf("two orders, one of them large:\n");
  WEIR_CO_TRY(then, co_await print_fresh(&database, relations, placed));

  auto growing = database.begin();
  WEIR_CO_TRY_VOID(co_await growing.update(orders, {id, "apples", 1500}));
  WEIR_CO_TRY_VOID(co_await growing.insert(orders, {id + 2, "pears", 9900}));
  WEIR_CO_TRY(grown, co_await growing.commit());
  std::printf("the small one grew, and another was added:\n");
  WEIR_CO_TRY_VOID(co_await print_fresh(&database, relations, grown));

  auto cancelling = database.begin();
  WEIR_CO_TRY_VOID(co_await cancelling.remove(orders, {id}));
  WEIR_CO_TRY_VOID(co_await cancelling.remove(orders, {id + 1}));
  WEIR_CO_TRY(cancelled, co_await cancelling.commit());
  std::printf("the first two were cancelled:\n");
  WEIR_CO_TRY_VOID(co_await print_fresh(&database, relations, cancelled));

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
  if (!store) {
    std::fprintf(stderr, "views: %s\n", store.error().message().c_str());
    return 1;
  }
  const auto done = system.run(run(&*store));
  if (!done) std::fprintf(stderr, "views: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
