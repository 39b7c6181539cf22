#include <weir/server/internal/handle_secret.hpp>

#include <weir/runtime/try.hpp>

namespace weir::server::internal {

// Who asks at the same time gets the same.
Task<Result<std::string>> HandleSecret::get() {
  {
    const std::scoped_lock hold(mutex_);
    if (!known_.empty()) co_return known_;
  }
  WEIR_CO_TRY(secret, co_await engine_->handle_secret());
  const std::scoped_lock hold(mutex_);
  known_ = secret;
  co_return secret;
}

}  // namespace weir::server::internal
