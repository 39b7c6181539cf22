#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/view/internal/flow_definition.hpp>
#include <weir/flow/view/internal/flow_state.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::view::internal {

/// What one cycle makes of a view: to be committed together, or not at all.
struct FlowResult {
  struct RowWrite {
    EncodedKey key;
    std::optional<EncodedValue> value;  // none: it goes
  };

  data::ChangeBatch changes;
  std::vector<RowWrite> rows;
  std::vector<operators::State::Write> state;
  std::vector<std::size_t> rows_from = {};  // that it was given, by source
  operators::Counts counts = {};
  std::optional<Error> row_error = {};  // one of those that are counted
  std::size_t state_bytes = 0;          // in memory, before the cycle
};

/// What the coordinator must know of a flow.
struct FlowTraits {
  std::optional<std::chrono::microseconds> tick_period;
  /// Changes of several commits must not be run together.
  bool needs_each_version;
};

/// A view's query, ready to run over changes: owned by one worker.
class Flow {
 public:
  struct Input {
    std::size_t source;  // which of the definition's
    data::ChangeBatch batch;
  };

  /// Whether rows come that were there before the view.
  enum class Filling : std::uint8_t { none, begun, ended };

  struct Work {
    std::vector<Input> inputs;
    std::optional<data::Timestamp> tick = {};
    Filling filling = Filling::none;
  };

  static Result<std::unique_ptr<Flow>> make(FlowDefinitionRef definition,
                                            const FlowOptions& options, FlowStateReader reader,
                                            bool is_new);

  const FlowDefinition& definition() const noexcept { return *definition_; }
  /// What its plan expects of a source.
  const data::SchemaRef& source_schema(std::size_t source) const { return schemas_[source]; }

  /// `operators::Errc::would_block`: again, where waiting is allowed. Every other error names the
  /// operator. After any of them `roll_back` is called.
  Result<FlowResult> run(const Work& work, bool may_wait);
  FlowTraits traits() const;
  void commit();
  /// What it gave is part of a commit that is certain, but that the store does not show yet.
  void commit(storage::Version version, std::vector<operators::State::Write> state);
  void roll_back();

 private:
  Flow(FlowDefinitionRef definition, FlowStateReader reader)
      : definition_(std::move(definition)), reader_(std::move(reader)) {}

  Result<std::vector<FlowResult::RowWrite>> write_rows(const data::ChangeBatch& changes);
  /// Whether each row that goes is there, and none that comes takes the place of another.
  Result<> verify_keyed(const data::ChangeBatch& changes);
  Result<std::vector<FlowResult::RowWrite>> write_keyed(const data::ChangeBatch& changes) const;
  Result<std::vector<FlowResult::RowWrite>> write_counted(const data::ChangeBatch& changes);

  FlowDefinitionRef definition_;
  std::vector<data::SchemaRef> schemas_;  // of its sources
  FlowStateReader reader_;
  std::unique_ptr<operators::Graph> graph_;
  bool verifies_ = false;
  FlowStateReader::Rows given_;               // in the current cycle, if rows are verified
  operators::StateTable* weights_ = nullptr;  // of a view without a primary key, by row
};

}  // namespace weir::flow::view::internal
