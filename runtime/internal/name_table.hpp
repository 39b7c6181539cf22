#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/internal/cell.hpp>

namespace weir::internal {

/// Names of actors, for `Registry`. Usable from any thread.
///
/// It keeps no actor's cell: a name whose actor has begun to stop is free, and swept out in time.
class NameTable {
 public:
  /// Null if the name is now the cell's, otherwise a counted reference to whom it belongs.
  Cell* add(std::string name, Cell& cell);
  /// False if no living actor has this name.
  bool remove(std::string_view name);
  /// A counted reference, or null.
  Cell* find(std::string_view name);
  /// In alphabetical order.
  std::vector<std::string> names();

 private:
  struct Entry {
    Cell* cell;  // not counted: checked against `id`
    std::uint64_t id;
  };

  static Cell* lock(const Entry& entry) noexcept;
  static bool is_alive(const Entry& entry) noexcept;
  void sweep_if_large();

  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::size_t sweep_at_ = 64;
};

}  // namespace weir::internal
