#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/range_scan.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::storage {

/// One row, decoded.
template <class K, class V>
struct Row {
  K key;
  V value;

  friend bool operator==(const Row&, const Row&) = default;
};

/// Rows of a range, in order of their keys.
///
///     auto scan = transaction.scan(accounts);
///     for (;;) {
///       WEIR_CO_TRY(row, co_await scan.next());
///       if (!row) break;
///       ...
///     }
///
/// Reads in growing pieces, the first ones on the actor's thread as long as no disk is needed. Of a
/// long scan the next piece is read while one is used. In a read-write transaction it also sees
/// what that had written when the scan began. Its transaction outlives it.
template <class K, class V>
class Scan {
 public:
  class Next;

  explicit Scan(internal::RangeScan scan) : scan_(std::move(scan)) {}

  /// `co_await scan.next()`: gives a `Result<std::optional<Row<K, V>>>`, nothing after the last
  /// row.
  [[nodiscard]] Next next() noexcept { return Next(*this); }
  /// The same on a thread that may wait.
  Result<std::optional<Row<K, V>>> next_blocking() {
    if (auto read = scan_.read_blocking(); !read) return read.error();
    return take();
  }

 private:
  Result<std::optional<Row<K, V>>> take() {
    const auto entry = scan_.take();
    if (!entry) return std::optional<Row<K, V>>();
    auto key = decode_key<K>(entry->key);
    if (!key) return key.error();
    auto value = decode_value<V>(entry->value);
    if (!value) return value.error();
    return std::optional<Row<K, V>>(Row<K, V>{*std::move(key), *std::move(value)});
  }

  internal::RangeScan scan_;
};

template <class K, class V>
class Scan<K, V>::Next {
 public:
  bool await_ready() { return scan_.scan_.has_answer() || refill_.try_now(); }
  bool await_suspend(std::coroutine_handle<> handle) { return refill_.wait(handle); }
  Result<std::optional<Row<K, V>>> await_resume() {
    if (auto filled = refill_.finish(); !filled) return filled.error();
    return scan_.take();
  }

 private:
  friend class Scan;
  explicit Next(Scan& scan) noexcept : scan_(scan), refill_(scan.scan_) {}

  Scan& scan_;
  internal::RangeScan::Refill refill_;
};

}  // namespace weir::storage
