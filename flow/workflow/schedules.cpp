#include <weir/flow/workflow/schedules.hpp>

#include <weir/flow/workflow/cron.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/validation.hpp>
#include <weir/flow/workflow/payload.hpp>
#include <weir/runtime/span.hpp>
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

/// What it is to begin has to be good when it begins it.
Result<> validate(const Schedule& schedule, Time now) {
  if (auto valid = internal::validate_name("schedule", schedule.name); !valid) return valid;
  if (auto valid = internal::validate_name("kind", schedule.kind); !valid) return valid;
  if (auto valid = internal::refuse_own_kind(schedule.kind); !valid) return valid;
  if (auto valid = internal::validate_name("lane", schedule.lane); !valid) return valid;
  if (auto valid = internal::validate_payload("payload", schedule.payload); !valid) return valid;
  auto cron = Cron::parse(schedule.cron);
  if (!cron) return cron.error();
  if (!cron->next_after(now)) {
    return Error(Errc::invalid_argument, "cron: '" + schedule.cron + "' never comes");
  }
  if (to_string(schedule.overlap) != "?") return {};
  return Error(Errc::unsupported_policy,
               "overlap " + std::to_string(static_cast<int>(schedule.overlap)));
}

/// What of a schedule that is there is not as it is asked for.
std::string difference(const internal::ScheduleState& there, const internal::ScheduleState& asked) {
  if (there.cron != asked.cron) return "cron '" + there.cron + "'";
  if (there.kind != asked.kind) return "kind '" + there.kind + "'";
  if (there.payload != asked.payload) return "another payload";
  if (there.overlap != asked.overlap) return "overlap " + std::string(to_string(there.overlap));
  return "";
}

/// The one that is there under the name is the one that is asked for, or none.
Task<Result<>> compare(const Engine* engine, ExecutionId id, internal::ScheduleState asked) {
  WEIR_CO_TRY(info, co_await engine->describe(id));
  if (!info) co_return {};
  WEIR_CO_TRY(there, from_payload<internal::ScheduleState>(info->spec.payload));
  const std::string differs = difference(there, asked);
  if (differs.empty()) co_return {};
  co_return Error(Errc::already_exists, "schedule '" + info->spec.creator + "' is there, with " +
                                            differs + ": execution " + to_string(id));
}

}  // namespace

Task<Result<Created>> start_schedule(const Engine* engine, Schedule schedule) {
  if (auto valid = validate(schedule, engine->time()); !valid) co_return valid.error();
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
    WEIR_CO_TRY(created, co_await engine->create_own({.kind = internal::schedule_kind,
                                                      .payload = to_payload(state),
                                                      .lane = schedule.lane,
                                                      .id = id,
                                                      .creator = schedule.name}));
    if (created.is_duplicate) WEIR_CO_TRY_VOID(co_await compare(engine, id, state));
    co_return created;
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
  const telemetry::TraceContext here = current_trace();
  if (begins) {
    // Each of them is a trace of its own, or that of the schedule would never end.
    Span beginning = root_span("workflow.schedule", {{"workflow.kind", state.kind}});
    beginning.add_link(here);
    const auto child =
        ctx.child<void>(state.kind, state.payload,
                        {.lane = state.lane, .priority = 0, .on_parent_end = OnParentEnd::let_run});
    state.previous = child.id;
  }
  co_await ctx.continue_as_new(state);
}

}  // namespace internal
}  // namespace weir::flow::workflow
