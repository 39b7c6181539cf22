#include <algorithm>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/token.hpp>

namespace weir::flow::workflow {

using internal::Draft;
using internal::run;
using internal::with_lease;

Task<Result<SuspendResult>> Engine::suspend(Handle handle, SuspendRequest request) const {
  return with_lease(
      core_, handle,
      [handle, request = std::move(request), secret = internal::make_secret()](Draft& draft) {
        return internal::suspend(draft, handle, request, secret);
      });
}

Task<Result<SignalEffect>> Engine::signal(NewSignal signal, std::string token) const {
  return run(core_, [signal = std::move(signal), token = std::move(token)](Draft& draft) {
    return internal::signal(draft, signal, token);
  });
}

Task<Result<SignalEffect>> Engine::approve(NewSignal signal) const {
  return run(core_, [signal = std::move(signal)](Draft& draft) {
    return internal::approve(draft, signal);
  });
}

Task<Result<>> Engine::resume(ExecutionId id, std::string by) const {
  return run(core_,
             [id, by = std::move(by)](Draft& draft) { return internal::resume(draft, id, by); });
}

Task<Result<std::string>> Engine::waitpoint_token(ExecutionId id, std::string waitpoint) const {
  return run(core_,
             [id, waitpoint = std::move(waitpoint), secret = internal::make_secret()](
                 Draft& draft) { return internal::waitpoint_token(draft, id, waitpoint, secret); });
}

Task<Result<std::string>> Engine::handle_secret() const {
  return run(core_, [secret = internal::make_secret()](Draft& draft) -> Result<std::string> {
    return internal::handle_secret(draft, secret);
  });
}

Task<Result<>> Engine::rotate_signing_key(std::string id, std::string secret) const {
  if (secret.empty()) secret = internal::make_secret();
  return run(core_, [id = std::move(id), secret = std::move(secret)](Draft& draft) {
    return internal::rotate_key(draft, id, secret);
  });
}

Task<Result<>> Engine::retire_signing_key(std::string id) const {
  return run(core_, [id = std::move(id)](Draft& draft) { return internal::retire_key(draft, id); });
}

Task<Result<std::optional<Suspension>>> Engine::suspension(ExecutionId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::optional<Suspension>> {
    if (draft.find<Execution>(id) == nullptr) return internal::no_such(id);
    const Suspension* found = draft.find<Suspension>(id);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  });
}

Task<Result<std::vector<Signal>>> Engine::signals(ExecutionId id, std::uint32_t from,
                                                  std::size_t limit) const {
  return run(core_, [id, from, limit](Draft& draft) -> Result<std::vector<Signal>> {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) return internal::no_such(id);
    std::vector<Signal> signals;
    for (std::uint32_t number = from; number < execution->signals; ++number) {
      if (signals.size() >= std::min<std::size_t>(limit, 1000)) break;
      if (const Signal* signal = draft.find<Signal>({id, number})) signals.push_back(*signal);
    }
    return signals;
  });
}

}  // namespace weir::flow::workflow
