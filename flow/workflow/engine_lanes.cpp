#include <algorithm>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/validation.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {

using internal::CoreRef;
using internal::Draft;
using internal::run;

Task<Result<>> Engine::set_lane_state(std::string lane, LaneState state) const {
  return run(core_, [lane = std::move(lane), state](Draft& draft) {
    return internal::set_lane_state(draft, lane, state);
  });
}

Task<Result<>> Engine::set_lane_limit(std::string lane,
                                      std::optional<std::uint32_t> concurrency_max) const {
  return run(core_, [lane = std::move(lane), concurrency_max](Draft& draft) {
    return internal::set_lane_limit(draft, lane, concurrency_max);
  });
}

Task<Result<Lane>> Engine::lane(std::string lane) const {
  return run(core_, [lane = std::move(lane)](Draft& draft) -> Result<Lane> {
    const Lane* found = draft.find<Lane>(lane);
    return found != nullptr ? *found : Lane();
  });
}

Task<Result<>> Engine::set_lane_rate(std::string lane, std::optional<Rate> rate) const {
  return run(core_, [lane = std::move(lane), rate](Draft& draft) {
    return internal::set_lane_rate(draft, lane, rate);
  });
}

Task<Result<>> Engine::resume_lane(std::string lane, ResumeLane request) const {
  return run(core_, [lane = std::move(lane), request](Draft& draft) {
    return internal::resume_lane(draft, lane, request);
  });
}

Task<Result<>> Engine::set_limit(std::string key, std::optional<std::uint32_t> concurrency_max,
                                 std::optional<Rate> rate) const {
  return run(core_, [key = std::move(key), concurrency_max, rate](Draft& draft) {
    return internal::set_limit(draft, key, concurrency_max, rate);
  });
}

Task<Result<Limit>> Engine::limit(std::string key) const {
  return run(core_, [key = std::move(key)](Draft& draft) -> Result<Limit> {
    const Limit* found = draft.find<Limit>(key);
    return found != nullptr ? *found : Limit();
  });
}

Task<Result<QueueInfo>> Engine::queue(std::string lane, std::size_t limit) const {
  const CoreRef core = core_;
  if (auto valid = internal::validate_name("lane", lane); !valid) co_return valid.error();
  limit = std::min<std::size_t>(limit, 1000);
  WEIR_CO_TRY(seen, co_await core->queue(lane, limit));
  // By the limits as they are by now.
  co_return co_await run(core, [seen = std::move(seen), lane](Draft& draft) -> Result<QueueInfo> {
    const Lane* found = draft.find<Lane>(lane);
    QueueInfo info{found != nullptr ? *found : Lane(), {}, seen.counts, {}};
    info.admission = info.lane.admission(draft.now());
    for (const auto& waiting : seen.waiting) {
      const Execution* execution = draft.find<Execution>(waiting.id);
      if (execution == nullptr) continue;
      info.waiting.push_back({waiting.id, waiting.since, admission_of(draft, *execution)});
    }
    return info;
  });
}

}  // namespace weir::flow::workflow
