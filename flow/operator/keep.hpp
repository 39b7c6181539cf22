#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

struct KeepOptions {
  /// How often rows that are too old go.
  std::chrono::microseconds tick_period = std::chrono::seconds(1);
  /// So many go at once; the others at the next ticks. Rows of one time go together.
  std::uint64_t rows_max = 10'000;
};

/// A time to live: rows until their time, a timestamp or date, is `age` ago. They go by ticks or
/// watermarks, as rows that others removed would.
///
/// So whatever is behind it, be it a join, a group or a gate, forgets what belongs to them too: its
/// state is bounded by the rows of that time, and its result is that of a query over those rows. A
/// group whose last row has gone goes, and begins anew when another comes.
///
/// A row that is older when it comes than those that have gone is left out and counted as late.
/// That a row goes which is too old means nothing. A row without a time cannot be computed, so the
/// flow's policy decides; where that is `null`, the row is left out and counted.
///
/// State: an entry for each row that is there, and one that stays.
struct Keep final : OperatorSpec {
  Keep(data::Expression time, std::chrono::microseconds age, KeepOptions options)
      : time(std::move(time)), age(age), options(options) {}

  data::Expression time;
  std::chrono::microseconds age;
  KeepOptions options;

  std::string_view name() const noexcept override { return "keep"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
