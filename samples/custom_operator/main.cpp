// An operator of one's own in a view: readings of sensors that moved by more than half a degree.
// Give it a directory, and it goes on there when it is started again.

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>
#include <weir/samples/custom_operator/moved.hpp>
#include <weir/storage/store.hpp>

namespace view = weir::flow::view;
using sensors::data::Timestamp;
using sensors::data::Value;
using view::Database;
using view::Relation;

Value minute(int number) {
  using namespace std::chrono;
  return Timestamp(sys_days(2026y / May / 1)) + minutes(number);
}

weir::Task<weir::Result<>> print(const Database* database, Relation moves, const char* what) {
  std::printf("%s:\n", what);
  auto snapshot = database->read();
  auto scan = snapshot.scan(moves);
  for (;;) {
    WEIR_CO_TRY(rows, co_await scan.next());
    if (rows.is_empty()) co_return {};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto values = rows.row(row);
      std::printf("  %s %s %.1f\n", values[0].as<std::string>().c_str(),
                  sensors::data::to_string(values[1].as<Timestamp>()).c_str(),
                  values[2].as<double>());
    }
  }
}

/// Writes readings in one transaction, and shows the view that follows.
weir::Task<weir::Result<>> write(const Database* database, Relation readings, Relation moves,
                                 std::vector<view::Row> rows, const char* what) {
  auto transaction = database->begin();
  for (const view::Row& row : rows) WEIR_CO_TRY_VOID(co_await transaction.upsert(readings, row));
  WEIR_CO_TRY(version, co_await transaction.commit());
  WEIR_CO_TRY_VOID(co_await database->fresh(moves, version));
  co_return co_await print(database, moves, what);
}

weir::Task<weir::Result<>> run(weir::storage::Store* store,
                               const sensors::operators::OperatorRegistry* registry) {
  // [view]
  WEIR_CO_TRY(database, co_await Database::open(store, {.library = {.operators = registry}}));
  WEIR_CO_TRY(readings,
              co_await database.create_or_open_table("readings", sensors::readings_schema()));
  auto moved = from(readings).apply("moved", {0.5});
  WEIR_CO_TRY(moves, co_await database.create_or_open_view("moves", moved));
  // [/view]

  const std::vector<view::Row> first = {{"attic", minute(0), 20.0},
                                        {"attic", minute(1), 20.3},
                                        {"attic", minute(2), 20.6},
                                        {"attic", minute(3), 20.9},
                                        {"cellar", minute(0), 8.0}};
  WEIR_CO_TRY_VOID(co_await write(&database, readings, moves, first, "moved"));
  const std::vector<view::Row> correction = {{"attic", minute(1), 21.0}};
  WEIR_CO_TRY_VOID(co_await write(&database, readings, moves, correction,
                                  "after the attic's second reading was corrected"));
  auto transaction = database.begin();
  WEIR_CO_TRY_VOID(co_await transaction.remove(readings, {"attic", minute(0)}));
  WEIR_CO_TRY(version, co_await transaction.commit());
  WEIR_CO_TRY_VOID(co_await database.fresh(moves, version));
  WEIR_CO_TRY_VOID(co_await print(&database, moves, "after its first was removed"));
  co_return co_await database.close();
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::printf("usage: %s [directory]\nWithout a directory all is in memory.\n", argv[0]);
    return 2;
  }
  // [register]
  sensors::operators::OperatorRegistry registry;
  registry.add("moved", &sensors::Moved::make).value();
  // [/register]
  weir::ActorSystem system;
  auto store = weir::storage::Store::open(system, {.directory = argc > 1 ? argv[1] : ""});
  if (!store) {
    std::fprintf(stderr, "custom_operator: %s\n", store.error().message().c_str());
    return 1;
  }
  const auto done = system.run(run(&*store, &registry));
  if (!done) std::fprintf(stderr, "custom_operator: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
