#include <weir/telemetry/internal/site_table.hpp>

#include <algorithm>
#include <bit>

namespace weir::telemetry::internal {
namespace {

constexpr WallTime ns_per_second = 1'000'000'000;
constexpr unsigned lines_bits = 24;
constexpr std::uint64_t lines_mask = (std::uint64_t{1} << lines_bits) - 1;

// A place's file name is one constant of the program, so that its address says which it is. Odd,
// hence never zero.
std::uint64_t key_of(const std::source_location& site) noexcept {
  std::uint64_t key = std::bit_cast<std::uintptr_t>(site.file_name());
  for (const std::uint64_t part : {std::uint64_t{site.line()}, std::uint64_t{site.column()}}) {
    key = (key ^ part) * 0x9E37'79B9'7F4A'7C15u;
    key ^= key >> 29;
  }
  return key | 1;
}

// The clock may be set back, even to before 1970: any other second is a new one.
std::uint64_t second_of(WallTime now) noexcept {
  const WallTime floor = now / ns_per_second - (now % ns_per_second < 0 ? 1 : 0);
  return static_cast<std::uint64_t>(floor) << lines_bits;
}

}  // namespace

SiteTable::Entry& SiteTable::entry_of(const std::source_location& site, Level level) noexcept {
  const std::uint64_t key = key_of(site);
  const std::size_t home = key >> 32;
  for (std::size_t i = 0; i < probes_max; ++i) {
    Entry& entry = entries_[(home + i) % entries_count];
    std::uint64_t found = entry.key.load(std::memory_order_relaxed);
    if (found == key) return entry;
    if (found == 0 && entry.key.compare_exchange_strong(found, key)) {
      entry.file.store(site.file_name(), std::memory_order_relaxed);
      entry.line.store(site.line(), std::memory_order_relaxed);
      entry.level.store(level, std::memory_order_relaxed);
      return entry;
    }
    if (found == key) return entry;
  }
  return entries_[home % entries_count];
}

SiteReport SiteTable::take_report(Entry& entry) noexcept {
  return {entry.level.load(std::memory_order_relaxed), entry.file.load(std::memory_order_relaxed),
          entry.line.load(std::memory_order_relaxed), entry.suppressed.exchange(0)};
}

SiteTable::Verdict SiteTable::admit(const std::source_location& site, Level level,
                                    WallTime now) noexcept {
  if (limit_ == 0) return {};
  Entry& entry = entry_of(site, level);
  const std::uint64_t second = second_of(now);
  const std::uint64_t limit = std::min<std::uint64_t>(limit_, lines_mask - 1);
  std::uint64_t window = entry.window.load();
  for (;;) {
    // The first second's entry is zero, as is that of a place which was never seen: both are new.
    const bool is_new = (window & ~lines_mask) != second || (window & lines_mask) == 0;
    if (!is_new && (window & lines_mask) >= limit) {
      entry.suppressed.fetch_add(1);
      return {.is_admitted = false, .report = {}};
    }
    if (!entry.window.compare_exchange_weak(window, is_new ? second + 1 : window + 1)) continue;
    return {.is_admitted = true, .report = is_new ? take_report(entry) : SiteReport()};
  }
}

void SiteTable::take_reports(const std::function<void(const SiteReport&)>& report) {
  for (Entry& entry : entries_) {
    if (entry.suppressed.load() == 0) continue;
    const SiteReport taken = take_report(entry);
    if (taken.suppressed > 0) report(taken);
  }
}

}  // namespace weir::telemetry::internal
