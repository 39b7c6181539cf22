// Transactions: changes of tables, all of them or none.

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/json_value.hpp>
#include <weir/server/internal/relations.hpp>
#include <weir/storage/errc.hpp>

namespace weir::server::internal {
namespace {

namespace view = flow::view;

constexpr std::size_t operations_max = 10'000;
constexpr unsigned attempts_max = 8;

enum class OperationKind : std::uint8_t { insert, update, upsert, append, remove };

struct Operation {
  OperationKind kind;
  Relation table;
  Row values;  // a row, or of `remove` a key
  std::string pointer;
};

Outcome<OperationKind> read_kind(const JsonReader& json) {
  constexpr std::array kinds = std::to_array<std::pair<std::string_view, OperationKind>>(
      {{"insert", OperationKind::insert},
       {"update", OperationKind::update},
       {"upsert", OperationKind::upsert},
       {"append", OperationKind::append},
       {"delete", OperationKind::remove}});
  auto name = json.text();
  if (!name) return std::move(name).error();
  for (const auto& [known, kind] : kinds)
    if (known == *name) return kind;
  return json.refuse("invalid_value", "an operation is insert, update, upsert, append or delete");
}

/// Tables that a request has named so far.
using Tables = std::map<std::string, Relation, std::less<>>;

Task<Outcome<Relation>> open_table(const Call* call, JsonReader json, Tables* tables) {
  WEIR_CO_TRY(text, json.text());
  const std::string name(text);
  if (const auto known = tables->find(name); known != tables->end()) co_return known->second;
  Problem unknown = json.refuse("unknown_relation", "there is no table '" + name + "'");
  if (!call->caller.sees(name)) co_return unknown;
  auto found = co_await call->core->relations.find(name);
  if (!found && found.error() == view::Errc::unknown_relation) co_return unknown;
  if (!found) co_return found.error();
  if (found->is_view())
    co_return json.refuse("not_a_table", "'" + name + "' is a view, which follows its tables");
  tables->emplace(name, *found);
  co_return *std::move(found);
}

Outcome<Row> read_values(const JsonReader& json, OperationKind kind, const Relation& table) {
  if (kind == OperationKind::remove) {
    auto key = json.required("key");
    if (!key) return std::move(key).error();
    return read_key(*key, *table.schema());
  }
  if (table.is_appended() != (kind == OperationKind::append)) {
    return json.refuse_field("op", "append_only",
                             table.is_appended() ? "rows are only appended to this"
                                                 : "rows are inserted into tables, not appended");
  }
  auto row = json.required("row");
  if (!row) return std::move(row).error();
  return read_row(*row, kind == OperationKind::append ? *table.append_schema() : *table.schema());
}

Task<Outcome<Operation>> read_operation(const Call* call, JsonReader json, Tables* tables) {
  WEIR_CO_TRY(op, json.required("op"));
  WEIR_CO_TRY(kind, read_kind(op));
  auto unknown = kind == OperationKind::remove ? json.allow_only({"op", "table", "key"})
                                               : json.allow_only({"op", "table", "row"});
  if (unknown) co_return *std::move(unknown);
  WEIR_CO_TRY(name, json.required("table"));
  WEIR_CO_TRY(table, co_await open_table(call, name, tables));
  WEIR_CO_TRY(values, read_values(json, kind, table));
  co_return Operation{kind, table, std::move(values), json.pointer()};
}

Task<Outcome<std::vector<Operation>>> read_operations(const Call* call) {
  WEIR_CO_TRY(document,
              JsonDocument::parse(call->request->body, call->core->options.limits.json_depth_max));
  const JsonReader root = document.root();
  if (auto unknown = root.allow_only({"operations"})) co_return *std::move(unknown);
  WEIR_CO_TRY(list, root.required("operations"));
  WEIR_CO_TRY(items, list.items());
  if (items.empty() || items.size() > operations_max) {
    co_return list.refuse("invalid_value", "a transaction has 1 to " +
                                               std::to_string(operations_max) + " operations");
  }
  std::vector<Operation> operations;
  Tables tables;
  for (const JsonReader& item : items) {
    WEIR_CO_TRY(operation, co_await read_operation(call, item, &tables));
    operations.push_back(std::move(operation));
  }
  co_return operations;
}

Task<Result<>> run_operation(view::Transaction* transaction, const Operation* operation) {
  switch (operation->kind) {
    case OperationKind::insert: return transaction->insert(operation->table, operation->values);
    case OperationKind::update: return transaction->update(operation->table, operation->values);
    case OperationKind::upsert: return transaction->upsert(operation->table, operation->values);
    case OperationKind::remove: return transaction->remove(operation->table, operation->values);
    case OperationKind::append: break;
  }
  struct Append {
    static Task<Result<>> run(view::Transaction* to, const Operation* what) {
      WEIR_CO_TRY_VOID(co_await to->append(what->table, what->values));
      co_return {};
    }
  };
  return Append::run(transaction, operation);
}

/// One attempt. A problem has its place; a conflict is an error.
Task<Result<Outcome<storage::Version>>> attempt(const Call* call,
                                                const std::vector<Operation>* operations) {
  view::Transaction transaction = call->core->database->begin();
  for (const Operation& operation : *operations) {
    auto done = co_await run_operation(&transaction, &operation);
    if (done) continue;
    if (done.error() == storage::Errc::conflict) co_return done.error();
    Problem problem = problem_of(done.error());
    problem.pointer = operation.pointer;
    co_return Outcome<storage::Version>(std::move(problem));
  }
  WEIR_CO_TRY(version, co_await transaction.commit());
  co_return Outcome<storage::Version>(version);
}

Task<Response> commit(const Call* call) {
  WEIR_CO_TRY(operations, co_await read_operations(call));
  for (unsigned tries = 1;; ++tries) {
    auto outcome = co_await attempt(call, &operations);
    if (!outcome) {
      const bool is_conflict = outcome.error() == storage::Errc::conflict;
      if (!is_conflict || tries == attempts_max) co_return outcome.error();
      // Those who met are not to meet again.
      const std::uint64_t most = 200 << tries;
      const auto pause = std::chrono::microseconds(call->core->system().random() % most);
      WEIR_CO_TRY_VOID(co_await sleep_for(pause));
      continue;
    }
    if (!*outcome) co_return outcome->error();
    const storage::Version version = **outcome;
    std::string text;
    JsonWriter(&text).begin_object().key("version").number(version.number).end_object();
    Response response = Response::json(std::move(text));
    response.version = version.number;
    co_return response;
  }
}

}  // namespace

std::vector<Route> write_routes() {
  return {{.method = "POST",
           .path = "/api/v1/transactions",
           .operation = "commit_transaction",
           .summary = "Changes rows of tables, all of it or nothing.",
           .role = Role::write,
           .request = "Transaction",
           .response = "Committed",
           .handle = &commit}};
}

}  // namespace weir::server::internal
