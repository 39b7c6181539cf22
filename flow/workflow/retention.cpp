#include <weir/flow/workflow/retention.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {

std::optional<Duration> Retention::of(const std::string& space) const {
  const auto own = by_space.find(space);
  return own != by_space.end() ? own->second : keep;
}

bool Retention::is_on() const {
  return keep || keep_notices ||
         std::ranges::any_of(by_space, [](const auto& own) { return own.second.has_value(); });
}

Result<> validate(const Retention& retention) {
  const auto refuse = [](const std::string& name) {
    return Error(Errc::invalid_argument, "Retention::" + name + " must be positive");
  };
  const auto is_bad = [](const std::optional<Duration>& keep) {
    return keep && *keep <= Duration::zero();
  };
  if (is_bad(retention.keep)) return refuse("keep");
  if (is_bad(retention.keep_notices)) return refuse("keep_notices");
  for (const auto& [space, keep] : retention.by_space) {
    if (is_bad(keep)) return refuse("by_space[" + space + "]");
  }
  if (retention.period <= Duration::zero()) return refuse("period");
  if (retention.removals_max == 0) return refuse("removals_max");
  return {};
}

std::optional<std::uint64_t> NoticeCursors::lowest() const {
  const auto lowest =
      std::ranges::min_element(passed, {}, [](const auto& own) { return own.second; });
  if (lowest == passed.end()) return std::nullopt;
  return lowest->second;
}

}  // namespace weir::flow::workflow
