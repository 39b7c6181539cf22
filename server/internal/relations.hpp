#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/server/internal/json_writer.hpp>
#include <weir/server/internal/route.hpp>

// What the routes about tables and views share.
namespace weir::server::internal {

using flow::view::Relation;

enum class Wanted : std::uint8_t { table, view };

/// The table or view that the path names. What the caller's namespaces do not have is not there.
Task<Outcome<Relation>> find_relation(const Call* call, Wanted wanted);
/// Those that the caller sees.
Task<Outcome<std::vector<Relation>>> list_relations(const Call* call, Wanted wanted);

/// At the newest version, or at that of the query parameter `at`.
Outcome<flow::view::Snapshot> take_snapshot(const Call* call);

Task<Response> rows_page(const Call* call, Wanted wanted);
Task<Response> one_row(const Call* call, Wanted wanted);
Task<Response> changes_page(const Call* call, Wanted wanted);

void write_status(JsonWriter& json, const flow::view::ViewStatus& status);

/// Waits until the log has more than `version`; no longer than `time`, nor while the gateway
/// drains.
Task<> wait_past(const Call* call, storage::Version version, Duration time);

/// No limit of a parameter.
inline constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

/// Parameters that several routes have.
Parameter at_parameter();
Parameter limit_parameter();
Parameter wait_parameter();

}  // namespace weir::server::internal
