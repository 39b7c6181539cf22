#include <weir/tests/flow/workflow/support/embedded_backend.hpp>

#include <weir/tests/flow/workflow/support/board_store.hpp>

namespace weir::flow::workflow::testing {

std::unique_ptr<Backend> make_backend() { return std::make_unique<EmbeddedBackend>(); }
BoardStore* board_store() { return nullptr; }

}  // namespace weir::flow::workflow::testing
