#include <weir/flow/workflow/postgres/internal/column.hpp>

#include <weir/flow/workflow/internal/schedule.hpp>
#include <weir/flow/workflow/postgres/internal/encoding.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

using storage::postgres::Bytes;

/// What the database can hold; nobody waits longer.
Time clamped(Time time) {
  constexpr Time first = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
  constexpr Time last = std::chrono::sys_days(std::chrono::year(9999) / 1 / 1);
  return std::clamp(time, first, last);
}

std::int64_t number_of(const Partition& partition) { return partition.number; }

template <class E>
std::string word(E value) {
  return std::string(to_string(value));
}

template <class R, class Get>
Column<R> word_column(std::string name, Get get) {
  return column<R>(std::move(name), "text not null",
                   [get](const auto&, const R& record) { return word(get(record)); });
}

/// As the database writes an array of texts, which cannot be an element of an array itself.
std::string array_literal(const std::vector<std::string>& texts) {
  std::string literal = "{";
  for (const std::string& text : texts) {
    literal += literal.size() > 1 ? ",\"" : "\"";
    for (const char letter : text) {
      if (letter == '"' || letter == '\\') literal += '\\';
      literal += letter;
    }
    literal += '"';
  }
  return literal + "}";
}

}  // namespace

std::vector<Column<Execution>> Columns<Execution>::list() {
  using R = Execution;
  using workflow::internal::Schedule;
  return {
      fixed_column<R>("partition", "int2 not null",
                      [](const ExecutionId& id, const R&) { return number_of(id.partition); }),
      fixed_column<R>("workflow", "bytea",
                      [](const ExecutionId&, const R& record) {
                        std::optional<Bytes> workflow;
                        if (record.workflow) workflow = encode_key(*record.workflow);
                        return workflow;
                      }),
      fixed_column<R>("space", "text not null",
                      [](const ExecutionId&, const R& record) { return record.space; }),
      fixed_column<R>("lane", "text not null",
                      [](const ExecutionId&, const R& record) { return record.lane; }),
      fixed_column<R>(
          "capabilities", "text[] not null",
          [](const ExecutionId&, const R& record) { return array_literal(record.capabilities); }),
      column<R>("priority", "int4 not null",
                [](const ExecutionId&, const R& record) { return std::int64_t{record.priority}; }),
      word_column<R>("state", [](const R& record) { return record.public_state(); }),
      word_column<R>("phase", [](const R& record) { return record.state.phase; }),
      word_column<R>("ownership", [](const R& record) { return record.state.ownership; }),
      word_column<R>("eligibility", [](const R& record) { return record.state.eligibility; }),
      word_column<R>("reason", [](const R& record) { return record.state.reason; }),
      word_column<R>("outcome", [](const R& record) { return record.state.outcome; }),
      word_column<R>("attempt_state", [](const R& record) { return record.state.attempt; }),
      column<R>("epoch", "int8 not null",
                [](const ExecutionId&, const R& record) {
                  return static_cast<std::int64_t>(record.epoch);
                }),
      column<R>("eligible_at", "timestamptz not null",
                [](const ExecutionId&, const R& record) { return clamped(record.eligible_at); }),
      column<R>("due_at", "timestamptz",
                [](const ExecutionId&, const R& record) {
                  std::optional<Time> due = Schedule::due_of(record);
                  if (due) due = clamped(*due);
                  return due;
                }),
      column<R>("is_ready", "bool not null",
                [](const ExecutionId&, const R& record) { return Schedule::is_ready(record); }),
      added_column<R>(
          "limit_keys", "text[] not null",
          [](const ExecutionId&, const R& record) { return array_literal(record.limit_keys); }),
  };
}

std::vector<Column<Workflow>> Columns<Workflow>::list() {
  using R = Workflow;
  return {
      fixed_column<R>("partition", "int2 not null",
                      [](const WorkflowId& id, const R&) { return number_of(id.partition()); }),
      fixed_column<R>("space", "text not null",
                      [](const WorkflowId&, const R& record) { return record.space; }),
      word_column<R>("state", [](const R& record) { return record.state; }),
      column<R>("is_cancelling", "bool not null",
                [](const WorkflowId&, const R& record) { return record.cancelling.has_value(); }),
  };
}

std::vector<Column<EdgeGroup>> Columns<EdgeGroup>::list() {
  using R = EdgeGroup;
  return {
      fixed_column<R>("partition", "int2 not null",
                      [](const ExecutionId& id, const R&) { return number_of(id.partition); }),
      word_column<R>("state", [](const R& record) { return record.state; }),
      column<R>("is_cancelling", "bool not null",
                [](const ExecutionId&, const R& record) { return !record.cancelling.empty(); }),
  };
}

std::vector<Column<Ended>> Columns<Ended>::list() {
  using R = Ended;
  return {
      fixed_column<R>("partition", "int2 not null",
                      [](const EndedKey& key, const R&) { return number_of(key.partition); }),
      fixed_column<R>("space", "text not null",
                      [](const EndedKey& key, const R&) { return key.space; }),
      fixed_column<R>("ended_at", "timestamptz not null",
                      [](const EndedKey& key, const R&) { return clamped(key.at); }),
  };
}

std::vector<Column<Lane>> Columns<Lane>::list() {
  using R = Lane;
  return {
      word_column<R>("state", [](const R& record) { return record.state; }),
      column<R>("concurrency_max", "int8",
                [](const std::string&, const R& record) {
                  std::optional<std::int64_t> most;
                  if (record.concurrency_max) most = *record.concurrency_max;
                  return most;
                }),
      column<R>("active", "int8 not null",
                [](const std::string&, const R& record) {
                  return static_cast<std::int64_t>(record.active);
                }),
  };
}

}  // namespace weir::flow::workflow::postgres::internal
