#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/storage/store.hpp>

namespace weir::server::internal {

/// Tables and views by their names, opened once: opening one anew for each row that is asked for
/// would take longer than reading it.
///
/// Never older than the newest version at the time of the question: what was committed since the
/// last one is looked at for changes of the catalog, and one of them forgets everything. Usable
/// from any actor.
class RelationCache {
 public:
  RelationCache(const storage::Store* store, const flow::view::Database* database) noexcept
      : store_(store), database_(database) {}

  /// As `Database::relation`.
  Task<Result<flow::view::Relation>> find(std::string name);
  /// The same without asking anybody; none if that is not possible.
  std::optional<flow::view::Relation> find_known(std::string_view name);

 private:
  /// Forgets what changes of the catalog have made old.
  Task<> catch_up();
  Task<std::vector<std::uint32_t>> catalog_spaces();
  void forget(storage::Version seen);

  const storage::Store* const store_;
  const flow::view::Database* const database_;

  std::mutex mutex_;
  // Guarded by it.
  std::map<std::string, flow::view::Relation, std::less<>> known_;
  storage::Version seen_;               // `known_` is right up to here
  std::uint64_t forgotten_ = 0;         // how often
  std::vector<std::uint32_t> catalog_;  // its key spaces; empty until they are known
};

}  // namespace weir::server::internal
