#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/storage/postgres/statement.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Executions that cannot be read, or not be done anything with: neither claimed nor looked at when
/// they are due, as long as this engine runs, so that they hold up nobody. Usable from any thread.
class BrokenRows {
 public:
  using Bytes = storage::postgres::Bytes;

  /// False if it is known, or there are too many.
  bool add(const Bytes& key, std::string what, Error reason) {
    const std::scoped_lock hold(lock_);
    if (rows_.size() >= rows_max) return false;
    return rows_.emplace(key.value, SetAside{std::move(what), std::move(reason)}).second;
  }
  std::vector<Bytes> keys() const {
    const std::scoped_lock hold(lock_);
    std::vector<Bytes> keys;
    for (const auto& [key, row] : rows_) keys.push_back(Bytes{key});
    return keys;
  }
  std::vector<SetAside> list() const {
    const std::scoped_lock hold(lock_);
    std::vector<SetAside> list;
    for (const auto& [key, row] : rows_) list.push_back(row);
    return list;
  }

 private:
  // They are part of each statement that looks for others.
  static constexpr std::size_t rows_max = 1000;

  mutable std::mutex lock_;
  std::map<std::string, SetAside> rows_;
};

}  // namespace weir::flow::workflow::postgres::internal
