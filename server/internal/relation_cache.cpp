#include <weir/server/internal/relation_cache.hpp>

#include <algorithm>
#include <utility>

namespace weir::server::internal {
namespace {

/// More than that is not looked at: opening a few relations again is quicker.
constexpr std::size_t records_looked_at_max = 256;

bool changes_catalog(const storage::ChangeRecord& record,
                     const std::vector<std::uint32_t>& catalog) noexcept {
  return std::ranges::any_of(record.spaces(), [&](const storage::SpaceChanges& changes) {
    return std::ranges::find(catalog, changes.space()) != catalog.end();
  });
}

}  // namespace

Task<Result<flow::view::Relation>> RelationCache::find(std::string name) {
  co_await catch_up();
  std::uint64_t forgotten = 0;
  {
    const std::scoped_lock hold(mutex_);
    if (const auto found = known_.find(name); found != known_.end()) co_return found->second;
    forgotten = forgotten_;
  }
  auto relation = co_await database_->relation(name);
  if (relation) {
    // One that was opened before the catalog changed must not come back after that was noticed.
    const std::scoped_lock hold(mutex_);
    if (forgotten == forgotten_) known_.insert_or_assign(std::move(name), *relation);
  }
  co_return relation;
}

std::optional<flow::view::Relation> RelationCache::find_known(std::string_view name) {
  const storage::Version newest = store_->version();
  const std::scoped_lock hold(mutex_);
  const auto found = seen_ >= newest ? known_.find(name) : known_.end();
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Task<> RelationCache::catch_up() {
  const storage::Version newest = store_->version();
  storage::Version seen;
  {
    const std::scoped_lock hold(mutex_);
    if (known_.empty() && seen_ < newest) {
      // Nobody looks at what came meanwhile, and it may be about what is being opened.
      seen_ = newest;
      ++forgotten_;
    }
    if (seen_ >= newest) co_return;
    seen = seen_;
  }
  const std::vector<std::uint32_t> catalog = co_await catalog_spaces();
  const auto records = co_await store_->log().read(seen, {.records_max = records_looked_at_max});
  const bool is_known = !catalog.empty() && records && !records->empty() &&
                        records->back().version() >= newest &&
                        std::ranges::none_of(*records, [&](const storage::ChangeRecord& record) {
                          return changes_catalog(record, catalog);
                        });
  if (!is_known) {
    forget(newest);
  } else {
    const std::scoped_lock hold(mutex_);
    seen_ = std::max(seen_, records->back().version());
  }
}

void RelationCache::forget(storage::Version seen) {
  const std::scoped_lock hold(mutex_);
  known_.clear();
  ++forgotten_;
  seen_ = std::max(seen_, seen);
}

Task<std::vector<std::uint32_t>> RelationCache::catalog_spaces() {
  {
    const std::scoped_lock hold(mutex_);
    if (!catalog_.empty()) co_return catalog_;
  }
  std::vector<std::uint32_t> catalog;
  // Their names are part of the format of a store.
  if (const auto spaces = co_await store_->spaces()) {
    for (const storage::SpaceInfo& space : *spaces) {
      if (space.name == "weir.flow.relations" || space.name == "weir.flow.names")
        catalog.push_back(space.id);
    }
  }
  const std::scoped_lock hold(mutex_);
  catalog_ = catalog;
  co_return catalog;
}

}  // namespace weir::server::internal
