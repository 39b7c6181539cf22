#include <weir/storage/internal/store_core.hpp>

#include <cstdio>
#include <string>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {

std::uint64_t StoreCore::next_life() noexcept {
  static std::atomic<std::uint64_t> lives{0};
  return ++lives;
}

Duration StoreCore::epoch_at(const StoreOptions& options, TimePoint now) {
  const std::chrono::sys_time<Duration> opened =
      options.opened_at.value_or(std::chrono::system_clock::now());
  return opened.time_since_epoch() - now.time_since_epoch();
}

StoreCore::~StoreCore() {
  metrics.reset();
  // What was acknowledged is safe already, and there is nobody left to tell. A simulated disk
  // fails on purpose.
  if (auto closed = engine->close(); !closed && !options.disk) {
    std::fprintf(stderr, "weir: store: closing: %s\n", closed.error().message().c_str());
  }
}

Result<> StoreCore::check_log_reaches(Version version) const {
  const Version first{first_logged.load(std::memory_order_acquire)};
  if (version.next() >= first) return {};
  return Error(Errc::overtaken, "the change log begins at version " + to_string(first) +
                                    ", and version " + to_string(version.next()) + " is gone");
}

}  // namespace weir::storage::internal
