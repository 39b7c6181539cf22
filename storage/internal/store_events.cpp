#include <weir/storage/internal/store_events.hpp>

#include <cstdint>

#include <weir/telemetry/log.hpp>

namespace weir::storage::internal {

void StoreEvents::on_event(const engine::Event& event) {
  using Kind = engine::Event::Kind;
  const auto family = engine::to_string(event.family);
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  switch (event.kind) {
    case Kind::flush:
      logger_.debug("store flushed", {{"family", family}, {"bytes", number(event.bytes_written)}});
      break;
    case Kind::compaction:
      logger_.debug("store merged files", {{"family", family},
                                           {"bytes_read", number(event.bytes_read)},
                                           {"bytes_written", number(event.bytes_written)},
                                           {"nanoseconds", number(event.nanoseconds)}});
      break;
    case Kind::stall_begin:
      logger_.warning("store waits for the disk", {{"family", family}, {"why", event.detail}});
      break;
    case Kind::stall_end: logger_.info("store goes on", {{"family", family}}); break;
    case Kind::failure:
      logger_.error("store failed", {{"family", family}, {"why", event.detail}});
      break;
  }
}

}  // namespace weir::storage::internal
