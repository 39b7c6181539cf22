#include <weir/flow/operator/harness.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ranges>

#include <weir/flow/operator/memory_state.hpp>

namespace weir::flow::operators {

namespace {

/// Reads so many times, then refuses to wait.
class ImpatientReader final : public StateReader {
 public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  explicit ImpatientReader(StateReader& below) : below_(below) {}

  Result<std::optional<std::string>> get(std::string_view key) override {
    if (!take_read()) return Errc::would_block;
    return below_.get(key);
  }
  Result<std::vector<Entry>> scan(const Range& range) override {
    if (!take_read()) return Errc::would_block;
    return below_.scan(range);
  }
  void allow(std::size_t reads) noexcept { reads_left_ = reads; }

 private:
  bool take_read() noexcept {
    if (reads_left_ == 0) return false;
    --reads_left_;
    return true;
  }

  StateReader& below_;
  std::size_t reads_left_ = unlimited;
};

using Rows = std::map<std::vector<data::Value>, data::Weight>;

void add_to(Rows& rows, const data::ChangeBatch& batch) {
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const auto at = rows.try_emplace(batch.row(row), 0).first;
    if ((at->second += batch.weights()[row]) == 0) rows.erase(at);
  }
}

Error failed(std::string_view expectation, const std::string& what) {
  return Error(Errc::broken_rule, std::string(expectation) + ": " + what);
}

}  // namespace

/// What came of each cycle.
struct OperatorHarness::Trace {
  std::vector<std::string> results;  // as text
  std::vector<data::ChangeBatch> batches;
  std::vector<std::vector<State::Write>> writes;
};

/// Runs cycles over a store of its own.
class OperatorHarness::Runner {
 public:
  enum class Way {
    plain,
    restarting,   // a new graph for each cycle
    forgetting,   // each cycle is run twice, and rolled back once
    tight,        // hardly any memory
    interrupted,  // each cycle has to wait where it reads the store, once for each time
  };

  Runner(const OperatorHarness& harness, Way way) : harness_(harness), way_(way) {}

  Result<Trace> run() {
    Trace trace;
    for (const Cycle& cycle : harness_.cycles_)
      if (auto done = run_cycle(cycle, trace); !done) return std::move(done).error();
    return trace;
  }
  Result<> run_cycle(const Cycle& cycle, Trace& trace) {
    if (graph_ == nullptr || way_ == Way::restarting || way_ == Way::interrupted) {
      if (auto made = start(); !made) return made;
    }
    auto batch = way_ == Way::interrupted ? run_interrupted(cycle) : run_once(cycle);
    if (way_ == Way::forgetting) {
      graph_->roll_back();
      batch = run_once(cycle);
    }
    if (!batch) return std::move(batch).error();
    trace.results.push_back(to_string(*batch));
    trace.batches.push_back(*std::move(batch));
    trace.writes.push_back(graph_->state().writes());
    store_.write(trace.writes.back());
    graph_->commit();
    if (!graph_->state().writes().empty())
      return failed("commit", "the state still has writes afterwards");
    return {};
  }
  const MemoryState& store() const noexcept { return store_; }

 private:
  Result<> start() {
    GraphOptions options{.row_errors = harness_.options_.row_errors,
                         .library = harness_.options_.library};
    options.state.reader = &reader_;
    options.state.is_new = store_.entries().empty();
    if (way_ == Way::tight) options.state.memory_max = 1;
    auto graph = Graph::make(harness_.plan_, options);
    if (!graph) return std::move(graph).error();
    graph_ = *std::move(graph);
    return {};
  }

  Result<data::ChangeBatch> run_once(const Cycle& cycle) {
    if (const auto* changes = std::get_if<Changes>(&cycle))
      return graph_->run({{changes->source, changes->batch}});
    if (const auto* tick = std::get_if<Tick>(&cycle)) return graph_->tick(tick->now);
    return graph_->watermark(std::get<Watermark>(cycle).time);
  }

  Result<data::ChangeBatch> run_interrupted(const Cycle& cycle) {
    // Many reads are not tried one by one.
    for (std::size_t reads = 0;; reads += 1 + reads / 16) {
      reader_.allow(reads);
      auto batch = run_once(cycle);
      if (batch || batch.error().code() != Errc::would_block) return batch;
      graph_->roll_back();
    }
  }

  const OperatorHarness& harness_;
  Way way_;
  MemoryState store_;
  ImpatientReader reader_{store_};
  std::unique_ptr<Graph> graph_;
};

OperatorHarness::OperatorHarness(Plan plan, HarnessOptions options)
    : plan_(std::move(plan)), options_(options) {}

void OperatorHarness::add(std::string source, data::ChangeBatch batch) {
  cycles_.emplace_back(Changes{std::move(source), std::move(batch)});
}
void OperatorHarness::add_tick(data::Timestamp now) { cycles_.emplace_back(Tick{now}); }
void OperatorHarness::add_watermark(data::Timestamp time) { cycles_.emplace_back(Watermark{time}); }

