#include <weir/flow/view/internal/flow.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/view/internal/row_access.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::view::internal {
namespace {

/// The rows of a batch by their keys, those with one key as they came.
class SortedKeys {
 public:
  struct Row {
    std::string_view key;
    std::uint32_t row;
  };

  SortedKeys(const RowFormat& format, const data::ChangeBatch& changes) {
    std::vector<std::size_t> ends(changes.size());
    for (std::size_t row = 0; row < changes.size(); ++row) {
      format.encode_key(changes.columns(), row, bytes_);
      ends[row] = bytes_.size();
    }
    rows_.reserve(changes.size());
    std::size_t begin = 0;
    for (std::uint32_t row = 0; row < changes.size(); ++row) {
      rows_.push_back({std::string_view(bytes_).substr(begin, ends[row] - begin), row});
      begin = ends[row];
    }
    // As they often come.
    if (std::ranges::is_sorted(rows_, {}, &Row::key)) return;
    std::ranges::sort(rows_, [](const Row& a, const Row& b) {
      return std::tie(a.key, a.row) < std::tie(b.key, b.row);
    });
  }
  SortedKeys(SortedKeys&&) = delete;

  const std::vector<Row>& rows() const noexcept { return rows_; }

 private:
  std::string bytes_;  // of all keys
  std::vector<Row> rows_;
};

}  // namespace

Result<std::unique_ptr<Flow>> Flow::make(FlowDefinitionRef definition, const FlowOptions& options,
                                         FlowStateReader reader, bool is_new) {
  std::unique_ptr<Flow> flow(new Flow(std::move(definition), std::move(reader)));
  operators::GraphOptions graph_options{
      .row_errors = flow->definition_->view->entry.row_errors.value_or(options.row_errors),
      .library = options.library,
      .output_bytes_max = options.output_bytes_max};
  graph_options.state = {
      .memory_max = options.state_memory_max, .reader = &flow->reader_, .is_new = is_new};
  auto graph = operators::Graph::make(flow->definition_->plan, graph_options);
  if (!graph) return std::move(graph).error();
  flow->graph_ = *std::move(graph);
  for (const SourceEntry& source : flow->definition_->sources()) {
    const auto& known = flow->graph_->sources();
    const auto at = std::ranges::find(known, source.name, &operators::Graph::SourceInfo::name);
    if (at == known.end())
      return Error(operators::Errc::corruption, "the plan has no source '" + source.name + "'");
    flow->schemas_.push_back(at->schema);
  }
  flow->verifies_ = options.verifies_rows || flow->graph_->has_own_operators();
  if (!flow->definition_->view->format.has_key())
    flow->weights_ = &flow->graph_->state().add_table();
  return flow;
}

FlowTraits Flow::traits() const {
  return {.tick_period = graph_->tick_period(), .needs_each_version = graph_->needs_each_version()};
}

Result<FlowResult> Flow::run(const Work& work, bool may_wait) {
  reader_.refresh();
  reader_.set_may_wait(may_wait);
  std::vector<operators::Graph::SourceChanges> changes;
  for (const Input& input : work.inputs)
    changes.push_back({definition_->sources()[input.source].name, input.batch});
  graph_->set_filling(work.filling != Filling::none);
  auto result = graph_->run(changes);
  const auto add = [&result](Result<data::ChangeBatch> more) {
    result = more ? result->with(*more) : std::move(more);
  };
  if (result && work.tick) add(graph_->tick(*work.tick));
  if (result && work.filling == Filling::ended) add(graph_->filled());
  if (!result) return std::move(result).error();
  auto rows = write_rows(*result);
  if (!rows) return std::move(rows).error();
  std::vector<std::size_t> rows_from(schemas_.size());
  for (const Input& input : work.inputs) rows_from[input.source] += input.batch.size();
  return FlowResult{.changes = *std::move(result),
                    .rows = *std::move(rows),
                    .state = graph_->state().writes(),
                    .rows_from = std::move(rows_from),
                    .counts = graph_->pending_counts(),
                    .row_error = graph_->pending_row_error(),
                    .state_bytes = graph_->state().memory()};
}

Result<std::vector<FlowResult::RowWrite>> Flow::write_rows(const data::ChangeBatch& changes) {
  if (weights_ != nullptr) return write_counted(changes);
  if (!verifies_) return write_keyed(changes);
  if (auto verified = verify_keyed(changes); !verified) return std::move(verified).error();
  auto rows = write_keyed(changes);
  given_.clear();
  if (rows)
    for (const auto& [key, value] : *rows) given_.emplace(key.bytes, value);
  return rows;
}

