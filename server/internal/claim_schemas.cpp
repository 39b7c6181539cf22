#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

// "@Row" stands for a reference to the schema of that name.
// clang-format off
constexpr std::pair<std::string_view, std::string_view> of_claims[] = {
    {"ClaimRequest", R"({
  "type": "object",
  "required": ["worker"],
  "additionalProperties": false,
  "properties": {
    "worker": {"type": "string"},
    "lane": {"type": "string", "default": "default"},
    "capabilities": "@Texts",
    "namespaces": "@Texts",
    "lease_seconds": {"type": "number", "default": 30},
    "executions_max": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1},
    "wait_seconds": {"type": "number", "default": 0}
  }
})"},
    {"Resumption", R"({
  "type": ["object", "null"],
  "required": ["key", "state", "by", "signals"],
  "properties": {
    "key": {"type": ["string", "null"]},
    "state": {"enum": ["satisfied", "timed_out", "overruled"]},
    "by": {"type": ["string", "null"]},
    "signals": {"type": "array", "items": "@Signal"}
  }
})"},
    {"Claims", R"({
  "type": "object",
  "required": ["claims"],
  "properties": {
    "claims": {
      "type": "array",
      "items": {
        "type": "object",
        "required": [
          "handle", "execution", "kind", "payload", "inputs", "attempt", "attempt_kind",
          "lease_until", "created", "creator", "resumed"
        ],
        "properties": {
          "handle": {"type": "string"},
          "execution": {"type": "string"},
          "kind": {"type": "string"},
          "payload": "@Payload",
          "inputs": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["name", "upstream", "payload"],
              "properties": {
                "name": {"type": "string"},
                "upstream": {"type": "string"},
                "payload": "@Payload"
              }
            }
          },
          "attempt": {"type": "integer"},
          "attempt_kind": {"enum": ["initial", "retry", "reclaim", "replay"]},
          "lease_until": "@Time",
          "created": "@Time",
          "creator": {"type": "string"},
          "resumed": "@Resumption"
        }
      }
    }
  }
})"},
    {"Renewal", R"({
  "type": "object",
  "required": ["handle"],
  "additionalProperties": false,
  "properties": {
    "handle": {"type": "string"},
    "lease_seconds": {"type": "number", "default": 30}
  }
})"},
    {"Renewed", R"({
  "type": "object",
  "required": ["lease_until"],
  "properties": {"lease_until": "@Time"}
})"},
    {"Completion", R"({
  "type": "object",
  "required": ["handle"],
  "additionalProperties": false,
  "properties": {"handle": {"type": "string"}, "result": "@Payload"}
})"},
    {"FailureReport", R"({
  "type": "object",
  "required": ["handle", "reason"],
  "additionalProperties": false,
  "properties": {
    "handle": {"type": "string"},
    "reason": {"type": "string"},
    "category": {"type": "string"},
    "final": {"type": "boolean", "description": "it is not tried again, whatever the policy"}
  }
})"},
    {"FailureTaken", R"({
  "type": "object",
  "required": ["retry_at"],
  "properties": {"retry_at": "@Time"}
})"},
    {"DelayRequest", R"({
  "type": "object",
  "required": ["handle"],
  "additionalProperties": false,
  "properties": {
    "handle": {"type": "string"},
    "until": "@Time",
    "delay_seconds": {"type": "number", "description": "from now, instead of until"}
  }
})"},
    {"SuspendRequest", R"({
  "type": "object",
  "required": ["handle", "condition"],
  "additionalProperties": false,
  "properties": {
    "handle": {"type": "string"},
    "condition": "@WaitCondition",
    "key": {"type": "string"},
    "reason": {"type": "string"},
    "timeout_seconds": {"type": "number"},
    "on_timeout": {"enum": ["fail", "cancel", "expire", "resume", "escalate"]},
    "resume_delay_seconds": {"type": "number"}
  }
})"},
    {"Suspended", R"({
  "type": "object",
  "required": ["resumed", "tokens"],
  "properties": {
    "resumed": "@Resumption",
    "tokens": {"type": "array", "items": "@WaitpointToken"}
  }
})"},
    {"Rate", R"({
  "type": ["object", "null"],
  "required": ["count"],
  "additionalProperties": false,
  "properties": {
    "count": {"type": "integer"},
    "per_seconds": {"type": "number", "default": 1},
    "burst": {"type": "integer", "default": 1}
  }
})"},
    {"Admission", R"({
  "type": ["object", "null"],
  "description": "why it is not claimed, if that is so",
  "required": ["reason", "until", "limit"],
  "properties": {
    "reason": {"type": "string"},
    "until": "@Time",
    "limit": {"type": ["string", "null"]}
  }
})"},
    {"Lane", R"({
  "type": "object",
  "required": [
    "lane", "state", "concurrency_max", "rate", "active", "refusal", "counts", "waiting"
  ],
  "properties": {
    "lane": {"type": "string"},
    "state": {"enum": ["active", "paused", "draining", "disabled"]},
    "concurrency_max": {"type": ["integer", "null"]},
    "rate": "@Rate",
    "active": "@Integer",
    "refusal": "@Admission",
    "counts": {"type": "object", "additionalProperties": "@Integer"},
    "waiting": {
      "type": "array",
      "description": "those that could be claimed, in the order in which they would be",
      "items": {
        "type": "object",
        "required": ["id", "since", "refusal"],
        "properties": {"id": {"type": "string"}, "since": "@Time", "refusal": "@Admission"}
      }
    }
  }
})"},
    {"LaneState", R"({
  "type": "object",
  "required": ["state"],
  "additionalProperties": false,
  "properties": {"state": {"enum": ["active", "paused", "draining", "disabled"]}}
})"},
    {"LaneLimit", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {"concurrency_max": {"type": ["integer", "null"], "description": "null: any"}}
})"},
    {"LaneRate", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {"rate": "@Rate"}
})"},
    {"ResumeLane", R"({
  "type": "object",
  "required": ["to"],
  "additionalProperties": false,
  "properties": {
    "from": {"type": "integer", "default": 1},
    "to": {"type": "integer"},
    "over_seconds": {"type": "number", "default": 60}
  }
})"},
    {"NewLimit", R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {"concurrency_max": {"type": ["integer", "null"]}, "rate": "@Rate"}
})"},
    {"Limit", R"({
  "type": "object",
  "required": ["key", "concurrency_max", "rate", "active"],
  "properties": {
    "key": {"type": "string"},
    "concurrency_max": {"type": ["integer", "null"]},
    "rate": "@Rate",
    "active": "@Integer"
  }
})"},
    {"Notices", R"({
  "type": "object",
  "required": ["notices", "next"],
  "properties": {
    "notices": {
      "type": "array",
      "items": {
        "type": "object",
        "required": [
          "number", "kind", "execution", "workflow", "namespace", "outcome", "waitpoint", "at"
        ],
        "properties": {
          "number": "@Integer",
          "kind": {"type": "string"},
          "execution": {"type": "string"},
          "workflow": {"type": ["string", "null"]},
          "namespace": {"type": "string"},
          "outcome": {"type": ["string", "null"]},
          "waitpoint": {"type": ["string", "null"]},
          "at": "@Time"
        }
      }
    },
    "next": "@Integer"
  }
})"},
    {"Acknowledgement", R"({
  "type": "object",
  "required": ["consumer", "number"],
  "additionalProperties": false,
  "properties": {"consumer": {"type": "string"}, "number": "@Integer"}
})"},
    {"NoticeConsumers", R"({
  "type": "object",
  "required": ["consumers", "first"],
  "properties": {
    "consumers": {"type": "object", "additionalProperties": "@Integer"},
    "first": "@Integer"
  }
})"},
    {"Engine", R"({
  "type": "object",
  "required": ["time", "now", "since_start", "set_aside"],
  "properties": {
    "time": "@Time",
    "now": {"type": "object", "additionalProperties": "@Integer"},
    "since_start": {"type": "object", "additionalProperties": "@Integer"},
    "set_aside": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["what", "reason"],
        "properties": {"what": {"type": "string"}, "reason": {"type": "string"}}
      }
    }
  }
})"},
};
// clang-format on

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> claim_schemas() noexcept {
  return of_claims;
}

}  // namespace weir::server::internal
