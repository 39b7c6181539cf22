#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/telemetry/internal/cells.hpp>
#include <weir/telemetry/metric_record.hpp>

namespace weir::telemetry {
class Observer;
}

namespace weir::telemetry::internal {

enum class InstrumentKind : std::uint8_t {
  counter,
  up_down_counter,
  gauge,
  histogram,
  observed_counter,
  observed_up_down_counter,
  observed_gauge,
};

const char* to_string(InstrumentKind kind) noexcept;

struct InstrumentDescription {
  std::string name;
  std::string text;
  std::string unit;
  InstrumentKind kind;
  std::vector<double> bounds;  // of a histogram
};

/// What went wrong with an instrument, which shows as a metric of its own.
struct InstrumentProblems {
  std::atomic<std::uint64_t> overflow{0};    // `with` beyond the limit of series
  std::atomic<std::uint64_t> not_finite{0};  // values that a histogram cannot hold
  std::atomic<std::uint64_t> callback{0};    // callbacks that threw
};

// Columns of a histogram's cells.
inline constexpr std::size_t sum_column = 0;
inline constexpr std::size_t min_column = 1;
inline constexpr std::size_t max_column = 2;
inline constexpr std::size_t bucket_column = 3;  // the first

/// What all series of a histogram share.
struct HistogramLayout {
  std::vector<double> bounds;
  std::size_t stride = 0;
  InstrumentProblems* problems = nullptr;
};

/// Wait-free for a thread that owns its slot, lock-free for others. Without cells it does nothing.
void record_in_slot(const HistogramLayout* layout, Cell* cells, double value,
                    std::uint64_t weight) noexcept;

/// The content of a gauge's cell before it is set: a NaN that no computation gives.
inline constexpr std::uint64_t gauge_unset = 0x7FF8'7765'6972'0001u;

/// Attributes in an order of their own, each name once: the last value given to it.
Attributes normalised(Attributes attributes);
/// Equal for equal normalised attributes only.
std::string key_of(const Attributes& attributes);
/// What is counted beyond the limit of series.
Attributes overflow_attributes();

struct SeriesState {
  SeriesState(Attributes set, CellBlock block)
      : attributes(std::move(set)), cells(std::move(block)) {}

  const Attributes attributes;
  const CellBlock cells;
  // Once anything was recorded in it, or at once for one that was asked for by its attributes.
  std::atomic<bool> is_shown{false};
};

/// A function that reports points. It stays until its handle goes.
///
/// The mutex is held while it runs, so that its handle waits for it; and is recursive, since a
/// function may let its own handle go.
struct Callback {
  std::recursive_mutex mutex;
  std::function<void(Observer&)> function;
  bool is_running = false;
  std::atomic<bool> is_removed{false};
};

/// One instrument and everything recorded with it. Usable from any thread; never moves.
class InstrumentState {
 public:
  InstrumentState(InstrumentDescription description, std::size_t series_max);

  const InstrumentDescription& description() const noexcept { return description_; }
  const HistogramLayout& layout() const noexcept { return layout_; }
  InstrumentProblems& problems() noexcept { return problems_; }

  /// The one without attributes.
  Cell* unlabelled() const noexcept { return unlabelled_.cells.data(); }
  /// The same for the same attributes in any order. Beyond the limit it is one for all.
  Cell* series(Attributes attributes);

  void add_callback(std::shared_ptr<Callback> callback);

  /// Runs callbacks too.
  std::vector<MetricPoint> collect();

 private:
  CellBlock make_cells() const;
  SeriesState& add_series(Attributes attributes);
  std::vector<SeriesState*> all_series();
  std::vector<MetricPoint> collect_recorded();
  std::vector<MetricPoint> collect_observed();
  std::vector<std::shared_ptr<Callback>> callbacks();

  const InstrumentDescription description_;
  const std::size_t series_max_;
  InstrumentProblems problems_;
  HistogramLayout layout_;
  SeriesState unlabelled_;

  std::mutex mutex_;
  // Guarded by mutex_; the series themselves are not.
  std::deque<SeriesState> series_;
  std::unordered_map<std::string, SeriesState*> by_key_;
  SeriesState* overflow_ = nullptr;
  std::vector<std::shared_ptr<Callback>> callbacks_;
};

/// The point that a series stands at; nothing for a gauge that was never set.
std::optional<MetricPoint> read_point(const InstrumentDescription& description,
                                      const SeriesState& series);
/// Whether it stands where it began.
bool is_zero(const MetricPoint& point) noexcept;

}  // namespace weir::telemetry::internal
