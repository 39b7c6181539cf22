#include <weir/server/internal/workflow_json.hpp>

#include <weir/flow/data/calendar.hpp>
#include <weir/flow/data/utf8.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;

namespace {

void write_count(JsonWriter& json, std::string_view name, std::uint64_t count) {
  json.key(name).number(count);
}

void write_workflow_id(JsonWriter& json, const std::optional<workflow::WorkflowId>& id) {
  if (id) {
    json.text(to_string(*id));
  } else {
    json.null();
  }
}

/// Each part of where it is in its life.
void write_state(JsonWriter& json, const workflow::ExecutionInfo& info) {
  const workflow::StateVector& state = info.execution.state;
  json.key("state").text(to_string(info.state)).key("phase").text(to_string(state.phase));
  json.key("ownership").text(to_string(state.ownership));
  json.key("eligibility").text(to_string(state.eligibility));
  json.key("waits_for");
  write_text(json, state.reason == workflow::BlockingReason::none ? "" : to_string(state.reason));
  json.key("outcome");
  write_text(json, state.outcome == workflow::Outcome::none ? "" : to_string(state.outcome));
  json.key("attempt_state").text(to_string(state.attempt));
}

void write_attempts_made(JsonWriter& json, const workflow::ExecutionInfo& info) {
  const workflow::Execution& execution = info.execution;
  json.key("attempt");
  if (execution.attempts > 0) {
    json.number(std::uint64_t{execution.attempt});
  } else {
    json.null();
  }
  write_count(json, "attempts", execution.attempts);
  write_count(json, "attempts_max", std::uint64_t{info.spec.retry.retries_max} + 1);
  write_count(json, "retries", execution.retries);
  write_count(json, "reclaims", execution.reclaims);
  write_count(json, "reclaims_max", info.spec.reclaims_max);
  write_count(json, "replays", execution.replays);
  write_count(json, "replays_max", info.spec.replays_max);
}

void write_lease(JsonWriter& json, const std::optional<workflow::Lease>& lease) {
  json.key("worker");
  write_text(json, lease ? lease->worker : "");
  json.key("lease_since");
  write_time(json, lease ? std::optional(lease->acquired_at) : std::nullopt);
  json.key("lease_until");
  write_time(json, lease ? std::optional(lease->expires_at) : std::nullopt);
}

void write_times(JsonWriter& json, const workflow::ExecutionInfo& info) {
  const workflow::Execution& execution = info.execution;
  using enum workflow::Eligibility;
  const bool is_delayed = execution.state.eligibility == not_eligible_until_time;
  json.key("created");
  write_time(json, info.spec.created_at);
  json.key("changed");
  write_time(json, execution.changed_at);
  json.key("started");
  write_time(json,
             execution.attempts > 0 ? std::optional(execution.newest.started_at) : std::nullopt);
  json.key("ended");
  write_time(json, execution.ended_at);
  json.key("not_before");
  write_time(json, is_delayed ? std::optional(execution.eligible_at) : std::nullopt);
  json.key("deadline");
  write_time(json, execution.deadline);
  json.key("attempt_deadline");
  write_time(json, execution.attempt_deadline);
  json.key("suspended_until");
  write_time(json, execution.suspended_until);
}

void write_retry(JsonWriter& json, const workflow::RetryPolicy& retry) {
  json.begin_object().key("retries_max").number(std::uint64_t{retry.retries_max});
  json.key("backoff_seconds");
  write_seconds(json, retry.backoff);
  json.key("multiplier").number(std::uint64_t{retry.multiplier}).key("backoff_max_seconds");
  write_seconds(json, retry.backoff_max);
  json.key("jitter").boolean(retry.has_jitter).key("categories");
  write_texts(json, retry.categories);
  json.end_object();
}

void write_condition(JsonWriter& json, const workflow::WaitCondition& condition) {
  json.begin_object().key("kind").text(to_string(condition.kind)).key("waitpoints");
  write_texts(json, condition.waitpoints);
  if (condition.kind == workflow::WaitCondition::Kind::count) {
    json.key("count").number(std::uint64_t{condition.k});
    json.key("distinct").text(to_string(condition.distinct));
  }
  json.end_object();
}

void write_policy(JsonWriter& json, const workflow::EdgePolicy& policy) {
  json.begin_object().key("kind").text(to_string(policy.kind));
  if (policy.kind == workflow::EdgePolicy::Kind::quorum)
    json.key("count").number(std::uint64_t{policy.k});
  json.key("on_satisfied").text(to_string(policy.on_satisfied)).end_object();
}

}  // namespace

