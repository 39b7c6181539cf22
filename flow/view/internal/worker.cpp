#include <weir/flow/view/internal/worker.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/span.hpp>

namespace weir::flow::view::internal {
namespace {

/// The rows that are part of the flow already.
data::ChangeBatch covered(const data::ChangeBatch& batch, const RelationInfo& relation,
                          const Backfill& backfill) {
  if (backfill.is_done) return batch;
  std::vector<std::uint32_t> rows;
  std::string key;
  for (std::uint32_t row = 0; row < batch.size(); ++row) {
    key.clear();
    relation.format.encode_key(batch.columns(), row, key);
    if (backfill.covers(key)) rows.push_back(row);
  }
  return batch.take(rows);
}

/// The columns that the source was defined with, whatever has been done to the table since.
Result<data::ChangeBatch> project(const data::ChangeBatch& batch, const RelationInfo& relation,
                                  const SourceEntry& source, const data::SchemaRef& schema) {
  data::Columns columns;
  for (const std::uint32_t id : source.columns) {
    const auto& layout = relation.entry.layouts.back();
    const auto at = std::ranges::find(layout, id, &ColumnEntry::id);
    if (at == layout.end())
      return Error(Errc::corruption, "'" + relation.entry.name + "' has lost a column");
    columns.push_back(batch.columns()[static_cast<std::size_t>(at - layout.begin())]);
  }
  return batch.with_columns(schema, std::move(columns));
}

}  // namespace

Result<FlowTraits> Worker::on(AddFlow add) {
  const std::uint64_t id = add.definition->id();
  auto flow = Flow::make(std::move(add.definition), options_, FlowStateReader(store_, state_, id),
                         add.is_new);
  if (!flow) return std::move(flow).error();
  const FlowTraits traits = (*flow)->traits();
  flows_.insert_or_assign(id, *std::move(flow));
  return traits;
}

Task<std::vector<FlowOutcome>> Worker::on(RunFlows cycle) {
  std::vector<FlowOutcome> outcomes;
  Produced produced;
  std::set<std::uint64_t> failed;
  for (const FlowTask& task : cycle.tasks) {
    const auto at = flows_.find(task.flow);
    if (at == flows_.end()) {
      outcomes.push_back({task.flow, Error(weir::Errc::not_found, "the worker was restarted")});
      failed.insert(task.flow);
      continue;
    }
    Flow& flow = *at->second;
    const auto& sources = flow.definition().sources();
    const auto broken = std::ranges::find_if(
        sources, [&](const SourceEntry& source) { return failed.contains(source.relation); });
    if (broken != sources.end()) {
      outcomes.push_back({task.flow, Error(weir::Errc::cancelled,
                                           "its source '" + broken->name + "' has failed")});
      failed.insert(task.flow);
      continue;
    }
    auto inputs = inputs_of(flow, task, *cycle.changes, produced);
    if (inputs && inputs->empty() && !task.tick) continue;
    ran_.insert(task.flow);
    Result<FlowResult> result = inputs ? co_await run(&flow, {*std::move(inputs), task.tick})
                                       : Result<FlowResult>(inputs.error());
    if (result) {
      produced.insert_or_assign(task.flow, result->changes);
    } else {
      failed.insert(task.flow);
    }
    outcomes.push_back({task.flow, std::move(result)});
  }
  co_return outcomes;
}

Result<std::vector<Flow::Input>> Worker::inputs_of(const Flow& flow, const FlowTask& task,
                                                   const std::vector<RelationChanges>& changes,
                                                   const Produced& produced) const {
  std::vector<Flow::Input> inputs;
  const auto& sources = flow.definition().sources();
  for (std::size_t index = 0; index < sources.size(); ++index) {
    const SourceEntry& source = sources[index];
    for (const auto& [of, relation, batch] : task.chunks) {
      if (of != index) continue;
      auto projected = project(batch, *relation, source, flow.source_schema(index));
      if (!projected) return std::move(projected).error();
      inputs.push_back({index, *std::move(projected)});
    }
    const auto add = [&](const RelationInfo& relation, const data::ChangeBatch& batch) -> Result<> {
      const data::ChangeBatch rows = covered(batch, relation, task.backfill[index]);
      if (rows.is_empty()) return {};
      auto projected = project(rows, relation, source, flow.source_schema(index));
      if (!projected) return std::move(projected).error();
      inputs.push_back({index, *std::move(projected)});
      return {};
    };
    for (const auto& [relation, batch] : changes) {
      if (relation->id != source.relation) continue;
      if (auto added = add(*relation, batch); !added) return std::move(added).error();
    }
    if (const auto at = produced.find(source.relation); at != produced.end()) {
      const RelationInfo& relation = *flows_.at(source.relation)->definition().view;
      if (auto added = add(relation, at->second); !added) return std::move(added).error();
    }
  }
  return inputs;
}

Task<Result<FlowResult>> Worker::run(Flow* flow, Flow::Work work) {
  auto running =
      span("flow.worker.process", {{"flow.view", flow->definition().view->entry.name},
                                   {"flow.inputs", static_cast<std::int64_t>(work.inputs.size())}});
  auto result = flow->run(work, false);
  if (!result && result.error() == operators::Errc::would_block) {
    flow->roll_back();
    const Flow::Work* again = &work;
    result = co_await on_blocking_pool([flow, again] { return flow->run(*again, true); });
  }
  if (!result) flow->roll_back();
  co_return result;
}

void Worker::on(EndCycle end) {
  for (const std::uint64_t id : std::exchange(ran_, {})) {
    const auto at = flows_.find(id);
    if (at == flows_.end()) continue;
    if (end.committed->contains(id)) {
      at->second->commit();
    } else {
      at->second->roll_back();
    }
  }
}

}  // namespace weir::flow::view::internal
