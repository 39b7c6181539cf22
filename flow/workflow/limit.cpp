#include <weir/flow/workflow/limit.hpp>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {
namespace {

constexpr std::uint32_t rate_max = 1'000'000;
constexpr Duration per_max = std::chrono::hours(24 * 31);
constexpr Duration burst_time_max = std::chrono::hours(24 * 366);

/// Not before it.
Time ceiled(std::chrono::sys_time<Duration> time) {
  return std::chrono::ceil<Time::duration>(time);
}

}  // namespace

std::uint32_t RateUse::room(const Rate& rate, Time now) const noexcept {
  const Duration ahead = next - std::chrono::sys_time<Duration>(now);
  if (ahead <= Duration::zero()) return rate.burst;
  const Duration left = rate.interval() * rate.burst - ahead;
  return left < Duration::zero() ? 0 : static_cast<std::uint32_t>(left / rate.interval());
}

Time RateUse::room_at(const Rate& rate) const noexcept {
  return ceiled(next - rate.interval() * (rate.burst - 1));
}

void RateUse::take(const Rate& rate, Time now) noexcept {
  next = std::max(next, std::chrono::sys_time<Duration>(now)) + rate.interval();
}

std::optional<std::uint32_t> Ramp::at(Time now) const noexcept {
  if (now >= end) return std::nullopt;
  if (now <= begin) return from;
  const double part =
      static_cast<double>((now - begin).count()) / static_cast<double>((end - begin).count());
  return from + static_cast<std::uint32_t>(part * (to - from));
}

Time Ramp::exceeds_at(std::uint64_t active) const noexcept {
  if (active < from) return begin;
  if (active >= to) return end;
  const double part = static_cast<double>(active + 1 - from) / static_cast<double>(to - from);
  const double ticks = part * static_cast<double>((end - begin).count());
  // One more tick than it may be, since both are rounded.
  return std::min(end, begin + Time::duration(static_cast<Time::rep>(ticks) + 1));
}

Admission Lane::admission(Time now) const {
  if (state != LaneState::active && state != LaneState::draining) return {Refusal::lane_paused};
  if (concurrency_max && active >= *concurrency_max) return {Refusal::lane_full};
  if (ramp) {
    const auto most = ramp->at(now);
    if (most && active >= *most) return {Refusal::lane_ramp, ramp->exceeds_at(active)};
  }
  if (rate && rate_use.room(*rate, now) == 0) {
    return {Refusal::lane_rate, rate_use.room_at(*rate)};
  }
  return {};
}

std::uint64_t Lane::room(Time now) const {
  if (!admission(now).is_given()) return 0;
  std::uint64_t room = UINT64_MAX;
  if (concurrency_max) room = std::min(room, *concurrency_max - active);
  if (const auto most = ramp ? ramp->at(now) : std::nullopt) room = std::min(room, *most - active);
  if (rate) room = std::min<std::uint64_t>(room, rate_use.room(*rate, now));
  return room;
}

Result<> validate(const Rate& rate) {
  const auto refuse = [&](const std::string& why) {
    return Error(Errc::invalid_argument, "a rate of " + std::to_string(rate.count) + " in " +
                                             std::to_string(rate.per.count()) + " ns, burst " +
                                             std::to_string(rate.burst) + ": " + why);
  };
  if (rate.count == 0 || rate.count > rate_max) return refuse("from 1 to 1000000");
  if (rate.per < std::chrono::microseconds(1) || rate.per > per_max) {
    return refuse("in a microsecond to 31 days");
  }
  if (rate.burst == 0 || rate.burst > burst_time_max / rate.interval()) {
    return refuse("a burst of 1 to what comes in a year");
  }
  return {};
}

}  // namespace weir::flow::workflow
