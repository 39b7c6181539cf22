#include <weir/flow/compose/workflow_table.hpp>

#include <memory>

#include <weir/flow/compose/internal/record_table.hpp>

namespace weir::flow::compose {
namespace {

using data::Kind;
using data::Value;

struct WorkflowRows {
  using Id = workflow::WorkflowId;
  using Page = workflow::Page<Id>;

  static data::SchemaRef schema() {
    std::vector<data::Field> columns = {{"id", Kind::text, false},
                                        {"kind", Kind::text, false},
                                        {"namespace", Kind::text, false},
                                        {"state", Kind::text, false},
                                        {"progress", Kind::text, false},
                                        {"edges", Kind::int64, false},
                                        {"created_at", Kind::timestamp, false},
                                        {"changed_at", Kind::timestamp, false},
                                        {"ended_at", Kind::timestamp, true}};
    for (const char* state : workflow::words<workflow::PublicState>) {
      columns.push_back({state, Kind::int64, false});
    }
    auto made = data::Schema::make(std::move(columns), {"id"});
    return std::make_shared<const data::Schema>(*std::move(made));
  }
  static view::Row row_of(const workflow::WorkflowInfo& info) {
    const workflow::Workflow& workflow = info.workflow;
    view::Row row = {Value(to_string(info.id)),
                     Value(workflow.kind),
                     Value(workflow.space),
                     Value(std::string(to_string(workflow.state))),
                     Value(std::string(to_string(info.progress))),
                     Value(static_cast<std::int64_t>(workflow.edges)),
                     Value(data::Timestamp(workflow.created_at)),
                     Value(data::Timestamp(workflow.changed_at)),
                     workflow.ended_at ? Value(data::Timestamp(*workflow.ended_at)) : Value()};
    for (const std::uint64_t count : workflow.counts.by_state) {
      row.emplace_back(static_cast<std::int64_t>(count));
    }
    return row;
  }
  static std::optional<Id> id_of(const Value& value) {
    const auto id = workflow::parse_workflow_id(value.as<std::string>());
    return id ? std::optional(*id) : std::nullopt;
  }
  static std::optional<Id> id_of(const workflow::Notice& notice) { return notice.workflow; }
  static Task<Result<std::map<Id, view::Row>>> read(const workflow::Engine* engine,
                                                    std::vector<Id> ids) {
    WEIR_CO_TRY(infos, co_await engine->workflows(std::move(ids)));
    std::map<Id, view::Row> rows;
    for (const workflow::WorkflowInfo& info : infos) rows.emplace(info.id, row_of(info));
    co_return rows;
  }
  static Task<Result<Page>> list(const workflow::Engine* engine, bool /*is_new*/,
                                 std::optional<Id> after, std::size_t limit) {
    return engine->list_workflows(after, limit);
  }
};

}  // namespace

Task<Result<Follower>> follow_workflows(const workflow::Engine* engine, view::Database* database,
                                        std::string table) {
  return internal::keep_table<WorkflowRows>(engine, database, std::move(table));
}

}  // namespace weir::flow::compose
