#include <weir/cli/errc.hpp>

namespace weir::cli {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.cli"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::failed: return "failed";
      case Errc::usage: return "usage";
      case Errc::unreachable: return "unreachable";
      case Errc::refused: return "refused";
      case Errc::not_found: return "not_found";
      case Errc::in_use: return "in_use";
      case Errc::unsupported: return "unsupported";
      case Errc::closed: return "closed";
    }
    return "unknown";
  }
};

}  // namespace

const std::error_category& cli_category() noexcept {
  static const Category category;
  return category;
}

}  // namespace weir::cli
