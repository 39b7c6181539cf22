// What the program whose tests run on the embedded store says about it.
#include <weir/tests/flow/workflow/support/board_store.hpp>
#include <weir/tests/flow/workflow/support/embedded_backend.hpp>

namespace weir::flow::workflow::testing {

std::unique_ptr<Backend> make_backend(telemetry::Telemetry* telemetry) {
  return std::make_unique<EmbeddedBackend>(telemetry);
}
BoardStore* board_store() { return nullptr; }

}  // namespace weir::flow::workflow::testing