Result<data::ChangeBatch> OperatorHarness::result() const {
  auto trace = Runner(*this, Runner::Way::plain).run();
  if (!trace) return std::move(trace).error();
  std::optional<data::BatchBuilder> all;
  for (const data::ChangeBatch& batch : trace->batches) {
    if (!all) all.emplace(batch.schema());
    for (std::size_t row = 0; row < batch.size(); ++row)
      all->add_from(batch, row, batch.weights()[row]);
  }
  if (!all) return Error(Errc::invalid_argument, "there are no cycles");
  return all->finish().consolidated();
}

Result<> OperatorHarness::check() const {
  using Way = Runner::Way;
  auto plain = Runner(*this, Way::plain).run();
  if (!plain) return std::move(plain).error();
  constexpr std::pair<Way, std::string_view> ways[] = {
      {Way::plain, "determinism"},
      {Way::restarting, "restart before each cycle"},
      {Way::forgetting, "rolling back"},
      {Way::tight, "hardly any memory"},
      {Way::interrupted, "waiting half-way"}};
  for (const auto& [way, what] : ways) {
    auto found = Runner(*this, way).run();
    if (!found) return failed(what, found.error().message());
    if (auto same = check_same(what, *plain, *found); !same) return same;
  }
  if (auto honest = check_honesty(*plain); !honest) return honest;
  if (auto batching = check_batching(*plain); !batching) return batching;
  return options_.is_retractable ? check_retraction() : Result<>();
}

Result<> OperatorHarness::check_same(std::string_view what, const Trace& expected,
                                     const Trace& found) const {
  for (std::size_t cycle = 0; cycle < expected.results.size(); ++cycle) {
    const std::string where = "cycle " + std::to_string(cycle);
    if (expected.results[cycle] != found.results[cycle]) {
      return failed(what, where + " gave\n" + found.results[cycle] + "instead of\n" +
                              expected.results[cycle]);
    }
    if (expected.writes[cycle] != found.writes[cycle])
      return failed(what, where + " wrote other state");
  }
  return {};
}

Result<> OperatorHarness::check_honesty(const Trace& trace) const {
  Rows rows;
  for (std::size_t cycle = 0; cycle < trace.batches.size(); ++cycle) {
    add_to(rows, trace.batches[cycle]);
    for (const auto& [row, weight] : rows) {
      if (weight >= 0) continue;
      std::string text;
      for (const data::Value& value : row) text += (text.empty() ? "" : ", ") + to_string(value);
      return failed("honesty", "cycle " + std::to_string(cycle) + " removed (" + text +
                                   "), which had not come");
    }
  }
  return {};
}

Result<> OperatorHarness::check_batching(const Trace& expected) const {
  auto graph = Graph::make(plan_, {.row_errors = options_.row_errors, .library = options_.library});
  if (!graph) return std::move(graph).error();
  const auto is_changes = [](const Cycle& cycle) { return std::holds_alternative<Changes>(cycle); };
  if ((*graph)->needs_each_version() || !std::ranges::all_of(cycles_, is_changes)) return {};
  std::map<std::string_view, data::BatchBuilder> sources;
  for (const Cycle& cycle : cycles_) {
    const auto& [source, batch] = std::get<Changes>(cycle);
    data::BatchBuilder& builder = sources.try_emplace(source, batch.schema()).first->second;
    for (std::size_t row = 0; row < batch.size(); ++row)
      builder.add_from(batch, row, batch.weights()[row]);
  }
  std::vector<Graph::SourceChanges> all;
  for (auto& [source, builder] : sources) all.push_back({source, builder.finish()});
  auto together = (*graph)->run(all);
  if (!together) return failed("batching", together.error().message());
  Rows one_by_one;
  for (const data::ChangeBatch& batch : expected.batches) add_to(one_by_one, batch);
  Rows at_once;
  add_to(at_once, *together);
  if (one_by_one == at_once) return {};
  return failed("batching", "all cycles at once gave\n" + to_string(*together));
}

Result<> OperatorHarness::check_retraction() const {
  Runner runner(*this, Runner::Way::plain);
  Trace trace;
  for (const Cycle& cycle : cycles_)
    if (auto done = runner.run_cycle(cycle, trace); !done) return done;
  for (const Cycle& cycle : std::views::reverse(cycles_)) {
    const auto* changes = std::get_if<Changes>(&cycle);
    if (changes == nullptr) continue;
    auto done = runner.run_cycle(Changes{changes->source, changes->batch.negated()}, trace);
    if (!done) return failed("retraction", done.error().message());
  }
  Rows rows;
  for (const data::ChangeBatch& batch : trace.batches) add_to(rows, batch);
  if (!rows.empty()) return failed("retraction", std::to_string(rows.size()) + " rows are left");
  if (runner.store().entries().size() > options_.state_left) {
    return failed("retraction",
                  std::to_string(runner.store().entries().size()) + " entries of state are left");
  }
  return {};
}

}  // namespace weir::flow::operators
