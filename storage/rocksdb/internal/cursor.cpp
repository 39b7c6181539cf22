#include <weir/storage/rocksdb/internal/cursor.hpp>

#include <cstddef>
#include <utility>

#include <rocksdb/options.h>
#include <weir/storage/rocksdb/internal/batch.hpp>
#include <weir/storage/rocksdb/internal/status.hpp>

namespace weir::storage::rocksdb::internal {
namespace {

// Large enough for a disk to be at its full speed, small beside the memory budget.
constexpr std::size_t scan_readahead_bytes = std::size_t{1} << 20;

}  // namespace

Cursor::Cursor(::rocksdb::DB& database, ::rocksdb::ColumnFamilyHandle& handle,
               engine::Family family, engine::CursorOptions options, CursorContext& context)
    : context_(context),
      family_(family),
      bounds_(std::move(options.bounds)),
      begin_(to_slice(bounds_.begin)),
      end_(to_slice(bounds_.end)) {
  ::rocksdb::ReadOptions read;
  read.verify_checksums = true;
  if (!begin_.empty()) read.iterate_lower_bound = &begin_;
  if (!end_.empty()) read.iterate_upper_bound = &end_;
  if (options.wait == engine::Wait::never) {
    read.read_tier = ::rocksdb::kBlockCacheTier;
  } else if (options.is_scan) {
    read.readahead_size = scan_readahead_bytes;
  }
  read.fill_cache = !options.is_scan;
  iterator_.reset(database.NewIterator(read, &handle));
  context_.open.fetch_add(1, std::memory_order_relaxed);
}

Cursor::~Cursor() {
  iterator_.reset();
  context_.open.fetch_sub(1, std::memory_order_release);
}

void Cursor::seek(std::string_view key) { iterator_->Seek(to_slice(key)); }

void Cursor::seek_back(std::string_view key) { iterator_->SeekForPrev(to_slice(key)); }

Result<> Cursor::status() const {
  const ::rocksdb::Status status = iterator_->status();
  if (status.ok()) return {};
  const std::string place = "family '" + std::string(engine::to_string(family_)) + "'";
  return to_error(status, context_.directory, place);
}

}  // namespace weir::storage::rocksdb::internal
