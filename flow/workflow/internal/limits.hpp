#pragma once

#include <string>

#include <weir/flow/workflow/internal/draft.hpp>

// Places in lanes and under limits: counted where leases begin and end, in the same commit.
namespace weir::flow::workflow::internal {

/// Whether its lane and its limits let it be claimed now.
Admission admission_of(Draft& draft, const Execution& execution);
/// A lease begins, or ends.
void count_lease(Draft& draft, const Execution& execution, bool begins);
/// It was claimed: counts against rates.
void spend_rates(Draft& draft, const Execution& execution);

/// Under which the limit of many keys is kept: `customer:*` of `customer:7`; empty if there is
/// none.
std::string class_of(const std::string& key);
bool is_class(const std::string& key);

}  // namespace weir::flow::workflow::internal
