#pragma once

#include <string_view>

#include <weir/flow/workflow/engine.hpp>
#include <weir/server/internal/json_writer.hpp>

// How what an engine knows looks from outside. Times are RFC 3339 in UTC, lengths of time seconds,
// enumerations their words, and what is not there is null.
namespace weir::server::internal {

void write_time(JsonWriter& json, const std::optional<flow::workflow::Time>& time);
void write_seconds(JsonWriter& json, const std::optional<Duration>& time);
/// As a string if it is UTF-8, else `{"base64": ".."}`.
void write_payload(JsonWriter& json, std::string_view bytes);
/// Null if it is empty.
void write_text(JsonWriter& json, std::string_view text);
void write_texts(JsonWriter& json, const std::vector<std::string>& texts);
void write_tags(JsonWriter& json, const flow::workflow::Tags& tags);
void write_rate(JsonWriter& json, const std::optional<flow::workflow::Rate>& rate);
void write_admission(JsonWriter& json, const flow::workflow::Admission& admission);
/// Those that are there: `{"waiting": 3}`.
void write_counts(JsonWriter& json, const flow::workflow::StateCounts& counts);

enum class With : bool { summary, payload };
void write_execution(JsonWriter& json, const flow::workflow::ExecutionInfo& info, With with);
void write_attempt(JsonWriter& json, std::size_t number, const flow::workflow::Attempt& attempt);
void write_signal(JsonWriter& json, const flow::workflow::Signal& signal);
void write_suspension(JsonWriter& json, const flow::workflow::Suspension& suspension);
void write_resumption(JsonWriter& json,
                      const std::optional<flow::workflow::Resumption>& resumption);
void write_journal(JsonWriter& json, const flow::workflow::Journal& journal);

void write_workflow(JsonWriter& json, const flow::workflow::WorkflowInfo& info);
/// Of a graph: less than all of an execution, as there may be many.
void write_node(JsonWriter& json, const flow::workflow::ExecutionInfo& info,
                const flow::workflow::EdgeGroup* group);
void write_edge(JsonWriter& json, const flow::workflow::EdgeInfo& info);

}  // namespace weir::server::internal
