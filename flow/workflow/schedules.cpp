#include <weir/flow/workflow/schedules.hpp>

#include <weir/flow/workflow/cron.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/payload.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {
namespace {

// A schedule that was cancelled leaves its id behind; the next one of the name has the next.
constexpr std::uint64_t generations_max = 10'000;

data::Uuid uuid_of(const std::string& name, std::uint64_t generation) {
  std::uint64_t high = 0xcbf29ce484222325U ^ generation;
  std::uint64_t low = 0x9e3779b97f4a7c15U + generation;
  for (const char c : name) {
    high = (high ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    low = (low ^ high) * 0xbf58476d1ce4e5b9U;
    low ^= low >> 31;
  }
  return make_timed_uuid(generation, high, low);
}

/// The last time that is due.
Time newest_due(const Cron& cron, Time due, Time now) {
  for (;;) {
    const auto next = cron.next_after(due);
    if (!next || *next > now) return due;
    due = *next;
  }
}

}  // namespace

Task<Result<Created>> start_schedule(const Engine* engine, Schedule schedule) {
  WEIR_CO_TRY(cron, Cron::parse(schedule.cron));
  if (!cron.next_after(engine->time())) {
    co_return Error(Errc::invalid_argument, "cron: '" + schedule.cron + "' never comes");
  }
  if (to_string(schedule.overlap) == "?") {
    co_return Error(Errc::unsupported_policy,
                    "overlap " + std::to_string(static_cast<int>(schedule.overlap)));
  }
  internal::ScheduleState state{.cron = schedule.cron,
                                .kind = schedule.kind,
                                .payload = schedule.payload,
                                .lane = schedule.lane,
                                .overlap = schedule.overlap,
                                .last = engine->time()};
  for (std::uint64_t generation = 0; generation < generations_max; ++generation) {
    const auto id = ExecutionId::in_lane(schedule.lane, uuid_of(schedule.name, generation));
    WEIR_CO_TRY(known, co_await engine->describe(id));
    if (known && known->execution.has_ended()) continue;
    co_return co_await engine->create_execution({.kind = internal::schedule_kind,
                                                 .payload = to_payload(state),
                                                 .lane = schedule.lane,
                                                 .id = id,
                                                 .creator = schedule.name});
  }
  co_return Error(Errc::limit_reached, "schedule '" + schedule.name + "' was begun too often");
}

namespace internal {

Task<> run_schedule(WorkflowContext ctx, ScheduleState state) {
  const auto cron = Cron::parse(state.cron);
  const auto due = cron.value().next_after(state.last);
  if (!due) co_return;
  co_await ctx.sleep_until(*due);
  bool begins = true;
  if (state.previous && state.overlap != Overlap::allow) {
    const Child<void> previous{*state.previous};
    if (state.overlap == Overlap::queue_one) {
      // One that ended long ago may not be there any more.
      if (!co_await ctx.has_ended(previous)) co_await ctx.end_of(previous);
    } else if (state.overlap == Overlap::cancel_previous) {
      co_await ctx.cancel(previous);
    } else {
      begins = co_await ctx.has_ended(previous);
    }
  }
  state.last = newest_due(*cron, *due, ctx.now());
  if (begins) {
    const auto child =
        ctx.child<void>(state.kind, state.payload,
                        {.lane = state.lane, .priority = 0, .on_parent_end = OnParentEnd::let_run});
    state.previous = child.id;
  }
  co_await ctx.continue_as_new(state);
}

}  // namespace internal
}  // namespace weir::flow::workflow
