#include <weir/flow/view/view_status.hpp>

namespace weir::flow::view {

const char* to_string(ViewPhase phase) noexcept {
  switch (phase) {
    case ViewPhase::backfilling: return "backfilling";
    case ViewPhase::live: return "live";
    case ViewPhase::failing: return "failing";
    case ViewPhase::quarantined: return "quarantined";
    case ViewPhase::catching_up: return "catching_up";
    case ViewPhase::waiting: return "waiting";
  }
  return "unknown";
}

}  // namespace weir::flow::view