Result<> Flow::verify_keyed(const data::ChangeBatch& changes) {
  const RelationInfo& view = *definition_->view;
  const auto unknown_row = [&](const char* what, std::uint32_t row) {
    std::string text = to_string(changes.take(std::span(&row, 1)));
    text.pop_back();  // the end of its line
    return Error(operators::Errc::unknown_row, what + text);
  };
  std::map<std::string, std::optional<std::uint32_t>> going;  // by key: the row that goes
  std::string key;
  for (std::uint32_t row = 0; row < changes.size(); ++row) {
    key.clear();
    view.format.encode_key(changes.columns(), row, key);
    auto& goes = going[key];
    if (changes.weights()[row] >= 0) continue;
    if (goes || changes.weights()[row] < -1)
      return unknown_row("a row went more often than it came: ", row);
    goes = row;
  }
  for (std::uint32_t row = 0; row < changes.size(); ++row) {
    EncodedKey encoded;
    view.format.encode_key(changes.columns(), row, encoded.bytes);
    const auto at = going.find(encoded.bytes);
    if (at == going.end()) continue;  // seen
    auto stored = reader_.get_row(view.rows, encoded);
    if (!stored) return std::move(stored).error();
    const std::optional<std::uint32_t> goes = at->second;
    going.erase(at);
    if (!goes && *stored) return unknown_row("two rows with one primary key: ", row);
    if (!goes) continue;
    // Not by their bytes: zero and NaN have several, and operators remember one of them.
    data::BatchBuilder builder(view.format.schema());
    if (*stored) {
      auto decoded = view.format.decode(encoded.bytes, (*stored)->bytes, 1, builder);
      if (!decoded) return decoded;
    }
    const data::ChangeBatch was = builder.finish();
    if (was.is_empty() || !data::equal_rows(was.columns(), 0, changes.columns(), *goes))
      return unknown_row("a row went that had not come: ", *goes);
  }
  return {};
}

Result<std::vector<FlowResult::RowWrite>> Flow::write_keyed(
    const data::ChangeBatch& changes) const {
  const RowFormat& format = definition_->view->format;
  const SortedKeys keys(format, changes);
  std::vector<FlowResult::RowWrite> writes;
  writes.reserve(changes.size());
  // What goes and comes with one key is a row that became another.
  for (const auto& [key, row] : keys.rows()) {
    if (writes.empty() || writes.back().key.bytes != key)
      writes.push_back({EncodedKey{std::string(key)}, std::nullopt});
    const data::Weight weight = changes.weights()[row];
    if (weight < 0) continue;
    auto& value = writes.back().value;
    if (value || weight > 1) {
      return Error(
          operators::Errc::unknown_row,
          "two rows with one primary key: " + describe_key(*definition_->view, changes, row));
    }
    format.encode_value(changes.columns(), row, 1, value.emplace().bytes);
  }
  return writes;
}

Result<std::vector<FlowResult::RowWrite>> Flow::write_counted(const data::ChangeBatch& changes) {
  using Weight = storage::ValueCodec<std::int64_t>;
  const RowFormat& format = definition_->view->format;
  std::vector<FlowResult::RowWrite> writes;
  for (std::size_t row = 0; row < changes.size(); ++row) {
    FlowResult::RowWrite write;
    format.encode_key(changes.columns(), row, write.key.bytes);
    auto slot = weights_->find(write.key.bytes);
    if (!slot) return std::move(slot).error();
    std::string_view stored = slot->value();
    data::Weight weight = 0;
    if (slot->exists() && (!Weight::decode(stored, weight) || !stored.empty()))
      return Error(operators::Errc::corruption, "state: a weight");
    weight += changes.weights()[row];
    if (weight < 0) {
      const std::array rows{static_cast<std::uint32_t>(row)};
      return Error(operators::Errc::unknown_row,
                   "a row went that had not come: " + to_string(changes.take(rows)));
    }
    if (weight == 0) {
      slot->remove();
    } else {
      std::string& value = slot->edit();
      value.clear();
      Weight::encode(weight, value);
      format.encode_value(changes.columns(), row, weight, write.value.emplace().bytes);
    }
    writes.push_back(std::move(write));
  }
  return writes;
}

void Flow::commit() { graph_->commit(); }

void Flow::commit(storage::Version version, std::vector<operators::State::Write> state) {
  reader_.remember(version, std::move(state));
  reader_.remember(version, std::exchange(given_, {}));
  graph_->commit();
}

void Flow::roll_back() { graph_->roll_back(); }

}  // namespace weir::flow::view::internal
