#include <weir/flow/view/internal/flow_run.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

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

void describe(Span& span, const Flow& flow, const Flow::Work& work,
              const Result<FlowResult>& result) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  std::size_t rows = 0;
  for (const Flow::Input& input : work.inputs) rows += input.batch.size();
  span.set({"flow.view", flow.definition().view->entry.name});
  span.set({"flow.inputs", number(work.inputs.size())});
  span.set({"flow.rows.in", number(rows)});
  if (!result) return span.set_status(telemetry::SpanStatus::error, result.error().message());
  span.set({"flow.rows.out", number(result->changes.size())});
  span.set({"flow.state.writes", number(result->state.size())});
}

}  // namespace

void add_result(ViewCounts& counts, const FlowResult& result) {
  ++counts.cycles;
  counts.rows_from.resize(result.rows_from.size());
  for (std::size_t source = 0; source < result.rows_from.size(); ++source) {
    counts.rows_from[source] += result.rows_from[source];
    counts.rows_in += result.rows_from[source];
  }
  counts.rows_out += result.changes.size();
  counts.row_errors += result.counts.row_errors;
  counts.late_rows += result.counts.late_rows;
  counts.state_bytes = result.state_bytes;
  if (result.row_error) counts.row_error = result.row_error->message();
}

Result<std::vector<Flow::Input>> inputs_of(const Flow& flow, const FlowTask& task,
                                           std::span<const RelationChanges> tables,
                                           std::span<const RelationChanges> views) {
  std::vector<Flow::Input> inputs;
  const auto& sources = flow.definition().sources();
  for (std::size_t index = 0; index < sources.size(); ++index) {
    const SourceEntry& source = sources[index];
    const auto add = [&](const RelationInfo& relation, const data::ChangeBatch& rows) -> Result<> {
      if (rows.is_empty()) return {};
      auto projected = project(rows, relation, source, flow.source_schema(index));
      if (!projected) return std::move(projected).error();
      inputs.push_back({index, *std::move(projected)});
      return {};
    };
    for (const auto& [of, relation, batch, is_missed] : task.chunks) {
      if (of != index) continue;
      auto added =
          add(*relation, is_missed ? covered(batch, *relation, task.backfill[index]) : batch);
      if (!added) return std::move(added).error();
    }
    for (const auto changes : {tables, views}) {
      for (const auto& [relation, batch] : changes) {
        if (relation->id != source.relation) continue;
        auto added = add(*relation, covered(batch, *relation, task.backfill[index]));
        if (!added) return std::move(added).error();
      }
    }
  }
  return inputs;
}

Task<Result<FlowResult>> run_flow(Flow* flow, Flow::Work work) {
  auto running = span("flow.worker.process");
  auto result = flow->run(work, false);
  if (!result && result.error() == operators::Errc::would_block) {
    flow->roll_back();
    const Flow::Work* again = &work;
    result = co_await on_blocking_pool([flow, again] { return flow->run(*again, true); });
  }
  if (!result) flow->roll_back();
  if (running.is_recorded()) describe(running, *flow, work, result);
  co_return result;
}

bool write_result(storage::Transaction& transaction, const FlowDefinition& definition,
                  const FlowResult& result) {
  const EncodedRows& rows = definition.view->rows;
  const FlowStateSpace& state = *definition.view->state;
  for (const FlowResult::RowWrite& write : result.rows) {
    if (write.value) {
      transaction.put(rows, write.key, *write.value);
    } else {
      transaction.remove(rows, write.key);
    }
  }
  for (const operators::State::Write& write : result.state) {
    const EncodedKey key{write.key};
    if (write.value) {
      transaction.put(state, key, flow_state_value(*write.value));
    } else {
      transaction.remove(state, key);
    }
  }
  return !result.rows.empty() || !result.state.empty();
}

storage::KeyRange<EncodedKey> rows_after(const std::string& key) {
  using Range = storage::KeyRange<EncodedKey>;
  return key.empty() ? Range::all() : Range::from(EncodedKey{storage::prefix_end(key)});
}

Task<Result<data::ChangeBatch>> take_rows(const storage::ReadTransaction* reading,
                                          std::shared_ptr<const RelationInfo> relation,
                                          std::size_t rows_max, Backfill* backfill) {
  auto scan = reading->scan(relation->rows, rows_after(backfill->until));
  co_return co_await take_rows(&scan, std::move(relation), rows_max, backfill);
}

Task<Result<data::ChangeBatch>> take_rows(RowScan* scan,
                                          std::shared_ptr<const RelationInfo> relation,
                                          std::size_t rows_max, Backfill* backfill) {
  data::BatchBuilder builder(relation->format.schema());
  // Of long rows there are fewer.
  constexpr std::size_t bytes_max = std::size_t{16} << 20;
  std::size_t bytes = 0;
  while (builder.size() < rows_max && bytes < bytes_max) {
    WEIR_CO_TRY(row, co_await scan->next());
    if (!row) {
      backfill->is_done = true;
      backfill->until.clear();
      break;
    }
    WEIR_CO_TRY_VOID(relation->format.decode(row->key.bytes, row->value.bytes, 1, builder));
    bytes += row->key.bytes.size() + row->value.bytes.size();
    backfill->until = std::move(row->key.bytes);
  }
  co_return builder.finish();
}

Result<> decode_change(const RelationInfo& relation, const storage::Change& change,
                       data::BatchBuilder& out) {
  Result<> decoded;
  if (change.kind != storage::ChangeKind::insert)
    decoded = relation.format.decode(change.key, change.before, -1, out);
  if (decoded && change.kind != storage::ChangeKind::remove)
    decoded = relation.format.decode(change.key, change.after, 1, out);
  if (decoded) return {};
  return Error(decoded.error().code(),
               "'" + relation.entry.name + "': " + decoded.error().detail());
}

Result<> decode_changes(const RelationInfo& relation, const storage::ChangeRecord& record,
                        data::BatchBuilder& out) {
  for (const storage::Change& change : record.of(relation.rows.id())) {
    if (auto decoded = decode_change(relation, change, out); !decoded) {
      return Error(decoded.error().code(), "change log: version " +
                                               std::to_string(record.version().number) + ": " +
                                               decoded.error().detail());
    }
  }
  return {};
}

}  // namespace weir::flow::view::internal
