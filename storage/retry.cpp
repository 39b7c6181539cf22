#include <weir/storage/retry.hpp>

namespace weir::storage::internal {

Duration backoff_before(const RetryOptions& options, unsigned attempt, std::uint64_t random) {
  Duration most = options.backoff;
  for (; attempt > 1 && most < options.backoff_max; --attempt) most *= 2;
  most = std::min(most, options.backoff_max);
  return Duration(random % static_cast<std::uint64_t>(std::max<Duration::rep>(most.count(), 1)));
}

}  // namespace weir::storage::internal
