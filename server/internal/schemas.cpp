#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

// "@Row" stands for a reference to the schema of that name.
// clang-format off
constexpr std::pair<std::string_view, std::string_view> all[] = {
    {"Any", R"({"type": "object"})"},
    {"Problem", R"({
  "type": "object",
  "description": "RFC 9457",
  "required": ["type", "title", "status", "code", "detail"],
  "properties": {
    "type": {"type": "string"},
    "title": {"type": "string"},
    "status": {"type": "integer"},
    "code": {"type": "string", "description": "never changes its meaning"},
    "detail": {"type": "string"},
    "pointer": {"type": "string", "description": "RFC 6901: the value in the body"},
    "offset": {"type": "integer", "description": "the byte of the body where it is no JSON"}
  }
})"},
    {"Integer", R"({
  "description": "a string beyond 2^53 - 1",
  "oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}]
})"},
    {"RowObject", R"({
  "type": "object",
  "description": "a value for each column, by name",
  "additionalProperties": true
})"},
    {"Schema", R"({
  "type": "object",
  "required": ["columns", "primary_key"],
  "properties": {
    "columns": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["name", "type", "nullable"],
        "properties": {
          "name": {"type": "string"},
          "type": {"type": "string"},
          "nullable": {"type": "boolean"}
        }
      }
    },
    "primary_key": {"type": "array", "items": {"type": "string"}}
  }
})"},
    {"Table", R"({
  "type": "object",
  "required": ["name", "appended", "schema"],
  "properties": {
    "name": {"type": "string"},
    "appended": {"type": "boolean", "description": "a ring buffer or series"},
    "schema": "@Schema"
  }
})"},
    {"Tables", R"({
  "type": "object",
  "required": ["tables"],
  "properties": {"tables": {"type": "array", "items": "@Table"}}
})"},
    {"ViewStatus", R"({
  "type": ["object", "null"],
  "required": ["phase", "position", "error", "failures", "stopped", "exact", "counts"],
  "properties": {
    "phase": {"enum": ["backfilling", "live", "failing", "quarantined", "catching_up", "waiting"]},
    "position": "@Integer",
    "rows_taken": "@Integer",
    "rows_total": "@Integer",
    "rows_per_second": {"type": "number"},
    "seconds_left": {"type": ["number", "null"]},
    "error": {"type": "string"},
    "failures": {"type": "integer"},
    "waits_for": {"type": "string"},
    "stopped": {"type": "boolean"},
    "skipped": "@Integer",
    "exact": {"type": "boolean"},
    "counts": {"type": "object"}
  }
})"},
    {"View", R"({
  "type": "object",
  "required": ["name", "transactional", "status", "schema"],
  "properties": {
    "name": {"type": "string"},
    "transactional": {"type": "boolean"},
    "status": "@ViewStatus",
    "schema": "@Schema"
  }
})"},
    {"Views", R"({
  "type": "object",
  "required": ["views"],
  "properties": {"views": {"type": "array", "items": "@View"}}
})"},
    {"Quarantine", R"({
  "type": "object",
  "required": ["views"],
  "properties": {
    "views": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["name", "status"],
        "properties": {"name": {"type": "string"}, "status": "@ViewStatus"}
      }
    }
  }
})"},
    {"Lag", R"({
  "type": "object",
  "required": ["versions", "seconds"],
  "properties": {"versions": "@Integer", "seconds": {"type": "number"}}
})"},
    {"Row", R"({
  "type": "object",
  "required": ["version", "row"],
  "properties": {"version": "@Integer", "row": "@RowObject"}
})"},
    {"Rows", R"({
  "type": "object",
  "required": ["version", "rows", "next"],
  "properties": {
    "version": "@Integer",
    "rows": {"type": "array", "items": "@RowObject"},
    "weights": {
      "type": "array",
      "description": "how often each row is there, if there is no primary key",
      "items": {"type": "integer"}
    },
    "next": {"type": ["string", "null"]}
  }
})"},
    {"Changes", R"({
  "type": "object",
  "required": ["commits", "after"],
  "properties": {
    "commits": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["version", "changes"],
        "properties": {
          "version": "@Integer",
          "changes": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["weight", "row"],
              "properties": {"weight": {"type": "integer"}, "row": "@RowObject"}
            }
          }
        }
      }
    },
    "after": "@Integer"
  }
})"},
    {"Transaction", R"({
  "type": "object",
  "required": ["operations"],
  "additionalProperties": false,
  "properties": {
    "operations": {
      "type": "array",
      "minItems": 1,
      "maxItems": 10000,
      "items": {
        "type": "object",
        "required": ["op", "table"],
        "additionalProperties": false,
        "properties": {
          "op": {"enum": ["insert", "update", "upsert", "append", "delete"]},
          "table": {"type": "string"},
          "row": "@RowObject",
          "key": "@RowObject"
        }
      }
    }
  }
})"},
    {"Committed", R"({
  "type": "object",
  "required": ["version"],
  "properties": {"version": "@Integer"}
})"},
    {"Log", R"({
  "type": "object",
  "required": ["oldest", "newest", "records", "after"],
  "properties": {
    "oldest": "@Integer",
    "newest": "@Integer",
    "after": "@Integer",
    "records": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["version", "time", "origin", "trace", "spaces"],
        "properties": {
          "version": "@Integer",
          "time": {"type": "string", "format": "date-time"},
          "origin": {"type": "string"},
          "trace": {"type": ["string", "null"]},
          "spaces": {"type": "array", "items": {"type": "object"}}
        }
      }
    }
  }
})"},
    {"Actors", R"({
  "type": "object",
  "required": ["actors"],
  "properties": {
    "actors": {
      "type": "array",
      "items": {"type": "object", "required": ["id", "type", "name", "phase", "mailbox_depth"]}
    }
  }
})"},
    {"Overview", R"({
  "type": "object",
  "required": ["name", "time", "uptime_seconds", "version", "commits", "rows_changed",
               "lag_versions", "lag_seconds", "views", "actors", "mailbox_depth",
               "messages_handled", "restarts", "dead_letters", "executions", "connections",
               "subscriptions", "threads", "resident_bytes", "cpu_seconds"],
  "properties": {
    "name": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
    "uptime_seconds": {"type": "number"},
    "version": "@Integer",
    "commits": "@Integer",
    "rows_changed": "@Integer",
    "lag_versions": "@Integer",
    "lag_seconds": {"type": "number", "description": "of the view that is the furthest behind"},
    "views": {
      "type": "object",
      "required": ["total", "behind", "filling", "quarantined"],
      "additionalProperties": {"type": "integer"}
    },
    "actors": {"type": "integer"},
    "mailbox_depth": "@Integer",
    "messages_handled": "@Integer",
    "restarts": "@Integer",
    "dead_letters": "@Integer",
    "executions": {
      "type": ["object", "null"],
      "description": "null without workflows",
      "required": ["waiting", "delayed", "active", "suspended", "claims", "retries",
                   "leases_expired"]
    },
    "connections": {"type": "integer"},
    "subscriptions": {"type": "integer"},
    "threads": {"type": "integer"},
    "resident_bytes": "@Integer",
    "cpu_seconds": {"type": "number"}
  }
})"},
    {"FlowNode", R"({
  "type": "object",
  "required": ["name", "kind", "mode", "rows_in", "rows_out", "state", "progress"],
  "properties": {
    "name": {"type": "string"},
    "kind": {"enum": ["table", "view", "ring_buffer", "series"]},
    "mode": {"enum": ["deferred", "transactional", null]},
    "rows_in": "@Integer",
    "rows_out": "@Integer",
    "state": {"type": ["string", "null"], "description": "the phase of a view"},
    "position": "@Integer",
    "lag_versions": {
      "oneOf": ["@Integer"],
      "description": "commits to the store that it has not seen, whatever they changed"
    },
    "lag_seconds": {"type": "number", "description": "how long ago the first of those was"},
    "error": {"type": "string"},
    "failures": {"type": "integer"},
    "waits_for": {"type": "string"},
    "stopped": {"type": "boolean"},
    "skipped": "@Integer",
    "exact": {"type": "boolean"},
    "row_errors": "@Integer",
    "state_bytes": "@Integer",
    "progress": {
      "type": ["object", "null"],
      "description": "of rows that were there before the view; rows_total is 0 if it is not known",
      "required": ["rows_done", "rows_total", "rate", "seconds_left"],
      "properties": {
        "rows_done": "@Integer",
        "rows_total": "@Integer",
        "rate": {"type": "number"},
        "seconds_left": {"type": ["number", "null"]}
      }
    }
  }
})"},
    {"Flows", R"({
  "type": "object",
  "required": ["nodes", "edges"],
  "properties": {
    "nodes": {"type": "array", "items": "@FlowNode"},
    "edges": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["from", "to", "rows"],
        "properties": {
          "from": {"type": "string"},
          "to": {"type": "string"},
          "rows": "@Integer"
        }
      }
    }
  }
})"},
    {"DeadLetters", R"({
  "type": "object",
  "required": ["total", "counts", "newest"],
  "properties": {
    "total": "@Integer",
    "counts": {"type": "object", "description": "by reason"},
    "newest": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["reason", "message", "actor_type", "actor_name", "actor", "time"],
        "properties": {
          "reason": {"type": "string"},
          "message": {"type": "string"},
          "actor_type": {"type": "string"},
          "actor_name": {"type": "string"},
          "actor": "@Integer",
          "time": {"type": "string", "format": "date-time"}
        }
      }
    }
  }
})"},
    {"Savepoint", R"({
  "type": "object",
  "required": ["name", "version", "time", "files", "bytes"],
  "properties": {
    "name": {"type": "string"},
    "version": "@Integer",
    "time": {"type": "string", "format": "date-time"}
  }
})"},
    {"Savepoints", R"({
  "type": "object",
  "required": ["savepoints"],
  "properties": {"savepoints": {"type": "array", "items": "@Savepoint"}}
})"},
    {"Status", R"({
  "type": "object",
  "required": ["status"],
  "properties": {"status": {"type": "string"}}
})"},
};
// clang-format on

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> schemas() noexcept { return all; }

}  // namespace weir::server::internal
