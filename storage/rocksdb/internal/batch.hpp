#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <weir/storage/engine/engine.hpp>

namespace weir::storage::rocksdb::internal {

using engine::Family;
/// In the order of `Family`.
using Handles = std::array<::rocksdb::ColumnFamilyHandle*, engine::family_count>;

inline ::rocksdb::Slice to_slice(std::string_view bytes) noexcept {
  return {bytes.data(), bytes.size()};
}

/// A batch in the form in which it is logged.
class Batch final : public engine::Batch {
 public:
  explicit Batch(const Handles& handles) noexcept : handles_(handles) {}

  void put(Family family, std::string_view key, std::string_view value) override {
    keep(batch_.Put(handle(family), to_slice(key), to_slice(value)));
  }
  void erase(Family family, std::string_view key) override {
    keep(batch_.Delete(handle(family), to_slice(key)));
  }
  void erase_range(Family family, std::string_view begin, std::string_view end) override {
    // RocksDB refuses a whole batch because of one range that ends before it begins.
    if (begin < end) keep(batch_.DeleteRange(handle(family), to_slice(begin), to_slice(end)));
  }
  void clear() override {
    batch_.Clear();
    status_ = {};
  }

  std::size_t bytes() const override { return batch_.GetDataSize(); }
  bool is_empty() const override { return batch_.Count() == 0; }

  ::rocksdb::WriteBatch& content() noexcept { return batch_; }
  /// The first operation that could not be added, such as one with a key of four gigabytes.
  const ::rocksdb::Status& status() const noexcept { return status_; }

 private:
  ::rocksdb::ColumnFamilyHandle* handle(Family family) const noexcept {
    return handles_[static_cast<std::size_t>(family)];
  }
  void keep(::rocksdb::Status added) {
    if (status_.ok() && !added.ok()) status_ = std::move(added);
  }

  const Handles& handles_;
  ::rocksdb::WriteBatch batch_;
  ::rocksdb::Status status_;
};

}  // namespace weir::storage::rocksdb::internal
