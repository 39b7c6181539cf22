#include <weir/server/errc.hpp>

#include <string>

namespace weir::server {
namespace {

class ServerCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.server"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::invalid_argument: return "invalid argument";
      case Errc::needs_tokens: return "needs tokens";
      case Errc::cannot_listen: return "cannot listen";
      case Errc::bad_certificate: return "bad certificate";
    }
    return "unknown server error";
  }
};

}  // namespace

const std::error_category& server_category() noexcept {
  static const ServerCategory category;
  return category;
}

}  // namespace weir::server
