#include <weir/flow/view/errc.hpp>

#include <string>

namespace weir::flow::view {
namespace {

class ViewCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.flow.view"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::invalid_argument: return "invalid argument";
      case Errc::unknown_relation: return "unknown table or view";
      case Errc::already_exists: return "already exists";
      case Errc::not_a_table: return "not a table";
      case Errc::append_only: return "append only";
      case Errc::stale_relation: return "altered or dropped since it was opened";
      case Errc::in_use: return "in use";
      case Errc::duplicate_key: return "duplicate key";
      case Errc::unknown_key: return "unknown key";
      case Errc::not_ready: return "not ready";
      case Errc::quarantined: return "quarantined";
      case Errc::corruption: return "corruption";
      case Errc::too_large: return "too large";
    }
    return "unknown view error";
  }
};

}  // namespace

const std::error_category& view_category() noexcept {
  static const ViewCategory category;
  return category;
}

}  // namespace weir::flow::view
