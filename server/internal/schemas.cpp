// Tables, views, the change log and the process.

#include <weir/server/internal/schemas.hpp>

namespace weir::server::internal {
namespace {

constexpr std::string_view of_relations = R"(
Any = object
Problem = {
  type! string, title! string, status! integer, code! string 'never changes its meaning',
  detail! string, pointer string 'RFC 6901: the value in the body',
  offset integer 'the byte of the body where it is no JSON'
} 'RFC 9457'
Integer = integer | `{"pattern": "^-?[0-9]+$", "type": "string"}` 'a string beyond 2^53 - 1'
RowObject = {*: any} 'a value for each column, by name'
Schema = {columns! [{name! string, type! string, nullable! boolean}], primary_key! [string]}
Table = {name! string, appended! boolean 'a ring buffer or series', schema! @Schema}
Tables = {tables! [@Table]}
ViewStatus = {
  phase! <backfilling live failing quarantined catching_up waiting>, position! @Integer,
  rows_taken @Integer, rows_total @Integer, rows_per_second number, seconds_left number?,
  error! string, failures! integer, waits_for string, stopped! boolean, skipped @Integer,
  exact! boolean, counts! object
}?
View = {name! string, transactional! boolean, status! @ViewStatus, schema! @Schema}
Views = {views! [@View]}
Quarantine = {views! [{name! string, status! @ViewStatus}]}
Lag = {versions! @Integer, seconds! number}
Row = {version! @Integer, row! @RowObject}
Rows = {
  version! @Integer, rows! [@RowObject],
  weights [integer] 'how often each row is there, if there is no primary key', next! string?
}
Changes = {
  commits! [{version! @Integer, changes! [{weight! integer, row! @RowObject}]}], after! @Integer
}
Transaction = {|
  operations! [{|
    op! <insert update upsert append delete>, table! string, row @RowObject, key @RowObject
  |}](1..10000)
|}
Committed = {version! @Integer}
Log = {
  oldest! @Integer, newest! @Integer, after! @Integer,
  records! [{
    version! @Integer, time! string:date-time, origin! string, trace! string?, spaces! [object]
  }]
}
Actors = {
  actors! [{
    id! @Integer, parent! @Integer, type! string, name! string, phase! string,
    phase_seconds! number, mailbox_depth! @Integer, mailbox_capacity! @Integer,
    messages_handled! @Integer, restarts! @Integer, last_failure! string, stopping! boolean
  }],
  found! @Integer 'that have what was asked for, also beyond the limit', total! @Integer
}
Overview = {
  name! string, time! string:date-time, uptime_seconds! number, version! @Integer,
  commits! @Integer, rows_changed! @Integer, lag_versions! @Integer,
  lag_seconds! number 'of the view that is the furthest behind',
  views! {total! integer, behind! integer, filling! integer, quarantined! integer},
  actors! integer, mailbox_depth! @Integer, messages_handled! @Integer, restarts! @Integer,
  dead_letters! @Integer,
  executions! {
    waiting! any, delayed! any, active! any, suspended! any, claims! any, retries! any,
    leases_expired! any
  }? 'null without workflows',
  connections! integer, subscriptions! integer, threads! integer, resident_bytes! @Integer,
  cpu_seconds! number
}
FlowNode = {
  name! string, kind! <table view ring_buffer series>, mode! <deferred transactional null>,
  rows_in! @Integer, rows_out! @Integer, state! string? 'the phase of a view', position @Integer,
  lag_versions @Integer 'commits to the store that it has not seen, whatever they changed',
  lag_seconds number 'how long ago the first of those was', error string, failures integer,
  waits_for string, stopped boolean, skipped @Integer, exact boolean, row_errors @Integer,
  state_bytes @Integer,
  progress! {rows_done! @Integer, rows_total! @Integer, rate! number, seconds_left! number?}?
    'of rows that were there before the view; rows_total is 0 if it is not known'
}
Flows = {nodes! [@FlowNode], edges! [{from! string, to! string, rows! @Integer}]}
DeadLetters = {
  total! @Integer, counts! object 'by reason',
  newest! [{
    reason! string, message! string, actor_type! string, actor_name! string, actor! @Integer,
    time! string:date-time
  }]
}
Savepoint = {name! string, version! @Integer, time! string:date-time, files! any, bytes! any}
Savepoints = {savepoints! [@Savepoint]}
Status = {status! string}
)";

}  // namespace

std::string_view schemas() noexcept { return of_relations; }

}  // namespace weir::server::internal
