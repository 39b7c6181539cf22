#pragma once

#include <bit>
#include <cstdint>

namespace weir::internal {

/// Chooses the messages whose durations are measured: one of several, by chance, so that nothing
/// that repeats itself is always met or always missed. Adapts to what is sent: of few messages each
/// one is chosen, of many at most one in `one_in_max`. Used by one thread.
class MessageSampler {
 public:
  explicit MessageSampler(std::uint32_t one_in_max, std::uint64_t seed) noexcept
      : exponent_max_(static_cast<std::uint8_t>(std::bit_width(one_in_max) - 1)), random_(seed) {}

  /// How many messages pass before the next one that is chosen.
  std::uint32_t to_pass() const noexcept { return to_pass_; }
  void pass(std::uint32_t messages) noexcept { to_pass_ -= messages; }
  void take_back(std::uint32_t messages) noexcept { to_pass_ += messages; }

  /// A message is chosen, which stands for two to the power of what is returned.
  std::uint8_t choose(std::int64_t now_ns) noexcept {
    const std::uint8_t chosen = exponent_;
    adapt(now_ns - last_ns_);
    last_ns_ = now_ns;
    // Of all numbers from zero to twice the average.
    to_pass_ = static_cast<std::uint32_t>(next() % ((std::uint64_t{2} << exponent_) - 1));
    return chosen;
  }

 private:
  // To measure takes some hundred nanoseconds: at this distance they do not matter.
  static constexpr std::int64_t distance_min_ns = 32'000;
  static constexpr std::int64_t distance_max_ns = 128'000;

  void adapt(std::int64_t distance_ns) noexcept {
    if (distance_ns < distance_min_ns && exponent_ < exponent_max_) ++exponent_;
    for (; distance_ns > distance_max_ns && exponent_ > 0; distance_ns /= 2) --exponent_;
  }
  std::uint64_t next() noexcept {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return random_ >> 33;
  }

  std::uint32_t to_pass_ = 0;
  std::uint8_t exponent_ = 0;
  std::uint8_t exponent_max_;
  std::int64_t last_ns_ = INT64_MIN / 2;
  std::uint64_t random_;
};

}  // namespace weir::internal
