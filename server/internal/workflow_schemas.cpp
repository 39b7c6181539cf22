#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

// "@Row" stands for a reference to the schema of that name.
// clang-format off
constexpr std::pair<std::string_view, std::string_view> of_workflows[] = {
    {"Payload", R"({
  "description": "text, or bytes that are no UTF-8 as base64",
  "oneOf": [
    {"type": "string"},
    {
      "type": "object",
      "required": ["base64"],
      "additionalProperties": false,
      "properties": {"base64": {"type": "string"}}
    }
  ]
})"},
    {"Time", R"({"type": ["string", "null"], "format": "date-time"})"},
    {"Tags", R"({
  "type": "object",
  "description": "keys are two or more words with points between them: team.name",
  "additionalProperties": {"type": "string"}
})"},
    {"Texts", R"({"type": "array", "items": {"type": "string"}})"},
    {"Retry", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "retries_max": {"type": "integer"},
    "backoff_seconds": {"type": "number"},
    "multiplier": {"type": "integer"},
    "backoff_max_seconds": {"type": "number"},
    "jitter": {"type": "boolean"},
    "categories": "@Texts"
  }
})"},
    {"Execution", R"({
  "type": "object",
  "required": [
    "id", "kind", "namespace", "lane", "workflow", "state", "outcome", "reason", "priority",
    "created", "started", "ended", "attempt", "attempts", "attempts_max", "worker", "lease_until",
    "tags"
  ],
  "properties": {
    "id": {"type": "string"},
    "kind": {"type": "string"},
    "namespace": {"type": "string"},
    "lane": {"type": "string"},
    "workflow": {"type": ["string", "null"]},
    "state": "@ExecutionState",
    "phase": {"type": "string"},
    "ownership": {"type": "string"},
    "eligibility": {"type": "string"},
    "waits_for": {"type": ["string", "null"]},
    "outcome": {"type": ["string", "null"]},
    "attempt_state": {"type": "string"},
    "priority": {"type": "integer"},
    "reason": {"type": ["string", "null"], "description": "why it ended as it did"},
    "ended_by": {"type": ["string", "null"]},
    "sibling": {"type": "boolean", "description": "cancelled as others had decided"},
    "created": "@Time",
    "changed": "@Time",
    "started": "@Time",
    "ended": "@Time",
    "not_before": "@Time",
    "deadline": "@Time",
    "attempt_deadline": "@Time",
    "suspended_until": "@Time",
    "attempt": {"type": ["integer", "null"], "description": "the newest, from 0"},
    "attempts": {"type": "integer", "description": "made so far"},
    "attempts_max": {"type": "integer", "description": "if none of them loses its lease"},
    "worker": {"type": ["string", "null"]},
    "lease_since": "@Time",
    "lease_until": "@Time",
    "tags": "@Tags",
    "capabilities": "@Texts",
    "limit_keys": "@Texts",
    "creator": {"type": "string"},
    "idempotency_key": {"type": ["string", "null"]},
    "attempt_timeout_seconds": {"type": ["number", "null"]},
    "retry": "@Retry",
    "payload": "@Payload"
  }
})"},
    {"ExecutionState", R"({
  "enum": [
    "waiting", "delayed", "rate_limited", "waiting_children", "active", "suspended", "completed",
    "failed", "cancelled", "expired", "skipped"
  ]
})"},
    {"Executions", R"({
  "type": "object",
  "required": ["executions", "next"],
  "properties": {
    "executions": {"type": "array", "items": "@Execution"},
    "next": {"type": ["string", "null"]}
  }
})"},
    {"GraphExecution", R"({
  "type": "object",
  "required": ["kind"],
  "additionalProperties": false,
  "properties": {
    "kind": {"type": "string"},
    "payload": "@Payload",
    "lane": {"type": "string", "default": "default"},
    "id": {"type": "string"},
    "idempotency_key": {"type": "string"},
    "priority": {"type": "integer", "minimum": 0, "maximum": 9000},
    "not_before": "@Time",
    "delay_seconds": {"type": "number", "description": "instead of not_before"},
    "deadline": "@Time",
    "attempt_timeout_seconds": {"type": "number"},
    "retry": "@Retry",
    "capabilities": "@Texts",
    "limit_keys": "@Texts",
    "tags": "@Tags",
    "creator": {"type": "string"},
    "reclaims_max": {"type": "integer"},
    "replays_max": {"type": "integer"}
  }
})"},
    {"NewExecution", R"({
  "type": "object",
  "required": ["kind"],
  "additionalProperties": false,
  "properties": {
    "kind": {"type": "string"},
    "payload": "@Payload",
    "lane": {"type": "string", "default": "default"},
    "namespace": {"type": "string", "default": "default"},
    "workflow": {"type": "string", "description": "it begins when that is applied"},
    "id": {"type": "string"},
    "idempotency_key": {"type": "string"},
    "priority": {"type": "integer", "minimum": 0, "maximum": 9000},
    "not_before": "@Time",
    "delay_seconds": {"type": "number", "description": "instead of not_before"},
    "deadline": "@Time",
    "attempt_timeout_seconds": {"type": "number"},
    "retry": "@Retry",
    "capabilities": "@Texts",
    "limit_keys": "@Texts",
    "tags": "@Tags",
    "creator": {"type": "string"},
    "reclaims_max": {"type": "integer"},
    "replays_max": {"type": "integer"}
  }
})"},
    {"ExecutionCreated", R"({
  "type": "object",
  "required": ["id", "is_duplicate"],
  "properties": {"id": {"type": "string"}, "is_duplicate": {"type": "boolean"}}
})"},
    {"ExecutionResult", R"({
  "type": "object",
  "required": ["state", "result"],
  "properties": {"state": "@ExecutionState", "result": {}}
})"},
    {"Attempts", R"({
  "type": "object",
  "required": ["attempts"],
  "properties": {
    "attempts": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["attempt", "kind", "outcome", "worker", "started", "ended", "reason"],
        "properties": {
          "attempt": {"type": "integer"},
          "kind": {"enum": ["initial", "retry", "reclaim", "replay"]},
          "outcome": {"type": "string"},
          "worker": {"type": "string"},
          "after": {"type": ["integer", "null"]},
          "started": "@Time",
          "ended": "@Time",
          "reason": {"type": ["string", "null"]}
        }
      }
    }
  }
})"},
    {"Signal", R"({
  "type": "object",
  "required": ["waitpoint", "payload", "id", "source", "approval", "at"],
  "properties": {
    "waitpoint": {"type": "string"},
    "payload": "@Payload",
    "id": {"type": ["string", "null"]},
    "source": {"type": ["string", "null"]},
    "approval": {"type": "boolean"},
    "at": "@Time"
  }
})"},
    {"Signals", R"({
  "type": "object",
  "required": ["signals", "next"],
  "properties": {
    "signals": {"type": "array", "items": "@Signal"},
    "next": {"type": ["integer", "null"]}
  }
})"},
    {"WaitCondition", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "kind": {"enum": ["all_of", "any_of", "count"], "default": "all_of"},
    "waitpoints": "@Texts",
    "count": {"type": "integer"},
    "distinct": {"enum": ["waitpoints", "signals", "sources"]}
  }
})"},
    {"SuspensionSeen", R"({
  "type": "object",
  "required": ["suspension"],
  "properties": {
    "suspension": {
      "type": ["object", "null"],
      "required": ["key", "state", "condition", "on_timeout", "suspended", "ended", "signals"],
      "properties": {
        "state": {"enum": ["waiting", "satisfied", "timed_out", "overruled"]},
        "condition": "@WaitCondition",
        "suspended": "@Time",
        "ended": "@Time",
        "signals": {"type": "array", "items": {"type": "integer"}}
      }
    }
  }
})"},
    {"Journal", R"({
  "type": "object",
  "required": ["begin", "end", "entries"],
  "properties": {
    "begin": {"type": "integer"},
    "end": {"type": "integer"},
    "entries": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["kind", "name", "number", "failed", "payload", "at"],
        "properties": {"payload": "@Payload", "at": "@Time"}
      }
    }
  }
})"},
    {"Reason", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {"reason": {"type": "string"}}
})"},
    {"Cancelled", R"({
  "type": "object",
  "required": ["is_new"],
  "properties": {"is_new": {"type": "boolean", "description": "false if it had ended before"}}
})"},
    {"NewPriority", R"({
  "type": "object",
  "required": ["priority"],
  "additionalProperties": false,
  "properties": {"priority": {"type": "integer", "minimum": 0, "maximum": 9000}}
})"},
    {"NewTags", R"({
  "type": "object",
  "required": ["tags"],
  "additionalProperties": false,
  "properties": {"tags": "@Tags"}
})"},
    {"NewApproval", R"({
  "type": "object",
  "required": ["waitpoint"],
  "additionalProperties": false,
  "properties": {
    "waitpoint": {"type": "string"},
    "payload": "@Payload",
    "id": {"type": "string", "description": "the same one at the same waitpoint counts once"},
    "source": {"type": "string"}
  }
})"},
    {"NewSignal", R"({
  "type": "object",
  "required": ["waitpoint", "token"],
  "additionalProperties": false,
  "properties": {
    "token": {"type": "string"},
    "waitpoint": {"type": "string"},
    "payload": "@Payload",
    "id": {"type": "string", "description": "the same one at the same waitpoint counts once"},
    "source": {"type": "string"}
  }
})"},
    {"SignalEffect", R"({
  "type": "object",
  "required": ["effect"],
  "properties": {"effect": {"enum": ["kept", "resumed", "duplicate"]}}
})"},
    {"WaitpointToken", R"({
  "type": "object",
  "required": ["waitpoint", "token"],
  "properties": {"waitpoint": {"type": "string"}, "token": {"type": "string"}}
})"},
    {"EdgePolicy", R"({
  "type": ["object", "null"],
  "required": ["kind"],
  "additionalProperties": false,
  "properties": {
    "kind": {"enum": ["all_of", "any_of", "quorum"]},
    "count": {"type": "integer", "description": "of a quorum"},
    "on_satisfied": {"enum": ["let_run", "cancel_remaining"]}
  }
})"},
    {"Workflow", R"({
  "type": "object",
  "required": [
    "id", "kind", "namespace", "state", "outcome", "on_failure", "created", "ended", "executions",
    "counts", "edges", "revision", "tags"
  ],
  "properties": {
    "id": {"type": "string"},
    "kind": {"type": "string"},
    "namespace": {"type": "string"},
    "state": {"enum": ["open", "running", "blocked", "completed", "failed", "cancelled"]},
    "outcome": {"enum": ["completed", "failed", "cancelled", null]},
    "on_failure": {"enum": ["isolate", "fail_fast", "collect"]},
    "stays_open": {"type": "boolean"},
    "created": "@Time",
    "changed": "@Time",
    "ended": "@Time",
    "executions": "@Integer",
    "counts": {
      "type": "object",
      "description": "executions by state",
      "additionalProperties": "@Integer"
    },
    "edges": "@Integer",
    "revision": "@Integer",
    "unapplied": "@Integer",
    "cancel_policy": {"type": ["string", "null"]},
    "cancel_reason": {"type": ["string", "null"]},
    "tags": "@Tags"
  }
})"},
    {"Workflows", R"({
  "type": "object",
  "required": ["workflows", "next"],
  "properties": {
    "workflows": {"type": "array", "items": "@Workflow"},
    "next": {"type": ["string", "null"]}
  }
})"},
    {"NewWorkflow", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "kind": {"type": "string"},
    "namespace": {"type": "string", "default": "default"},
    "id": {"type": "string"},
    "on_failure": {"enum": ["isolate", "fail_fast", "collect"]},
    "stays_open": {"type": "boolean"},
    "tags": "@Tags",
    "executions": {"type": "array", "maxItems": 10000, "items": "@GraphExecution"},
    "edges": {
      "type": "array",
      "items": {
        "type": "object",
        "description": "between executions by their places in the list, from 0",
        "required": ["upstream", "downstream"],
        "additionalProperties": false,
        "properties": {
          "upstream": {"type": "integer"},
          "downstream": {"type": "integer"},
          "input": {"type": "string"}
        }
      }
    },
    "policies": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["downstream", "policy"],
        "additionalProperties": false,
        "properties": {"downstream": {"type": "integer"}, "policy": "@EdgePolicy"}
      }
    }
  }
})"},
    {"WorkflowCreated", R"({
  "type": "object",
  "required": ["id", "executions"],
  "properties": {"id": {"type": "string"}, "executions": "@Texts"}
})"},
    {"NewEdges", R"({
  "type": "object",
  "required": ["edges"],
  "additionalProperties": false,
  "properties": {
    "edges": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["upstream", "downstream"],
        "additionalProperties": false,
        "properties": {
          "upstream": {"type": "string"},
          "downstream": {"type": "string"},
          "id": {"type": "string"},
          "input": {"type": "string", "description": "the name of the result for the downstream"},
          "creator": {"type": "string"}
        }
      }
    },
    "revision": {"type": "integer", "description": "only if the graph has it"}
  }
})"},
    {"Revision", R"({
  "type": "object",
  "required": ["revision"],
  "properties": {"revision": "@Integer"}
})"},
    {"NewPolicy", R"({
  "type": "object",
  "required": ["downstream", "policy"],
  "additionalProperties": false,
  "properties": {"downstream": {"type": "string"}, "policy": "@EdgePolicy"}
})"},
    {"PolicySet", R"({
  "type": "object",
  "required": ["is_new"],
  "properties": {"is_new": {"type": "boolean", "description": "false if it was that already"}}
})"},
    {"CancelWorkflow", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "policy": {"enum": ["cancel_workflow_only", "cancel_all", "cancel_pending"]},
    "reason": {"type": "string"}
  }
})"},
    {"WorkflowCancelled", R"({
  "type": "object",
  "required": ["is_new", "cancelled"],
  "properties": {"is_new": {"type": "boolean"}, "cancelled": "@Texts"}
})"},
    {"Graph", R"({
  "type": "object",
  "required": ["workflow", "revision", "nodes", "edges", "truncated"],
  "properties": {
    "workflow": {"type": "string"},
    "revision": "@Integer",
    "nodes": {
      "type": "array",
      "items": {
        "type": "object",
        "required": [
          "id", "kind", "lane", "state", "attempt", "created", "started", "ended", "policy",
          "dependencies"
        ],
        "properties": {
          "id": {"type": "string"},
          "kind": {"type": "string"},
          "state": "@ExecutionState",
          "attempt": {"type": ["integer", "null"]},
          "created": "@Time",
          "started": "@Time",
          "ended": "@Time",
          "policy": "@EdgePolicy",
          "dependencies": {"type": ["string", "null"]}
        }
      }
    },
    "edges": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["id", "upstream", "downstream", "input", "state", "applied"],
        "properties": {
          "id": {"type": "string"},
          "upstream": {"type": "string"},
          "downstream": {"type": "string"},
          "input": {"type": ["string", "null"]},
          "state": {"enum": ["pending", "satisfied", "impossible", "cancelled"]},
          "applied": {"type": "boolean"}
        }
      }
    },
    "truncated": {"type": "boolean"}
  }
})"},
};
// clang-format on

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> workflow_schemas() noexcept {
  return of_workflows;
}

}  // namespace weir::server::internal
