#include <weir/flow/workflow/errc.hpp>

#include <string>

namespace weir::flow::workflow {
namespace {

class WorkflowCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.workflow"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::invalid_argument: return "invalid argument";
      case Errc::not_found: return "not found";
      case Errc::already_exists: return "already exists";
      case Errc::idempotency_mismatch: return "idempotency key of another request";
      case Errc::too_large: return "too large";
      case Errc::wrong_state: return "not possible in this state";
      case Errc::execution_not_active: return "execution is not active";
      case Errc::lease_revoked: return "lease was revoked";
      case Errc::lease_expired: return "lease has expired";
      case Errc::stale_lease: return "lease is not the current one";
      case Errc::invalid_token: return "invalid token";
      case Errc::foreign_handle: return "handle of another store";
      case Errc::workflow_sealed: return "workflow has ended";
      case Errc::stale_revision: return "graph has changed";
      case Errc::cycle: return "cycle of edges";
      case Errc::policy_fixed: return "policy of the edge group is fixed";
      case Errc::group_fired: return "edge group has fired";
      case Errc::unsupported_policy: return "unsupported policy";
      case Errc::limit_reached: return "limit reached";
      case Errc::retry_exhausted: return "given up after conflicts";
      case Errc::unavailable: return "store unavailable";
      case Errc::corruption: return "corruption";
      case Errc::closed: return "closed";
      case Errc::step_failed: return "step failed";
      case Errc::code_changed: return "code has changed";
      case Errc::overtaken: return "notices were removed";
    }
    return "unknown workflow error";
  }
};

}  // namespace

const std::error_category& workflow_category() noexcept {
  static const WorkflowCategory category;
  return category;
}

}  // namespace weir::flow::workflow
