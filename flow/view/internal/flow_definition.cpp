#include <weir/flow/view/internal/flow_definition.hpp>

#include <weir/flow/view/errc.hpp>

namespace weir::flow::view::internal {

Result<FlowDefinitionRef> make_definition(std::shared_ptr<const RelationInfo> view) {
  auto plan = operators::Plan::decode(view->entry.plan);
  if (!plan) {
    return Error(Errc::corruption,
                 "catalog: view '" + view->entry.name + "': " + plan.error().message());
  }
  return std::make_shared<const FlowDefinition>(
      FlowDefinition{.view = std::move(view), .plan = *std::move(plan)});
}

}  // namespace weir::flow::view::internal
