#include <weir/runtime/ask_all.hpp>

#include <algorithm>
#include <string>

namespace weir::internal {

Error none_succeeded(const std::vector<Error>& errors) {
  constexpr std::size_t named_max = 8;
  std::string detail = "none of " + std::to_string(errors.size()) + " succeeded";
  for (std::size_t i = 0; i < std::min(errors.size(), named_max); ++i) {
    detail += (i == 0 ? ": " : "; ") + errors[i].message();
  }
  if (errors.size() > named_max) detail += "; ...";
  return Error(errors.back().code(), std::move(detail));
}

}  // namespace weir::internal
