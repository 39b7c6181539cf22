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
/// Of a lease or an attempt: a microsecond or more, which is what the store's clock tells apart.
Result<> validate_duration(std::string_view what, Duration duration);

Result<> validate(const NewExecution& request);
Result<> validate(const NewWorkflow& request);
Result<> validate(const NewEdge& request);
Result<> validate(const ClaimRequest& request);
Result<> validate(const SuspendRequest& request);
Result<> validate(const NewSignal& signal);
Result<> validate_signing_key(std::string_view id, std::string_view secret);

}  // namespace weir::flow::workflow::internal
