#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/plan.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

struct HarnessOptions {
  RowErrorPolicy row_errors = RowErrorPolicy::fail;
  Library library = {};
  /// Whether undoing all changes leaves the result and the state empty. Not so, for instance, of
  /// windows that have closed.
  bool is_retractable = true;
  /// Entries of state that may be left then: numbers that are never given again.
  std::size_t state_left = 0;
};

/// Tests a plan, and so the operators in it, for what every flow relies on:
///
///  - determinism: the same changes give the same result and the same state;
///  - restarts: it goes on from its state tables alone, also with hardly any memory, also if a
///  cycle
///    was forgotten or had to wait for the disk half-way;
///  - batching: changes of many cycles taken at once come to the same;
///  - retraction: undoing all changes leaves nothing, neither in the result nor in the state;
///  - honesty: no row goes that had not come.
///
///     OperatorHarness harness(from("words", schema).apply("dedupe"), {.library = {...}});
///     harness.add("words", batch);
///     EXPECT_TRUE(harness.check()) << harness.check().error();
class OperatorHarness {
 public:
  explicit OperatorHarness(Plan plan, HarnessOptions options = {});

  /// One more cycle, with changes of one source.
  void add(std::string source, data::ChangeBatch batch);
  void add_tick(data::Timestamp now);
  void add_watermark(data::Timestamp time);

  /// The result after all cycles, each row once.
  Result<data::ChangeBatch> result() const;
  /// What the first expectation was that does not hold.
  Result<> check() const;

 private:
  struct Changes {
    std::string source;
    data::ChangeBatch batch;
  };
  struct Tick {
    data::Timestamp now;
  };
  struct Watermark {
    data::Timestamp time;
  };
  using Cycle = std::variant<Changes, Tick, Watermark>;
  struct Trace;
  class Runner;

  Result<> check_same(std::string_view what, const Trace& expected, const Trace& found) const;
  Result<> check_batching(const Trace& expected) const;
  Result<> check_retraction() const;
  Result<> check_honesty(const Trace& trace) const;

  Plan plan_;
  HarnessOptions options_;
  std::vector<Cycle> cycles_;
};

}  // namespace weir::flow::operators
