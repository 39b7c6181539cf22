#include <weir/server/internal/problem.hpp>

#include <array>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/server/internal/json_writer.hpp>
#include <weir/storage/errc.hpp>

namespace weir::server::internal {
namespace {

using ViewErrc = flow::view::Errc;
using DataErrc = flow::data::Errc;
using StorageErrc = storage::Errc;
using WorkflowErrc = flow::workflow::Errc;

struct Known {
  int status;
  const char* code;
};

Known known(ViewErrc code) noexcept {
  switch (code) {
    case ViewErrc::invalid_argument: return {400, "invalid_argument"};
    case ViewErrc::unknown_relation: return {404, "unknown_relation"};
    case ViewErrc::already_exists: return {409, "already_exists"};
    case ViewErrc::not_a_table: return {409, "not_a_table"};
    case ViewErrc::append_only: return {409, "append_only"};
    case ViewErrc::stale_relation: return {409, "stale_relation"};
    case ViewErrc::in_use: return {409, "in_use"};
    case ViewErrc::duplicate_key: return {409, "duplicate_key"};
    case ViewErrc::unknown_key: return {404, "unknown_key"};
    case ViewErrc::not_ready: return {503, "not_ready"};
    case ViewErrc::quarantined: return {503, "quarantined"};
    case ViewErrc::corruption: return {500, "corruption"};
    case ViewErrc::too_large: return {413, "too_large"};
  }
  return {500, "internal"};
}

Known known(DataErrc code) noexcept {
  switch (code) {
    case DataErrc::unknown_column: return {422, "unknown_field"};
    case DataErrc::type_mismatch: return {422, "wrong_type"};
    case DataErrc::null_not_allowed: return {422, "null_not_allowed"};
    case DataErrc::overflow: return {422, "out_of_range"};
    case DataErrc::division_by_zero: return {422, "division_by_zero"};
    case DataErrc::invalid_value: return {422, "invalid_value"};
    case DataErrc::corruption: return {500, "corruption"};
    default: return {422, "invalid_argument"};
  }
}

Known known(StorageErrc code) noexcept {
  switch (code) {
    case StorageErrc::conflict: return {409, "conflict"};
    case StorageErrc::closed: return {503, "closed"};
    case StorageErrc::no_space: return {507, "no_space"};
    case StorageErrc::corruption: return {500, "corruption"};
    case StorageErrc::too_large: return {413, "too_large"};
    case StorageErrc::future_version: return {404, "future_version"};
    case StorageErrc::version_collected: return {410, "version_collected"};
    case StorageErrc::overtaken: return {410, "overtaken"};
    case StorageErrc::already_exists: return {409, "already_exists"};
    case StorageErrc::not_found: return {404, "not_found"};
    case StorageErrc::invalid_argument: return {400, "invalid_argument"};
    default: return {503, "storage_failed"};
  }
}

Known known(WorkflowErrc code) noexcept {
  switch (code) {
    case WorkflowErrc::invalid_argument: return {422, "invalid_argument"};
    case WorkflowErrc::not_found: return {404, "not_found"};
    case WorkflowErrc::already_exists: return {409, "already_exists"};
    case WorkflowErrc::idempotency_mismatch: return {409, "idempotency_mismatch"};
    case WorkflowErrc::too_large: return {413, "too_large"};
    case WorkflowErrc::wrong_state: return {409, "wrong_state"};
    case WorkflowErrc::execution_not_active: return {409, "execution_not_active"};
    case WorkflowErrc::lease_revoked: return {409, "lease_revoked"};
    case WorkflowErrc::lease_expired: return {409, "lease_expired"};
    case WorkflowErrc::stale_lease: return {409, "stale_lease"};
    case WorkflowErrc::invalid_token: return {403, "invalid_token"};
    case WorkflowErrc::foreign_handle: return {422, "malformed_handle"};
    case WorkflowErrc::workflow_sealed: return {409, "workflow_sealed"};
    case WorkflowErrc::stale_revision: return {409, "stale_revision"};
    case WorkflowErrc::cycle: return {422, "cycle"};
    case WorkflowErrc::policy_fixed: return {409, "policy_fixed"};
    case WorkflowErrc::group_fired: return {409, "group_fired"};
    case WorkflowErrc::unsupported_policy: return {422, "unsupported_policy"};
    case WorkflowErrc::limit_reached: return {409, "limit_reached"};
    case WorkflowErrc::retry_exhausted: return {503, "retry_exhausted"};
    case WorkflowErrc::unavailable: return {503, "unavailable"};
    case WorkflowErrc::corruption: return {500, "corruption"};
    case WorkflowErrc::closed: return {503, "closed"};
    case WorkflowErrc::overtaken: return {410, "overtaken"};
    // Of durable coroutines inside the process.
    case WorkflowErrc::step_failed:
    case WorkflowErrc::code_changed: return {500, "internal"};
  }
  return {500, "internal"};
}

Known known(weir::Errc code) noexcept {
  switch (code) {
    case weir::Errc::full: return {503, "overloaded"};
    case weir::Errc::stopped:
    case weir::Errc::cancelled:
    case weir::Errc::closed: return {503, "stopping"};
    case weir::Errc::timed_out: return {504, "timed_out"};
    default: return {500, "internal"};
  }
}

Known known(const std::error_code& code) noexcept {
  if (code.category() == flow::view::view_category()) return known(ViewErrc(code.value()));
  if (code.category() == flow::data::data_category()) return known(DataErrc(code.value()));
  if (code.category() == flow::workflow::workflow_category())
    return known(WorkflowErrc(code.value()));
  if (code.category() == storage::engine::storage_category())
    return known(StorageErrc(code.value()));
  if (code.category() == runtime_category()) return known(weir::Errc(code.value()));
  return {500, "internal"};
}

constexpr std::array phrases = std::to_array<std::pair<int, std::string_view>>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
});

/// What is wrong inside is nobody's business outside: details may have the names of files, or where
/// a database is. Empty where they tell the caller what to do.
std::string_view detail_for_all(const Problem& problem) noexcept {
  if (problem.code == "unavailable")
    return "the database of the workflows is not to be reached: try again later";
  if (problem.code == "retry_exhausted")
    return "others were in the way each time it was tried: try again later";
  const bool is_ours =
      problem.status == 500 || problem.code == "storage_failed" || problem.code == "no_space";
  return is_ours ? "the server could not do it; its log says why" : "";
}

}  // namespace

std::string_view phrase_of(int status) noexcept {
  for (const auto& [known_status, phrase] : phrases)
    if (known_status == status) return phrase;
  return "Unknown";
}

Problem problem_of(const Error& error) {
  const auto [status, code] = known(error.code());
  Problem problem{.status = status, .code = code};
  if (const std::string_view detail = detail_for_all(problem); !detail.empty()) {
    problem.detail = detail;
    problem.cause = error.message();
  } else {
    problem.detail = error.message();
  }
  return problem;
}

std::string print_problem(const Problem& problem) {
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("type").text("urn:weir:problem:" + problem.code);
  json.key("title").text(phrase_of(problem.status)).key("status");
  json.number(std::int64_t{problem.status}).key("code").text(problem.code);
  json.key("detail").text(problem.detail);
  if (problem.pointer) json.key("pointer").text(*problem.pointer);
  if (problem.offset) json.key("offset").number(std::uint64_t{*problem.offset});
  json.end_object();
  return text;
}

}  // namespace weir::server::internal