void write_time(JsonWriter& json, const std::optional<workflow::Time>& time) {
  if (time) {
    json.text(flow::data::to_string(*time));
  } else {
    json.null();
  }
}

void write_seconds(JsonWriter& json, const std::optional<Duration>& time) {
  if (time) {
    json.number(std::chrono::duration<double>(*time).count());
  } else {
    json.null();
  }
}

void write_payload(JsonWriter& json, std::string_view bytes) {
  if (flow::data::is_utf8(bytes)) {
    json.text(bytes);
  } else {
    json.begin_object().key("base64").text(encode_base64(bytes, Base64::standard)).end_object();
  }
}

void write_text(JsonWriter& json, std::string_view text) {
  if (text.empty()) {
    json.null();
  } else {
    json.text(text);
  }
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

void write_tags(JsonWriter& json, const workflow::Tags& tags) {
  json.begin_object();
  for (const auto& [key, value] : tags) json.key(key).text(value);
  json.end_object();
}

void write_rate(JsonWriter& json, const std::optional<workflow::Rate>& rate) {
  if (!rate) {
    json.null();
    return;
  }
  json.begin_object().key("count").number(std::uint64_t{rate->count}).key("per_seconds");
  write_seconds(json, rate->per);
  json.key("burst").number(std::uint64_t{rate->burst}).end_object();
}

void write_admission(JsonWriter& json, const workflow::Admission& admission) {
  if (admission.is_given()) {
    json.null();
    return;
  }
  json.begin_object().key("reason").text(to_string(admission.refusal)).key("until");
  write_time(json, admission.until);
  json.key("limit");
  write_text(json, admission.key);
  json.end_object();
}

void write_counts(JsonWriter& json, const workflow::StateCounts& counts) {
  json.begin_object();
  for (std::size_t at = 0; at < counts.by_state.size(); ++at) {
    if (counts.by_state[at] > 0)
      json.key(workflow::words<workflow::PublicState>[at]).number(counts.by_state[at]);
  }
  json.end_object();
}

void write_execution(JsonWriter& json, const workflow::ExecutionInfo& info, With with) {
  const workflow::Execution& execution = info.execution;
  json.begin_object().key("id").text(to_string(info.id)).key("kind").text(info.spec.kind);
  json.key("namespace").text(execution.space).key("lane").text(execution.lane).key("workflow");
  write_workflow_id(json, execution.workflow);
  write_state(json, info);
  json.key("priority").number(std::int64_t{execution.priority}).key("reason");
  write_text(json, execution.end_reason);
  json.key("ended_by");
  write_text(json, execution.ended_by);
  json.key("sibling").boolean(execution.is_sibling);
  write_times(json, info);
  write_attempts_made(json, info);
  write_lease(json, execution.lease);
  write_count(json, "suspensions", execution.suspensions);
  write_count(json, "signals", execution.signals);
  json.key("tags");
  write_tags(json, execution.tags);
  json.key("capabilities");
  write_texts(json, execution.capabilities);
  json.key("limit_keys");
  write_texts(json, execution.limit_keys);
  json.key("creator").text(info.spec.creator).key("idempotency_key");
  write_text(json, info.spec.idempotency_key);
  json.key("trace");
  write_text(json, info.spec.trace.is_valid() ? to_string(info.spec.trace.trace) : std::string());
  json.key("attempt_timeout_seconds");
  write_seconds(json, info.spec.attempt_timeout);
  json.key("retry");
  write_retry(json, info.spec.retry);
  if (with == With::payload) {
    json.key("payload");
    write_payload(json, info.spec.payload);
  }
  json.end_object();
}

void write_attempt(JsonWriter& json, std::size_t number, const workflow::Attempt& attempt) {
  json.begin_object().key("attempt").number(std::uint64_t{number});
  json.key("kind").text(to_string(attempt.kind)).key("outcome").text(to_string(attempt.outcome));
  json.key("worker").text(attempt.worker).key("after");
  if (attempt.after) {
    json.number(std::uint64_t{*attempt.after});
  } else {
    json.null();
  }
  json.key("started");
  write_time(json, attempt.started_at);
  json.key("ended");
  write_time(json, attempt.ended_at);
  json.key("reason");
  write_text(json, attempt.reason);
  json.end_object();
}

void write_signal(JsonWriter& json, const workflow::Signal& signal) {
  json.begin_object().key("waitpoint").text(signal.waitpoint).key("payload");
  write_payload(json, signal.payload);
  json.key("id");
  write_text(json, signal.id);
  json.key("source");
  write_text(json, signal.source);
  json.key("approval").boolean(signal.is_approval).key("at");
  write_time(json, signal.at);
  json.end_object();
}

void write_suspension(JsonWriter& json, const workflow::Suspension& suspension) {
  json.begin_object().key("key");
  write_text(json, suspension.key);
  json.key("state").text(to_string(suspension.state)).key("condition");
  write_condition(json, suspension.condition);
  json.key("on_timeout").text(to_string(suspension.on_timeout)).key("resume_delay_seconds");
  write_seconds(json, suspension.resume_delay);
  json.key("suspended");
  write_time(json, suspension.suspended_at);
  json.key("ended");
  write_time(json, suspension.ended_at);
  json.key("ended_by");
  write_text(json, suspension.ended_by);
  json.key("signals").begin_array();
  for (const std::uint32_t number : suspension.signals) json.number(std::uint64_t{number});
  json.end_array().end_object();
}

void write_resumption(JsonWriter& json, const std::optional<workflow::Resumption>& resumption) {
  if (!resumption) {
    json.null();
    return;
  }
  json.begin_object().key("key");
  write_text(json, resumption->key);
  json.key("state").text(to_string(resumption->state)).key("by");
  write_text(json, resumption->by);
  json.key("signals").begin_array();
  for (const workflow::Signal& signal : resumption->signals) write_signal(json, signal);
  json.end_array().end_object();
}

void write_journal(JsonWriter& json, const workflow::Journal& journal) {
  json.begin_object().key("begin").number(std::uint64_t{journal.head.begin});
  json.key("end").number(std::uint64_t{journal.head.end}).key("entries").begin_array();
  for (const workflow::JournalEntry& entry : journal.entries) {
    json.begin_object().key("kind").text(to_string(entry.kind)).key("name").text(entry.name);
    json.key("number").number(std::uint64_t{entry.number}).key("failed").boolean(entry.has_failed);
    json.key("payload");
    write_payload(json, entry.payload);
    json.key("at");
    write_time(json, entry.at);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_workflow(JsonWriter& json, const workflow::WorkflowInfo& info) {
  const workflow::Workflow& found = info.workflow;
  json.begin_object().key("id").text(to_string(info.id)).key("kind").text(found.kind);
  json.key("namespace").text(found.space).key("state").text(to_string(info.progress));
  json.key("outcome");
  write_text(json, found.has_ended() ? to_string(found.state) : "");
  json.key("on_failure").text(to_string(found.on_failure));
  json.key("stays_open").boolean(found.stays_open).key("created");
  write_time(json, found.created_at);
  json.key("changed");
  write_time(json, found.changed_at);
  json.key("ended");
  write_time(json, found.ended_at);
  write_count(json, "executions", found.counts.total());
  json.key("counts");
  write_counts(json, found.counts);
  write_count(json, "edges", found.edges);
  write_count(json, "revision", found.revision);
  write_count(json, "unapplied", found.unpromoted);
  json.key("cancel_policy");
  write_text(json, found.cancel_policy ? to_string(*found.cancel_policy) : "");
  json.key("cancel_reason");
  write_text(json, found.cancel_reason);
  json.key("tags");
  write_tags(json, found.tags);
  json.end_object();
}

void write_node(JsonWriter& json, const workflow::ExecutionInfo& info,
                const workflow::EdgeGroup* group) {
  json.begin_object().key("id").text(to_string(info.id)).key("kind").text(info.spec.kind);
  json.key("lane").text(info.execution.lane).key("state").text(to_string(info.state));
  write_attempts_made(json, info);
  write_times(json, info);
  write_lease(json, info.execution.lease);
  json.key("reason");
  write_text(json, info.execution.end_reason);
  json.key("policy");
  if (group) {
    write_policy(json, group->policy);
  } else {
    json.null();
  }
  json.key("dependencies");
  write_text(json, group ? to_string(group->state) : "");
  json.end_object();
}

void write_edge(JsonWriter& json, const workflow::EdgeInfo& info) {
  json.begin_object().key("id").text(to_string(info.id));
  json.key("upstream").text(to_string(info.edge.upstream));
  json.key("downstream").text(to_string(info.edge.downstream)).key("input");
  write_text(json, info.edge.input);
  json.key("state").text(to_string(info.edge.state));
  json.key("applied").boolean(info.edge.is_applied).end_object();
}

}  // namespace weir::server::internal
