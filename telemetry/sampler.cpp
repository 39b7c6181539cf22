#include <weir/telemetry/sampler.hpp>

namespace weir::telemetry {

Sampler::Sampler(const SamplerOptions& options) noexcept
    : bound_(bound_of(options)), is_parent_based_(options.is_parent_based) {}

std::uint64_t Sampler::bound_of(const SamplerOptions& options) noexcept {
  switch (options.kind) {
    case SamplerKind::always_on: return everything;
    case SamplerKind::always_off: return 0;
    case SamplerKind::ratio: break;
  }
  if (options.ratio >= 1) return everything;
  if (!(options.ratio > 0)) return 0;  // also what is no number
  return static_cast<std::uint64_t>(options.ratio * static_cast<double>(everything));
}

}  // namespace weir::telemetry
