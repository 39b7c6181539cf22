#include <weir/flow/operator/errc.hpp>

#include <string>

namespace weir::flow::operators {
namespace {

class OperatorCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.flow.operator"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::invalid_argument: return "invalid argument";
      case Errc::unknown_name: return "unknown name";
      case Errc::wrong_schema: return "wrong schema";
      case Errc::unknown_row: return "unknown row";
      case Errc::row_error: return "row error";
      case Errc::corruption: return "corruption";
      case Errc::would_block: return "would block";
      case Errc::broken_rule: return "broken rule";
      case Errc::too_large: return "too large";
    }
    return "unknown operator error";
  }
};

}  // namespace

const std::error_category& operator_category() noexcept {
  static const OperatorCategory category;
  return category;
}

}  // namespace weir::flow::operators
