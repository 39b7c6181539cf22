#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/flow.hpp>
#include <weir/flow/view/view_status.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/change.hpp>
#include <weir/storage/key_range.hpp>
#include <weir/storage/transaction.hpp>

namespace weir::flow::view::internal {

/// What a cycle brings of one relation, for whichever flow reads it.
struct RelationChanges {
  std::shared_ptr<const RelationInfo> relation;
  data::ChangeBatch batch;
};

/// What one flow is to do in a cycle.
struct FlowTask {
  struct Chunk {
    std::size_t source;
    std::shared_ptr<const RelationInfo> relation;
    data::ChangeBatch batch;
    /// Changes that it has missed; otherwise rows that were there before the view.
    bool is_missed = false;
  };

  std::uint64_t flow;
  /// For each source, with the rows of `chunks`.
  std::vector<Backfill> backfill = {};
  std::vector<Chunk> chunks = {};
  /// Whether its operators are told the time; after its input.
  std::optional<data::Timestamp> tick = {};
  Flow::Filling filling = Flow::Filling::none;
};

struct FlowOutcome {
  std::uint64_t flow;
  Result<FlowResult> result;
};

/// Adds what a flow did in a cycle that was committed.
void add_result(ViewCounts& counts, const FlowResult& result);

/// What a flow takes of a cycle: of tables, and of the views that were run before it.
Result<std::vector<Flow::Input>> inputs_of(const Flow& flow, const FlowTask& task,
                                           std::span<const RelationChanges> tables,
                                           std::span<const RelationChanges> views);

/// Runs a flow, where it may wait if it has to. After an error it is rolled back.
Task<Result<FlowResult>> run_flow(Flow* flow, Flow::Work work);

/// The rows and the state of a view, as part of a transaction. False if nothing has changed.
bool write_result(storage::Transaction& transaction, const FlowDefinition& definition,
                  const FlowResult& result);

/// The next rows of a source, behind those that were taken; none if there are no more.
Task<Result<data::ChangeBatch>> take_rows(const storage::ReadTransaction* reading,
                                          std::shared_ptr<const RelationInfo> relation,
                                          std::size_t rows_max, Backfill* backfill);
/// The same, where a scan has come to.
using RowScan = storage::Scan<EncodedKey, EncodedValue>;
Task<Result<data::ChangeBatch>> take_rows(RowScan* scan,
                                          std::shared_ptr<const RelationInfo> relation,
                                          std::size_t rows_max, Backfill* backfill);

/// Those behind a row: nothing but that row's own versions begins with its key. There is always a
/// next key, as the first byte only says that there is a value.
storage::KeyRange<EncodedKey> rows_after(const std::string& key);

/// Adds what went and what came.
Result<> decode_change(const RelationInfo& relation, const storage::Change& change,
                       data::BatchBuilder& out);
/// The same for all that a commit did to the relation.
Result<> decode_changes(const RelationInfo& relation, const storage::ChangeRecord& record,
                        data::BatchBuilder& out);

}  // namespace weir::flow::view::internal
