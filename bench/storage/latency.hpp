#pragma once

namespace weir::bench::storage {

/// The workload `wake`: from the begin of a commit to a reader of the change log that is awake.
void wake();

}  // namespace weir::bench::storage
