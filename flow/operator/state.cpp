#include <weir/flow/operator/state.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/check.hpp>

namespace weir::flow::operators {

template <class Kind>
Kind& State::add() {
  check(tables_.size() < 0xFFFF, "a flow has too many state tables");
  auto table =
      std::make_unique<Kind>(shared_, static_cast<std::uint16_t>(tables_.size()), options_.is_new);
  Kind& added = *table;
  tables_.push_back(std::move(table));
  return added;
}

StateTable& State::add_table() { return add<StateTable>(); }
GroupTable& State::add_groups() { return add<GroupTable>(); }

std::vector<State::Write> State::writes() const {
  std::vector<Write> writes;
  for (const auto& table : tables_)
    table->visit_writes([&](std::string key, std::optional<std::string_view> value) {
      writes.push_back({std::move(key), value ? std::optional<std::string>(*value) : std::nullopt});
    });
  std::ranges::sort(writes, {}, &Write::key);
  return writes;
}

void State::commit() {
  for (const auto& table : tables_) table->commit();
  if (shared_.reader == nullptr) return;
  const std::size_t used = memory();
  if (used <= options_.memory_max) return;
  // Each table gives up its share.
  const double share = static_cast<double>(used - options_.memory_max) / static_cast<double>(used);
  for (const auto& table : tables_)
    table->evict(static_cast<std::size_t>(static_cast<double>(table->memory()) * share) + 1);
}

void State::roll_back() {
  for (const auto& table : tables_) table->roll_back();
}

std::size_t State::memory() const noexcept {
  std::size_t bytes = 0;
  for (const auto& table : tables_) bytes += table->memory();
  return bytes;
}

}  // namespace weir::flow::operators
