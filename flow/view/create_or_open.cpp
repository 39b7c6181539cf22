// Tables and views that are made unless they are there already.

#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

namespace {

using internal::RelationEntry;
using internal::RelationKind;
using CoreRef = std::shared_ptr<const internal::DatabaseCore>;

/// What is there must be what was to be made: nobody goes on with other columns, or another query,
/// than the program knows.
struct Wanted {
  std::string name;
  data::SchemaRef schema = {};  // of tables
  std::string plan = {};        // of views
  ViewOptions options = {};
};

Error is_there(const std::string& what) { return Error(Errc::already_exists, what); }

Result<> check_table(const Relation& there, const Wanted& wanted) {
  const RelationKind kind = there.info().entry.kind;
  if (kind != RelationKind::table)
    return is_there("'" + wanted.name + "' is " + internal::to_string(kind));
  if (*there.schema() != *wanted.schema) {
    return is_there("table '" + wanted.name +
                    "' is there with other columns: add, rename or drop some, or open it as it is");
  }
  return {};
}

Result<> check_view(const Relation& there, const Wanted& wanted) {
  const RelationEntry& entry = there.info().entry;
  if (entry.kind != RelationKind::view)
    return is_there("'" + wanted.name + "' is " + internal::to_string(entry.kind));
  if (entry.plan != wanted.plan || entry.row_errors != wanted.options.row_errors ||
      entry.update != wanted.options.update) {
    return is_there("view '" + wanted.name +
                    "' is there with another query or other options: replace it");
  }
  return {};
}

template <Result<> (*Check)(const Relation&, const Wanted&)>
Task<Result<Relation>> make_or_open(CoreRef core, Task<Result<Relation>> making, Wanted wanted) {
  auto made = co_await std::move(making);
  if (made || made.error() != Errc::already_exists) co_return made;
  WEIR_CO_TRY(there, co_await internal::open_relation(core, wanted.name));
  WEIR_CO_TRY_VOID(Check(there, wanted));
  co_return there;
}

}  // namespace

Task<Result<Relation>> Database::create_or_open_table(std::string name, data::SchemaRef schema) {
  auto making = create_table(name, schema);
  return make_or_open<&check_table>(core_, std::move(making), {.name = name, .schema = schema});
}

Task<Result<Relation>> Database::create_or_open_view(std::string name, operators::Plan plan,
                                                     ViewOptions options) {
  auto making = create_view(name, plan, options);
  return make_or_open<&check_view>(core_, std::move(making),
                                   {.name = name, .plan = plan.encode(), .options = options});
}

}  // namespace weir::flow::view
