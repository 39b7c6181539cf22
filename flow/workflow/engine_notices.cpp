#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>

// What was told, and who has read it.
namespace weir::flow::workflow {

using internal::CoreRef;
using internal::Draft;
using internal::run;

Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> Engine::notices(
    std::uint64_t from, std::size_t notices_max) const {
  const CoreRef core = core_;
  co_return co_await core->notices(from, notices_max);
}

Task<Result<std::uint64_t>> Engine::first_notice() const {
  const CoreRef core = core_;
  co_return co_await core->first_notice();
}

void Engine::tell_changes() const { core_->tell_changes(); }

Task<Result<>> Engine::acknowledge_notices(std::string consumer, std::uint64_t number) const {
  return run(core_, [consumer = std::move(consumer), number](Draft& draft) {
    return internal::acknowledge_notices(draft, consumer, number);
  });
}

Task<Result<bool>> Engine::drop_notice_cursor(std::string consumer) const {
  return run(core_, [consumer = std::move(consumer)](Draft& draft) {
    return internal::drop_notice_cursor(draft, consumer);
  });
}

Task<Result<std::map<std::string, std::uint64_t>>> Engine::notice_cursors() const {
  return run(core_, [](Draft& draft) -> Result<std::map<std::string, std::uint64_t>> {
    const auto* cursors = draft.find<NoticeCursors>(internal::the_cursors);
    return cursors != nullptr ? cursors->passed : std::map<std::string, std::uint64_t>();
  });
}

}  // namespace weir::flow::workflow
