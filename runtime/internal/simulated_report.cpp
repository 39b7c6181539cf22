#include <algorithm>
#include <cstdio>

#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/simulator.hpp>

namespace weir::internal {
namespace {

constexpr std::size_t actors_listed_max = 20;

std::string seconds_text(std::int64_t ns) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%09lld s", static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000));
  return text;
}

std::string reason_of(RunEnd end, std::uint64_t steps_max) {
  if (end == RunEnd::step_limit) {
    return "the task has not finished after " + std::to_string(steps_max) +
           " steps: actors or timers keep each other busy";
  }
  return "the task cannot finish: nobody has anything to do, and no timer is armed";
}

void append_line(std::string& text, const Cell& cell) {
  const Extension* extension = cell.extension_if_any();
  text.append("\n  ").append(cell.core->options.name).append(": ").append(cell.type->name);
  if (extension && !extension->name.empty()) text.append(" ").append(extension->name);
  text.append(" #").append(std::to_string(cell.id.load(std::memory_order_relaxed)));
  if (!cell.is_running()) text.append(" is stopping");
  const std::uint32_t depth = cell.depth();
  text.append(depth == 1 ? ", 1 message" : ", " + std::to_string(depth) + " messages");
  text.append(" queued");
  if (extension && extension->waiters.first) {
    text.append(", waits for ").append(extension->waiters.describe());
  }
}

bool is_of_interest(const Cell& cell) noexcept {
  const Extension* extension = cell.extension_if_any();
  return cell.depth() > 0 || !cell.is_running() || (extension && extension->waiters.first);
}

// Sorted by id, so that the same run gives the same text.
std::vector<const Cell*> actors_of_interest(const Core& core) {
  std::vector<const Cell*> found;
  std::vector<const Cell*> open{core.guardian};
  while (!open.empty()) {
    const Cell* cell = open.back();
    open.pop_back();
    for (const Cell* child = cell->first_child; child; child = child->next_sibling) {
      open.push_back(child);
    }
    if (cell != core.guardian && is_of_interest(*cell)) found.push_back(cell);
  }
  std::sort(found.begin(), found.end(),
            [](const Cell* a, const Cell* b) { return a->id.load() < b->id.load(); });
  return found;
}

}  // namespace

std::string Simulator::describe_stuck(RunEnd end) const {
  std::string text = reason_of(end, options_.steps_max) + " (virtual time " + seconds_text(now_) +
                     ", " + std::to_string(steps_) + " steps, seed " +
                     std::to_string(options_.seed) + ")";
  for (const Core* core : cores_) {
    const std::vector<const Cell*> actors = actors_of_interest(*core);
    for (std::size_t i = 0; i < std::min(actors.size(), actors_listed_max); ++i) {
      append_line(text, *actors[i]);
    }
    if (actors.size() > actors_listed_max) {
      text += "\n  and " + std::to_string(actors.size() - actors_listed_max) + " more";
    }
  }
  if (!trace_.failures().empty()) text += "\n  failures so far:";
  for (const std::string& failure : trace_.failures()) text += "\n    " + failure;
  return text;
}

}  // namespace weir::internal
