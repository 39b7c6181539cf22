// Executions and workflows.

#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

constexpr std::string_view of_workflows = R"(
Payload = string | {|base64! string|} 'text, or bytes that are no UTF-8 as base64'
Time = string?:date-time
Tags = {*: string} 'keys are two or more words with points between them: team.name'
Texts = [string]
Retry = {|
  retries_max integer, backoff_seconds number, multiplier integer, backoff_max_seconds number,
  jitter boolean, categories @Texts
|}
Execution = {
  id! string, kind! string, namespace! string, lane! string, workflow! string?,
  state! @ExecutionState, phase string, ownership string, eligibility string, waits_for string?,
  outcome! string?, attempt_state string, priority! integer,
  reason! string? 'why it ended as it did', ended_by string?,
  sibling boolean 'cancelled as others had decided', created! @Time, changed @Time, started! @Time,
  ended! @Time, not_before @Time, deadline @Time, attempt_deadline @Time, suspended_until @Time,
  attempt! integer? 'the newest, from 0', attempts! integer 'made so far',
  attempts_max! integer 'if none of them loses its lease', retries integer, reclaims integer,
  reclaims_max integer, replays integer, replays_max integer, suspensions integer,
  signals integer, worker! string?, lease_since @Time,
  lease_until! @Time, tags! @Tags, capabilities @Texts, limit_keys @Texts, creator string,
  idempotency_key string?, trace string? 'the id of the trace that it belongs to',
  attempt_timeout_seconds number?, retry @Retry, payload @Payload
}
ExecutionState = <
  waiting delayed rate_limited waiting_children active suspended completed failed cancelled expired
  skipped
>
Executions = {executions! [@Execution], next! string?}
GraphExecution = {|
  kind! string, payload @Payload, lane string=default, id string, idempotency_key string,
  priority integer(0..9000), not_before @Time, delay_seconds number 'instead of not_before',
  deadline @Time, attempt_timeout_seconds number, retry @Retry, capabilities @Texts,
  limit_keys @Texts, tags @Tags, creator string, reclaims_max integer, replays_max integer
|}
NewExecution = {|
  ...GraphExecution, namespace string=default, workflow string 'it begins when that is applied'
|}
ExecutionCreated = {id! string, is_duplicate! boolean}
ExecutionResult = {state! @ExecutionState, result! any}
Attempts = {
  attempts! [{
    attempt! integer, kind! <initial retry reclaim replay>, outcome! string, worker! string,
    after integer?, started! @Time, ended! @Time, reason! string?
  }]
}
Signal = {
  waitpoint! string, payload! @Payload, id! string?, source! string?, approval! boolean, at! @Time
}
Signals = {signals! [@Signal], next! integer?}
WaitCondition = {|
  kind `{"enum": ["all_of", "any_of", "count"], "default": "all_of"}`, waitpoints @Texts,
  count integer, distinct <waitpoints signals sources>
|}
SuspensionSeen = {
  suspension! {
    state! <waiting satisfied timed_out overruled>, condition! @WaitCondition, suspended! @Time,
    ended! @Time, signals! [integer], key! any, on_timeout! any
  }?
}
Journal = {
  begin! integer, end! integer,
  entries! [{payload! @Payload, at! @Time, kind! any, name! any, number! any, failed! any}]
}
Reason = {|reason string|}
Cancelled = {is_new! boolean 'false if it had ended before'}
NewPriority = {|priority! integer(0..9000)|}
NewTags = {|tags! @Tags|}
NewApproval = {|
  waitpoint! string, payload @Payload, id string 'the same one at the same waitpoint counts once',
  source string
|}
NewSignal = {|token! string, ...NewApproval|}
SignalEffect = {effect! <kept resumed duplicate>}
WaitpointToken = {waitpoint! string, token! string}
EdgePolicy = {|
  kind! <all_of any_of quorum>, count integer 'of a quorum',
  on_satisfied <let_run cancel_remaining>
|}?
Workflow = {
  id! string, kind! string, namespace! string,
  state! <open running blocked completed failed cancelled>,
  outcome! <completed failed cancelled null>, on_failure! <isolate fail_fast collect>,
  stays_open boolean, created! @Time, changed @Time, ended! @Time, executions! @Integer,
  counts! {*: @Integer} 'executions by state', edges! @Integer, revision! @Integer,
  unapplied @Integer, cancel_policy string?, cancel_reason string?, tags! @Tags
}
Workflows = {workflows! [@Workflow], next! string?}
NewWorkflow = {|
  kind string, namespace string=default, id string, on_failure <isolate fail_fast collect>,
  stays_open boolean, tags @Tags, executions [@GraphExecution](..10000),
  edges [{|upstream! integer, downstream! integer, input string|}
    'between executions by their places in the list, from 0'],
  policies [{|downstream! integer, policy! @EdgePolicy|}]
|}
WorkflowCreated = {id! string, executions! @Texts}
NewEdges = {|
  edges! [{|
    upstream! string, downstream! string, id string,
    input string 'the name of the result for the downstream', creator string
  |}],
  revision integer 'only if the graph has it'
|}
Revision = {revision! @Integer}
NewPolicy = {|downstream! string, policy! @EdgePolicy|}
PolicySet = {is_new! boolean 'false if it was that already'}
CancelWorkflow = {|policy <cancel_workflow_only cancel_all cancel_pending>, reason string|}
WorkflowCancelled = {is_new! boolean, cancelled! @Texts}
Graph = {
  workflow! string, revision! @Integer,
  nodes! [{
    id! string, kind! string, state! @ExecutionState, attempt! integer?, attempts integer,
    attempts_max integer, retries integer, reclaims integer, reclaims_max integer,
    replays integer, replays_max integer, created! @Time, changed @Time, started! @Time,
    ended! @Time, not_before @Time, deadline @Time, attempt_deadline @Time,
    suspended_until @Time, worker string?, lease_since @Time, lease_until @Time, reason string?,
    policy! @EdgePolicy, dependencies! string?, lane! string
  }],
  edges! [{
    id! string, upstream! string, downstream! string, input! string?,
    state! <pending satisfied impossible cancelled>, applied! boolean
  }],
  truncated! boolean
}
)";

}  // namespace

std::string_view workflow_schemas() noexcept { return of_workflows; }

}  // namespace weir::server::internal
