#include <weir/flow/compose/execution_table.hpp>

#include <memory>

#include <weir/flow/compose/internal/record_table.hpp>

namespace weir::flow::compose {
namespace {

using data::Kind;
using data::Value;
using workflow::PublicState;

struct ExecutionRows {
  using Id = workflow::ExecutionId;
  using Page = workflow::Page<Id>;

  static data::SchemaRef schema() {
    auto made = data::Schema::make({{"id", Kind::text, false},
                                    {"kind", Kind::text, false},
                                    {"lane", Kind::text, false},
                                    {"namespace", Kind::text, false},
                                    {"workflow", Kind::text, true},
                                    {"state", Kind::text, false},
                                    {"attempts", Kind::int64, false},
                                    {"changed_at", Kind::timestamp, false}},
                                   {"id"});
    return std::make_shared<const data::Schema>(*std::move(made));
  }
  static view::Row row_of(const workflow::ExecutionInfo& info) {
    const workflow::Execution& execution = info.execution;
    return {Value(to_string(info.id)),
            Value(info.spec.kind),
            Value(execution.lane),
            Value(execution.space),
            execution.workflow ? Value(to_string(*execution.workflow)) : Value(),
            Value(std::string(to_string(info.state))),
            Value(static_cast<std::int64_t>(execution.attempts)),
            Value(data::Timestamp(execution.changed_at))};
  }
  static std::optional<Id> id_of(const Value& value) {
    const auto id = workflow::parse_execution_id(value.as<std::string>());
    return id ? std::optional(*id) : std::nullopt;
  }
  static std::optional<Id> id_of(const workflow::Notice& notice) {
    if (notice.kind == workflow::NoticeKind::workflow_changed) return std::nullopt;
    return notice.execution;
  }
  static Task<Result<std::map<Id, view::Row>>> read(const workflow::Engine* engine,
                                                    std::vector<Id> ids) {
    WEIR_CO_TRY(infos, co_await engine->executions(std::move(ids)));
    std::map<Id, view::Row> rows;
    for (const workflow::ExecutionInfo& info : infos) rows.emplace(info.id, row_of(info));
    co_return rows;
  }
  /// Of a table that is not new the ends were told of.
  static Task<Result<Page>> list(const workflow::Engine* engine, bool is_new,
                                 std::optional<Id> after, std::size_t limit) {
    workflow::ExecutionFilter filter;
    if (!is_new) {
      using enum PublicState;
      filter.states = {waiting, delayed, rate_limited, waiting_children, active, suspended};
    }
    WEIR_CO_TRY(found, co_await engine->list_executions(std::move(filter), after, limit));
    Page page{{}, found.next};
    for (const workflow::ExecutionSummary& one : found.items) page.items.push_back(one.id);
    co_return page;
  }
};

}  // namespace

Task<Result<Follower>> follow_executions(const workflow::Engine* engine, view::Database* database,
                                         std::string table) {
  return internal::keep_table<ExecutionRows>(engine, database, std::move(table));
}

}  // namespace weir::flow::compose
