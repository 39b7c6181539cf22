#pragma once

#include <string_view>

#include <weir/flow/workflow/request.hpp>
#include <weir/flow/workflow/suspension.hpp>
#include <weir/runtime/result.hpp>

// What is refused before anything is looked at: `invalid_argument`, `too_large` or
// `unsupported_policy`, with the value.
namespace weir::flow::workflow::internal {

Result<> validate_name(std::string_view what, std::string_view name, bool may_be_empty = false);
Result<> validate_payload(std::string_view what, std::string_view payload);
Result<> validate_priority(std::int32_t priority);
/// Which some store could not hold: what is not UTF-8, and the character 0.
Result<> validate_text(std::string_view what, std::string_view text);
/// From 1970 to the end of 9999, which every store can hold.
Result<> validate_time(std::string_view what, Time time);
/// Of a lease or an attempt: a microsecond or more, which is what the store's clock tells apart.
Result<> validate_duration(std::string_view what, Duration duration);

/// Kinds that begin with `weir.` are Weir's own: nobody else may ask for such an execution.
bool is_own_kind(std::string_view kind);
Result<> refuse_own_kind(std::string_view kind);

Result<> validate(const NewExecution& request);
Result<> validate(const NewWorkflow& request);
Result<> validate(const NewEdge& request);
/// The lane and what is asked for, as of an execution.
Result<> validate(const ClaimRequest& request);
Result<> validate(const SuspendRequest& request);
Result<> validate(const NewSignal& signal);
Result<> validate_signing_key(std::string_view id, std::string_view secret);

}  // namespace weir::flow::workflow::internal
