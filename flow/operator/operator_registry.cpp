#include <weir/flow/operator/operator_registry.hpp>

namespace weir::flow::operators {

Result<> OperatorRegistry::add(std::string name, Make make) {
  if (name.empty()) return Error(Errc::invalid_argument, "an operator must have a name");
  const auto [at, is_new] = operators_.try_emplace(std::move(name), std::move(make));
  if (is_new) return {};
  return Error(Errc::invalid_argument, "there is already an operator '" + at->first + "'");
}

const OperatorRegistry::Make* OperatorRegistry::find(std::string_view name) const noexcept {
  const auto at = operators_.find(name);
  return at == operators_.end() ? nullptr : &at->second;
}

std::vector<std::string> OperatorRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, make] : operators_) names.push_back(name);
  return names;
}

}  // namespace weir::flow::operators
