#pragma once

#include <cstdint>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/internal/instrument_state.hpp>

namespace weir::telemetry {

/// Instruments are handles, cheap to copy and usable from any thread while their meter lives.
/// Recording takes a few nanoseconds, waits for nobody and allocates nothing; `with` looks up a
/// series, so keep what it returns. One that was not made by a meter records nothing.

/// Counts what only ever grows: messages, bytes, failures.
class Counter {
 public:
  /// The count under one set of attributes.
  class Series {
   public:
    Series() noexcept = default;

    void add(std::uint64_t amount = 1) const noexcept { internal::add_in_slot(cells_, amount); }

   private:
    friend class Counter;
    explicit Series(internal::Cell* cells) noexcept : cells_(cells) {}

    internal::Cell* cells_ = nullptr;
  };

  Counter() noexcept = default;

  void add(std::uint64_t amount = 1) const noexcept { unlabelled_.add(amount); }
  /// The same series for the same attributes, in any order. Beyond the meter's limit it is the one
  /// with `otel.metric.overflow`.
  Series with(Attributes attributes) const;

 private:
  friend class Meter;
  explicit Counter(internal::InstrumentState& state) noexcept
      : state_(&state), unlabelled_(state.unlabelled()) {}

  internal::InstrumentState* state_ = nullptr;
  Series unlabelled_;
};

/// Counts what comes and goes: connections, bytes in use.
class UpDownCounter {
 public:
  class Series {
   public:
    Series() noexcept = default;

    void add(std::int64_t amount) const noexcept {
      internal::add_in_slot(cells_, static_cast<std::uint64_t>(amount));
    }

   private:
    friend class UpDownCounter;
    explicit Series(internal::Cell* cells) noexcept : cells_(cells) {}

    internal::Cell* cells_ = nullptr;
  };

  UpDownCounter() noexcept = default;

  void add(std::int64_t amount) const noexcept { unlabelled_.add(amount); }
  /// As `Counter::with`.
  Series with(Attributes attributes) const;

 private:
  friend class Meter;
  explicit UpDownCounter(internal::InstrumentState& state) noexcept
      : state_(&state), unlabelled_(state.unlabelled()) {}

  internal::InstrumentState* state_ = nullptr;
  Series unlabelled_;
};

/// Keeps the last value of what cannot be added up: a temperature, a ratio.
class Gauge {
 public:
  class Series {
   public:
    Series() noexcept = default;

    void set(double value) const noexcept {
      if (cells_) cells_->store(internal::to_bits(value), std::memory_order_release);
    }

   private:
    friend class Gauge;
    explicit Series(internal::Cell* cells) noexcept : cells_(cells) {}

    internal::Cell* cells_ = nullptr;
  };

  Gauge() noexcept = default;

  void set(double value) const noexcept { unlabelled_.set(value); }
  /// As `Counter::with`.
  Series with(Attributes attributes) const;

 private:
  friend class Meter;
  explicit Gauge(internal::InstrumentState& state) noexcept
      : state_(&state), unlabelled_(state.unlabelled()) {}

  internal::InstrumentState* state_ = nullptr;
  Series unlabelled_;
};

/// Counts values by the interval they lie in: durations, sizes.
class Histogram {
 public:
  class Series {
   public:
    Series() noexcept = default;

    /// Counts the value `weight` times, for who measures one of so many. What is not finite is
    /// left out and counted.
    void record(double value, std::uint64_t weight = 1) const noexcept {
      internal::record_in_slot(layout_, cells_, value, weight);
    }

   private:
    friend class Histogram;
    Series(const internal::HistogramLayout& layout, internal::Cell* cells) noexcept
        : layout_(&layout), cells_(cells) {}

    const internal::HistogramLayout* layout_ = nullptr;
    internal::Cell* cells_ = nullptr;
  };

  Histogram() noexcept = default;

  void record(double value, std::uint64_t weight = 1) const noexcept {
    unlabelled_.record(value, weight);
  }
  /// As `Counter::with`.
  Series with(Attributes attributes) const;

 private:
  friend class Meter;
  explicit Histogram(internal::InstrumentState& state) noexcept
      : state_(&state), unlabelled_(state.layout(), state.unlabelled()) {}

  internal::InstrumentState* state_ = nullptr;
  Series unlabelled_;
};

}  // namespace weir::telemetry
