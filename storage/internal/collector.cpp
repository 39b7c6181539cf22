#include <weir/storage/internal/collector.hpp>

#include <string>

#include <weir/storage/change.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage::internal {
namespace {

struct LogPlace {
  std::uint64_t microseconds;
  std::uint64_t bytes_before;  // of all records before this one
};

Result<LogPlace> place_of(const StoreCore& core, Version version) {
  std::string bytes;
  auto found =
      core.engine->get(engine::Family::log, log_key(version), bytes, engine::Wait::allowed);
  if (!found) return found.error();
  ByteReader reader(bytes);
  const std::uint8_t format = reader.byte();
  LogPlace place{reader.varint(), reader.varint()};
  if (!*found || format != change_format || !reader.is_ok()) {
    return Error(Errc::corruption, "change log: version " + to_string(version) +
                                       (*found ? ": not a change record" : ": missing"));
  }
  place.bytes_before -= bytes.size();
  return place;
}

}  // namespace

void VersionTimes::note(TimePoint time, Version newest) {
  if (!samples_.empty() && samples_.back().newest == newest) return;
  samples_.push_back({time, newest});
  // With fewer places old ones are told apart less finely, and kept longer.
  if (samples_.size() > samples_max) {
    std::deque<Sample> half;
    for (std::size_t i = 0; i < samples_.size(); i += 2) half.push_back(samples_[i]);
    samples_ = std::move(half);
  }
}

Version VersionTimes::newest_at(TimePoint time) {
  while (samples_.size() > 1 && samples_[1].time <= time) samples_.pop_front();
  if (samples_.empty() || samples_.front().time > time) return {};
  return samples_.front().newest;
}

Result<Version> log_limit(const StoreCore& core, std::uint64_t total_bytes, std::uint64_t bytes_max,
                          std::uint64_t oldest_microseconds) {
  // The first version that is neither too far back nor too old: both only grow along the log.
  Version low{core.first_logged.load(std::memory_order_acquire)};
  Version high = core.newest();
  while (low < high) {
    const Version middle{low.number + (high.number - low.number) / 2};
    auto place = place_of(core, middle);
    if (!place) return place.error();
    // Commits that came since `total_bytes` was counted are beyond it.
    const bool is_near =
        place->bytes_before >= total_bytes || total_bytes - place->bytes_before <= bytes_max;
    const bool is_kept = is_near && place->microseconds >= oldest_microseconds;
    if (is_kept) {
      high = middle;
    } else {
      low = middle.next();
    }
  }
  return low;
}

}  // namespace weir::storage::internal
