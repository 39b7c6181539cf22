#include <weir/storage/internal/store_metrics.hpp>

#include <utility>

#include <weir/storage/internal/store_core.hpp>
#include <weir/telemetry/meter.hpp>

namespace weir::storage::internal {
namespace {

using engine::Statistics;
using telemetry::Observer;

double as_double(const std::atomic<std::uint64_t>& count) {
  return static_cast<double>(count.load(std::memory_order_relaxed));
}

}  // namespace

std::vector<StoreMetrics::Row> StoreMetrics::rows() {
  const auto of = [](auto member) {
    return [member](const StoreCore&, const Statistics& statistics) {
      return static_cast<double>(statistics.*member);
    };
  };
  using enum Kind;
  return {
      {counter, "weir.storage.commits", "{commit}", "Commits accepted.",
       [](const StoreCore& core, const Statistics&) { return as_double(core.commits); }},
      {counter, "weir.storage.conflicts", "{commit}", "Commits refused since others were faster.",
       [](const StoreCore& core, const Statistics&) { return as_double(core.conflicts); }},
      {gauge, "weir.storage.version", "{version}", "The newest version.",
       [](const StoreCore& core, const Statistics&) { return double(core.newest().number); }},
      {up_down_counter, "weir.storage.pins", "{transaction}", "Open transactions.",
       [](const StoreCore& core, const Statistics&) { return double(core.pins.size()); }},
      {up_down_counter, "weir.storage.log.records", "{record}", "Change records kept.",
       [](const StoreCore& core, const Statistics&) {
         const auto first = core.first_logged.load(std::memory_order_relaxed);
         const auto newest = core.newest().number;
         return newest < first ? 0.0 : double(newest - first + 1);
       }},
      {counter, "weir.storage.write_ahead.written", "By", "Bytes given to the write-ahead log.",
       of(&Statistics::log_bytes)},
      {counter, "weir.storage.syncs", "{sync}", "Syncs of the write-ahead log.",
       of(&Statistics::syncs)},
      {up_down_counter, "weir.storage.memtable.size", "By", "Bytes not yet in sorted files.",
       of(&Statistics::memtable_bytes)},
      {up_down_counter, "weir.storage.cache.size", "By", "Bytes of blocks kept in memory.",
       of(&Statistics::cache_bytes)},
      {counter, "weir.storage.cache.hits", "{block}", "Blocks found in memory.",
       of(&Statistics::cache_hits)},
      {counter, "weir.storage.cache.misses", "{block}", "Blocks read from disk.",
       of(&Statistics::cache_misses)},
      {up_down_counter, "weir.storage.files.size", "By", "Bytes of sorted files.",
       of(&Statistics::file_bytes)},
      {up_down_counter, "weir.storage.compaction.pending", "By", "Bytes that wait to be merged.",
       of(&Statistics::pending_compaction_bytes)},
      {counter, "weir.storage.compactions", "{compaction}", "Merges of files.",
       of(&Statistics::compactions)},
      {counter, "weir.storage.stall.time", "s", "How long writers have waited for the disk.",
       [](const StoreCore&, const Statistics& statistics) {
         return static_cast<double>(statistics.stall_nanoseconds) / 1e9;
       }},
  };
}

StoreMetrics::StoreMetrics(const StoreCore& core, telemetry::Meter& meter) {
  for (Row& row : rows()) {
    auto report = [&core, figure = std::move(row.figure)](Observer& observer) {
      observer.report(figure(core, core.engine->statistics()));
    };
    const telemetry::InstrumentOptions options{.unit = row.unit, .description = row.description};
    switch (row.kind) {
      case Kind::counter:
        observations_.push_back(meter.observe_counter(row.name, options, std::move(report)));
        break;
      case Kind::up_down_counter:
        observations_.push_back(
            meter.observe_up_down_counter(row.name, options, std::move(report)));
        break;
      case Kind::gauge:
        observations_.push_back(meter.observe_gauge(row.name, options, std::move(report)));
        break;
    }
  }
}

}  // namespace weir::storage::internal
