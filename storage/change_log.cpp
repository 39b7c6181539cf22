#include <weir/storage/change_log.hpp>

#include <algorithm>
#include <span>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage {
namespace {

using engine::Wait;
using internal::StoreCore;
using Records = ChangeLog::Records;

Result<> check_place(const StoreCore& core, Version after) {
  if (after > core.newest()) {
    return Error(Errc::future_version, "change log: version " + to_string(after) +
                                           ", the newest is " + to_string(core.newest()));
  }
  return core.check_log_reaches(after);
}

/// A record that is not there has been collected meanwhile, or lost.
Error missing(const StoreCore& core, Version version) {
  if (auto reaches = core.check_log_reaches(Version{version.number - 1}); !reaches) {
    return reaches.error();
  }
  return Error(Errc::corruption, "change log: version " + to_string(version) + " is missing");
}

/// Bytes of many records in few pieces of memory. A record that is kept keeps its piece.
class Pieces {
 public:
  struct Copy {
    std::string_view bytes;
    std::shared_ptr<const void> owner;
  };

  Copy copy(std::string_view bytes) {
    if (bytes.size() > free_.size()) {
      const std::size_t size = std::max(bytes.size(), piece_bytes);
      piece_ = std::make_shared_for_overwrite<char[]>(size);
      free_ = {piece_.get(), size};
    }
    std::copy(bytes.begin(), bytes.end(), free_.begin());
    const std::string_view copied(free_.data(), bytes.size());
    free_ = free_.subspan(bytes.size());
    return {copied, piece_};
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{64} << 10;

  std::shared_ptr<char[]> piece_;
  std::span<char> free_;  // of `piece_`
};

Result<Records> read_records(const StoreCore& core, Version after, ReadLimits limits, Wait wait) {
  if (auto place = check_place(core, after); !place) return place.error();
  const Version newest = core.newest();
  Records records;
  if (after == newest) return records;
  const auto cursor = core.engine->make_cursor(
      engine::Family::log,
      {.bounds = {internal::log_key(after.next()), internal::log_key(newest.next())},
       .wait = wait});
  records.reserve(std::min<std::size_t>(limits.records_max, newest.number - after.number));
  Pieces pieces;
  std::size_t bytes = 0;
  Version expected = after.next();
  for (cursor->seek({}); cursor->is_valid(); cursor->next()) {
    const std::string_view value = cursor->value();
    if (!records.empty() && bytes + value.size() > limits.bytes_max) return records;
    if (cursor->key() != internal::log_key(expected)) return missing(core, expected);
    auto [copied, owner] = pieces.copy(value);
    auto record = ChangeRecord::decode(expected, copied, std::move(owner));
    if (!record) return record.error();
    records.push_back(*std::move(record));
    if (records.size() >= limits.records_max) return records;
    bytes += value.size();
    expected = expected.next();
  }
  if (auto status = cursor->status(); !status) {
    if (status.error() == Errc::would_block && !records.empty()) return records;
    return status.error();
  }
  if (expected != newest.next()) return missing(core, expected);
  return records;
}

Task<Result<Records>> read_log(std::shared_ptr<StoreCore> core, Version after, ReadLimits limits) {
  auto records = read_records(*core, after, limits, Wait::never);
  if (records || !(records.error() == Errc::would_block)) co_return records;
  co_return co_await on_blocking_pool(
      [core, after, limits] { return read_records(*core, after, limits, Wait::allowed); });
}

Task<Result<Records>> next_of_log(std::shared_ptr<StoreCore> core, Version after,
                                  ReadLimits limits) {
  WEIR_CO_TRY_VOID(co_await core->published.wait_until(after.number + 1));
  co_return co_await read_log(core, after, limits);
}

}  // namespace

ChangeLog::ChangeLog(std::shared_ptr<internal::StoreCore> core) noexcept : core_(std::move(core)) {}

Version ChangeLog::newest() const noexcept { return core_->newest(); }

Version ChangeLog::oldest() const noexcept {
  return {core_->first_logged.load(std::memory_order_acquire)};
}

ChangeLog::WaitPast ChangeLog::wait_past(Version version) const {
  return WaitPast(core_, core_->published, version);
}

Task<Result<Records>> ChangeLog::read(Version after, ReadLimits limits) const {
  return read_log(core_, after, limits);
}

Task<Result<Records>> ChangeLog::next(Version after, ReadLimits limits) const {
  return next_of_log(core_, after, limits);
}

Result<Records> ChangeLog::read_blocking(Version after, ReadLimits limits) const {
  return read_records(*core_, after, limits, Wait::allowed);
}

}  // namespace weir::storage
