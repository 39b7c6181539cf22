#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

/// What a key is limited to: by its own limit, or by that of its class.
struct Bounds {
  std::optional<std::uint32_t> concurrency_max = {};
  std::optional<Rate> rate = {};
};

Bounds bounds_of(Draft& draft, const std::string& key) {
  const Limit* own = draft.find<Limit>(key);
  if (own != nullptr && own->is_set()) return {own->concurrency_max, own->rate};
  const std::string many = class_of(key);
  const Limit* shared = many.empty() ? nullptr : draft.find<Limit>(many);
  return shared != nullptr ? Bounds{shared->concurrency_max, shared->rate} : Bounds{};
}

Admission admission_under(Draft& draft, const std::string& key) {
  const Bounds bounds = bounds_of(draft, key);
  const Limit* limit = draft.find<Limit>(key);
  const Limit use = limit != nullptr ? *limit : Limit();
  if (bounds.concurrency_max && use.active >= *bounds.concurrency_max) {
    return {Refusal::key_full, {}, key};
  }
  if (bounds.rate && use.rate_use.room(*bounds.rate, draft.now()) == 0) {
    return {Refusal::key_rate, use.rate_use.room_at(*bounds.rate), key};
  }
  return {};
}

/// What nobody has set and nobody uses need not be kept.
bool is_idle(const Limit& limit, Time now) {
  return !limit.is_set() && limit.active == 0 && limit.rate_use.next <= now;
}

}  // namespace

bool is_class(const std::string& key) { return key.ends_with(":*"); }

std::string class_of(const std::string& key) {
  const std::size_t colon = key.find(':');
  return colon == std::string::npos ? std::string() : key.substr(0, colon) + ":*";
}

Admission admission_of(Draft& draft, const Execution& execution) {
  if (const Lane* lane = draft.find<Lane>(execution.lane)) {
    const Admission admission = lane->admission(draft.now());
    if (!admission.is_given()) return admission;
  }
  for (const std::string& key : execution.limit_keys) {
    Admission admission = admission_under(draft, key);
    if (!admission.is_given()) return admission;
  }
  return {};
}

void count_lease(Draft& draft, const Execution& execution, bool begins) {
  Lane& lane = draft.edit_or_make<Lane>(execution.lane);
  lane.active = begins ? lane.active + 1 : lane.active - 1;
  for (const std::string& key : execution.limit_keys) {
    Limit& limit = draft.edit_or_make<Limit>(key);
    limit.active = begins ? limit.active + 1 : limit.active - 1;
    if (is_idle(limit, draft.now())) draft.remove<Limit>(key);
  }
}

void spend_rates(Draft& draft, const Execution& execution) {
  const Lane* lane = draft.find<Lane>(execution.lane);
  if (lane != nullptr && lane->rate) {
    Lane& spent = *draft.edit<Lane>(execution.lane);
    spent.rate_use.take(*spent.rate, draft.now());
  }
  for (const std::string& key : execution.limit_keys) {
    const Bounds bounds = bounds_of(draft, key);
    if (bounds.rate) draft.edit_or_make<Limit>(key).rate_use.take(*bounds.rate, draft.now());
  }
}

Result<> set_lane_state(Draft& draft, const std::string& lane, LaneState state) {
  if (auto valid = validate_name("lane", lane); !valid) return valid;
  if (to_string(state) == "?") {
    return Error(Errc::invalid_argument,
                 "lane '" + lane + "': state " + std::to_string(static_cast<int>(state)));
  }
  Lane& changed = draft.edit_or_make<Lane>(lane);
  changed.state = state;
  changed.ramp.reset();
  return {};
}

Result<> set_lane_limit(Draft& draft, const std::string& lane,
                        std::optional<std::uint32_t> concurrency_max) {
  if (auto valid = validate_name("lane", lane); !valid) return valid;
  draft.edit_or_make<Lane>(lane).concurrency_max = concurrency_max;
  return {};
}

Result<> set_lane_rate(Draft& draft, const std::string& lane, const std::optional<Rate>& rate) {
  if (auto valid = validate_name("lane", lane); !valid) return valid;
  if (auto valid = rate ? workflow::validate(*rate) : Result<>(); !valid) return valid;
  Lane& changed = draft.edit_or_make<Lane>(lane);
  changed.rate = rate;
  changed.rate_use = {};
  return {};
}

Result<> resume_lane(Draft& draft, const std::string& lane, const ResumeLane& request) {
  if (auto valid = validate_name("lane", lane); !valid) return valid;
  if (auto valid = validate_duration("ramp", request.over); !valid) return valid;
  if (request.from == 0 || request.from > request.to) {
    return Error(Errc::invalid_argument, "lane '" + lane + "': a ramp from " +
                                             std::to_string(request.from) + " to " +
                                             std::to_string(request.to));
  }
  Lane& changed = draft.edit_or_make<Lane>(lane);
  changed.state = LaneState::active;
  const auto over = std::chrono::ceil<Time::duration>(request.over);
  changed.ramp = Ramp{draft.now(), draft.now() + over, request.from, request.to};
  return {};
}

Result<> set_limit(Draft& draft, const std::string& key,
                   std::optional<std::uint32_t> concurrency_max, const std::optional<Rate>& rate) {
  if (auto valid = validate_name("limit key", key); !valid) return valid;
  if (auto valid = rate ? workflow::validate(*rate) : Result<>(); !valid) return valid;
  Limit& limit = draft.edit_or_make<Limit>(key);
  if (limit.rate != rate) limit.rate_use = {};
  limit.concurrency_max = concurrency_max;
  limit.rate = rate;
  if (is_idle(limit, draft.now())) draft.remove<Limit>(key);
  return {};
}

}  // namespace weir::flow::workflow::internal
