#include <weir/flow/data/errc.hpp>

#include <string>

namespace weir::flow::data {
namespace {

class DataCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.flow.data"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::invalid_argument: return "invalid argument";
      case Errc::unknown_column: return "unknown column";
      case Errc::duplicate_column: return "duplicate column";
      case Errc::unknown_function: return "unknown function";
      case Errc::type_mismatch: return "type mismatch";
      case Errc::null_not_allowed: return "null not allowed";
      case Errc::overflow: return "overflow";
      case Errc::division_by_zero: return "division by zero";
      case Errc::invalid_value: return "invalid value";
      case Errc::corruption: return "corruption";
    }
    return "unknown data error";
  }
};

}  // namespace

const std::error_category& data_category() noexcept {
  static const DataCategory category;
  return category;
}

}  // namespace weir::flow::data
