#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <weir/storage/engine/engine.hpp>

namespace weir::storage::rocksdb::internal {

/// What all cursors of an engine share.
struct CursorContext {
  std::string directory;
  std::atomic<int> open = 0;
};

class Cursor final : public engine::Cursor {
 public:
  Cursor(::rocksdb::DB& database, ::rocksdb::ColumnFamilyHandle& handle, engine::Family family,
         engine::CursorOptions options, CursorContext& context);
  ~Cursor() override;

  void seek(std::string_view key) override;
  void seek_back(std::string_view key) override;
  void next() override { iterator_->Next(); }
  void previous() override { iterator_->Prev(); }

  bool is_valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return iterator_->key().ToStringView(); }
  std::string_view value() const override { return iterator_->value().ToStringView(); }
  Result<> status() const override;

 private:
  CursorContext& context_;
  const engine::Family family_;
  const engine::Bounds bounds_;
  // RocksDB keeps pointers to these.
  const ::rocksdb::Slice begin_;
  const ::rocksdb::Slice end_;
  std::unique_ptr<::rocksdb::Iterator> iterator_;
};

/// Stands in for a cursor that could not be made.
class FailedCursor final : public engine::Cursor {
 public:
  explicit FailedCursor(Error error) noexcept : error_(std::move(error)) {}

  void seek(std::string_view /*key*/) override {}
  void seek_back(std::string_view /*key*/) override {}
  void next() override {}
  void previous() override {}
  bool is_valid() const override { return false; }
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  Result<> status() const override { return error_; }

 private:
  const Error error_;
};

}  // namespace weir::storage::rocksdb::internal
