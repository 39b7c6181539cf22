#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/calendar.hpp>
#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/state.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

/// What becomes of a row that cannot be computed, for instance since it divides by zero.
/// Persisted: never renumber.
enum class RowErrorPolicy : std::uint8_t {
  fail = 0,  // the flow stops at it
  null = 1,  // what could not be computed is null
  drop = 2,  // the row is left out, and counted
};

/// What operators saw that is not part of their output.
struct Counts {
  std::uint64_t row_errors = 0;
  std::uint64_t late_rows = 0;

  Counts& operator+=(const Counts& other) noexcept {
    row_errors += other.row_errors;
    late_rows += other.late_rows;
    return *this;
  }
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// Changes of one input.
struct Input {
  std::size_t port;  // which of the operator's inputs, from zero
  const data::ChangeBatch& batch;
};

/// Takes what an operator gives.
class Output {
 public:
  explicit Output(RowErrorPolicy policy = RowErrorPolicy::fail, bool is_filling = false,
                  std::size_t bytes_max = std::numeric_limits<std::size_t>::max()) noexcept
      : policy_(policy), is_filling_(is_filling), bytes_max_(bytes_max) {}

  /// Rows of the operator's schema.
  void emit(data::ChangeBatch batch) {
    if (batch.is_empty()) return;
    bytes_ += batch.bytes();
    batches_.push_back(std::move(batch));
  }
  /// `too_large` if that was more than an operator may give in one cycle: who gives much at once
  /// asks in between, and passes it on.
  Result<> check_size() const {
    if (bytes_ <= bytes_max_) return {};
    return Error(Errc::too_large, "it gave " + std::to_string(bytes_) + " bytes in one cycle, " +
                                      std::to_string(bytes_max_) + " at most");
  }
  RowErrorPolicy row_error_policy() const noexcept { return policy_; }
  /// Whether rows come that were there before the flow: the order in which they do means nothing.
  bool is_filling() const noexcept { return is_filling_; }
  Counts& counts() noexcept { return counts_; }
  /// Counts rows that cannot be computed. `example()` tells of one of them; it is asked for the
  /// first of a cycle.
  template <class Example>
  void add_row_errors(std::size_t rows, Example example) {
    counts_.row_errors += rows;
    if (!row_error_) row_error_ = example();
  }
  const std::optional<Error>& row_error() const noexcept { return row_error_; }

  std::vector<data::ChangeBatch> take() noexcept {
    bytes_ = 0;
    return std::exchange(batches_, {});
  }

 private:
  RowErrorPolicy policy_;
  bool is_filling_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of `batches_`
  Counts counts_;
  std::optional<Error> row_error_;
  std::vector<data::ChangeBatch> batches_;
};

/// One step of a flow: takes changes of its inputs, gives changes of its output.
///
/// What it gives depends only on what it was given and on its state tables; it keeps nothing else
/// from one call to the next, as a cycle may be forgotten and run again. Undoing its input undoes
/// its output. `OperatorHarness` tests both.
///
/// If a state table answers `Errc::would_block`, it passes that on.
class Operator {
 public:
  explicit Operator(data::SchemaRef schema) noexcept : schema_(std::move(schema)) {}
  Operator(Operator&&) = delete;
  virtual ~Operator() = default;

  /// Of the rows it gives.
  const data::SchemaRef& schema() const noexcept { return schema_; }

  /// Makes its state tables. Called once, before anything else.
  virtual void open(State& /*state*/) {}
  /// Whether what it gives depends on how a row came to be what it is: then changes of several
  /// commits are never taken together, and all those of one input in a cycle are one batch.
  virtual bool needs_each_version() const { return false; }
  /// Takes changes of one input. In a cycle, those of an input before those of the next.
  virtual Result<> apply(const Input& input, Output& out) = 0;
  /// How often `tick` is called; never without one.
  virtual std::optional<std::chrono::microseconds> tick_period() const { return std::nullopt; }
  virtual Result<> tick(data::Timestamp /*now*/, Output& /*out*/) { return {}; }
  /// No row with an earlier time is expected any more.
  virtual Result<> watermark(data::Timestamp /*time*/, Output& /*out*/) { return {}; }
  /// All rows that were there before the flow have come: see `Output::is_filling`.
  virtual Result<> filled(Output& /*out*/) { return {}; }

 private:
  data::SchemaRef schema_;
};

}  // namespace weir::flow::operators
