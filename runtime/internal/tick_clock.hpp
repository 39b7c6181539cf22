#pragma once

#include <cstdint>

namespace weir::internal {

/// The processor's counter and the steady clock, which takes more than twice as long to read.
struct ProcessorTicks {
  /// Whether the counter runs at one speed, whatever the processor does.
  static bool are_steady() noexcept;
  static std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
  }
  static std::int64_t now_ns() noexcept;
};

/// The steady clock, read by counting ticks since it was last looked at; that is done again and
/// again. What one of them tells never goes back. Where ticks are not steady, it is the clock.
///
/// For one thread.
template <class Source = ProcessorTicks>
class TickClock {
 public:
  explicit TickClock(Source source = {}) noexcept
      : source_(source), is_steady_(source_.are_steady()) {
    if (!is_steady_) return;
    first_ticks_ = anchor_ticks_ = source_.ticks();
    first_ns_ = anchor_ns_ = source_.now_ns();
  }

  std::int64_t now_ns() noexcept {
    if (!is_steady_) [[unlikely]]
      return source_.now_ns();
    const std::uint64_t passed = source_.ticks() - anchor_ticks_;
    if (passed >= trusted_ticks_) [[unlikely]]
      return look_again();
    return anchor_ns_ + to_ns(passed);
  }

  /// For so long ticks are believed, and before the speed has been measured for so long they are
  /// not.
  static constexpr std::int64_t trusted_ns = 10'000'000;
  static constexpr std::int64_t measured_ns_min = 1'000'000;

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int fraction_bits = 32;

  std::int64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<Wide>(ticks) * ns_per_tick_ >> fraction_bits);
  }

  std::int64_t look_again() noexcept {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::int64_t now = 0;
    // The clock is read between two looks at the counter. If they are far apart, something else
    // ran meanwhile.
    int tries = 0;
    do {
      before = source_.ticks();
      now = source_.now_ns();
      after = source_.ticks();
    } while (after - before > ticks_apart_max && ++tries < tries_max);
    const std::uint64_t ticks = before + (after - before) / 2;
    // What has been told already may be ahead of the clock by a little: it is made slower then, so
    // that both meet again.
    const std::int64_t told = now < told_max_ns_ ? told_max_ns_ : now;
    measure(ticks, now, told - now < trusted_ns / 2 ? told - now : trusted_ns / 2);
    anchor_ticks_ = ticks;
    anchor_ns_ = told;
    told_max_ns_ = told + to_ns(trusted_ticks_);
    return told;
  }

  // By all the time since the beginning: the longer, the more exact.
  void measure(std::uint64_t ticks, std::int64_t now, std::int64_t ahead_ns) noexcept {
    const std::int64_t passed_ns = now - first_ns_;
    const std::uint64_t passed_ticks = ticks - first_ticks_;
    if (passed_ns < measured_ns_min || passed_ticks == 0) return;
    trusted_ticks_ = static_cast<std::uint64_t>(static_cast<Wide>(trusted_ns) * passed_ticks /
                                                static_cast<std::uint64_t>(passed_ns));
    ns_per_tick_ = static_cast<std::uint64_t>(
        (static_cast<Wide>(trusted_ns - ahead_ns) << fraction_bits) / trusted_ticks_);
  }

  static constexpr std::uint64_t ticks_apart_max = 2000;
  static constexpr int tries_max = 4;

  [[no_unique_address]] Source source_;
  const bool is_steady_;
  std::uint64_t anchor_ticks_ = 0;
  std::int64_t anchor_ns_ = 0;
  std::uint64_t trusted_ticks_ = 0;  // after the anchor; none before the speed is known
  std::uint64_t ns_per_tick_ = 0;    // as a fraction
  std::uint64_t first_ticks_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t told_max_ns_ = INT64_MIN;
};

}  // namespace weir::internal
