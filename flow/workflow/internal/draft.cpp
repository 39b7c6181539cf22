#include <weir/flow/workflow/internal/draft.hpp>

namespace weir::flow::workflow::internal {

Draft::Draft(const WorkingSet& base, Time now, std::uint64_t random) noexcept
    : base_(base), now_(now), random_(random) {}
Draft::Draft(Draft&&) noexcept = default;
Draft::~Draft() = default;

void Draft::apply(WorkingSet& to) && {
  absent_.each([&](auto& absent) {
    using Record = typename std::remove_reference_t<decltype(absent)>::Record;
    for (const auto& key : absent.keys) to.add<Record>(key, std::nullopt);
  });
  changes_.each([&](auto& changes) {
    using Record = typename std::remove_reference_t<decltype(changes)>::Record;
    for (auto& [key, record] : changes.records) to.change<Record>(key, std::move(record));
  });
  for (Notice& notice : notices_) to.tell(std::move(notice));
}

}  // namespace weir::flow::workflow::internal
