// Workers, lanes and notices.

#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

constexpr std::string_view of_workers = R"(
ClaimRequest = {|
  worker! string, lane string=default, capabilities @Texts, namespaces @Texts,
  lease_seconds number=30, executions_max integer(1..100)=1, wait_seconds number=0
|}
Resumption = {
  key! string?, state! <satisfied timed_out overruled>, by! string?, signals! [@Signal]
}?
Claims = {
  claims! [{
    handle! string, execution! string, kind! string, payload! @Payload,
    inputs! [{name! string, upstream! string, payload! @Payload}], attempt! integer,
    attempt_kind! <initial retry reclaim replay>, lease_until! @Time, created! @Time,
    creator! string, resumed! @Resumption,
    traceparent! string? 'of whoever asked for it, to go on with; null if that is not recorded'
  }]
}
Renewal = {|handle! string, lease_seconds number=30|}
Renewed = {lease_until! @Time}
Completion = {|handle! string, result @Payload|}
FailureReport = {|
  handle! string, reason! string, category string,
  final boolean 'it is not tried again, whatever the policy'
|}
FailureTaken = {retry_at! @Time}
DelayRequest = {|handle! string, until @Time, delay_seconds number 'from now, instead of until'|}
SuspendRequest = {|
  handle! string, condition! @WaitCondition, key string, reason string, timeout_seconds number,
  on_timeout <fail cancel expire resume escalate>, resume_delay_seconds number
|}
Suspended = {resumed! @Resumption, tokens! [@WaitpointToken]}
Rate = {|count! integer, per_seconds number=1, burst integer=1|}?
Admission = {reason! string, until! @Time, limit! string?}? 'why it is not claimed, if that is so'
Lane = {
  lane! string, state! <active paused draining disabled>, concurrency_max! integer?, rate! @Rate,
  active! @Integer, refusal! @Admission, counts! {*: @Integer},
  waiting! [{id! string, since! @Time, refusal! @Admission}]
    'those that could be claimed, in the order in which they would be'
}
LaneState = {|state! <active paused draining disabled>|}
LaneLimit = {|concurrency_max integer? 'null: any'|}
LaneRate = {|rate @Rate|}
ResumeLane = {|from integer=1, to! integer, over_seconds number=60|}
NewLimit = {|...LaneLimit, ...LaneRate|}
Limit = {key! string, concurrency_max! integer?, rate! @Rate, active! @Integer}
Notices = {
  notices! [{
    number! @Integer, kind! string, execution! string, workflow! string?, namespace! string,
    outcome! string?, waitpoint! string?, at! @Time
  }],
  next! @Integer
}
Acknowledgement = {|consumer! string, number! @Integer|}
NoticeConsumers = {consumers! {*: @Integer}, first! @Integer}
Engine = {
  time! @Time, now! {*: @Integer}, since_start! {*: @Integer},
  set_aside! [{what! string, reason! string}]
}
)";

}  // namespace

std::string_view claim_schemas() noexcept { return of_workers; }

}  // namespace weir::server::internal
