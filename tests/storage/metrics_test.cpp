#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <weir/storage/internal/store_events.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/log_sinks.hpp>
#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

std::string page_of(telemetry::Telemetry& telemetry) {
  return telemetry::prometheus_page(telemetry.meter().collect({}),
                                    telemetry::PrometheusFormat::text);
}

TEST(StoreMetrics, TellWhatTheStoreDoesAndEndWithIt) {
  telemetry::Telemetry telemetry({}, {});
  {
    ActorSystem system({.threads = 1, .telemetry = &telemetry});
    {
      Store store = Store::open(system, {}).value();
      const auto rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
      auto loser = store.begin();
      (void)loser.get(rows, 1).blocking();
      loser.put(rows, 2, "two");
      ASSERT_TRUE(system.run(test::commit_rows(store, rows, {{1, "one"}})));
      ASSERT_FALSE(system.run(loser.commit()));
      const ReadTransaction reader = store.read();
      const std::string page = page_of(telemetry);
      const auto has = [&](const char* line) { return page.find(line) != std::string::npos; };
      EXPECT_TRUE(has("weir_storage_commits_total 2\n")) << page;
      EXPECT_TRUE(has("weir_storage_conflicts_total 1\n"));
      EXPECT_TRUE(has("weir_storage_version 2\n"));
      EXPECT_TRUE(has("weir_storage_pins 1\n"));
      EXPECT_TRUE(has("weir_storage_log_records 2\n"));
    }
    const std::string page = page_of(telemetry);
    EXPECT_EQ(page.find("weir_storage"), std::string::npos);
  }
}

TEST(StoreEvents, EachIsALineOfItsOwnLevel) {
  using Kind = engine::Event::Kind;
  std::vector<std::string> lines;
  telemetry::Logger logger({.level = telemetry::Level::debug,
                            .lines_per_second = 0,
                            .sinks = {[&](const telemetry::LogRecord& record) {
                              std::string line(to_string(record.level));
                              line += " " + std::string(record.message);
                              lines.push_back(std::move(line));
                            }},
                            .now = {},
                            .context = {}});
  internal::StoreEvents events(logger);
  for (const Kind kind :
       {Kind::flush, Kind::compaction, Kind::stall_begin, Kind::stall_end, Kind::failure}) {
    events.on_event({.kind = kind, .family = engine::Family::rows, .detail = "why"});
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"debug store flushed", "debug store merged files",
                                             "warning store waits for the disk",
                                             "info store goes on", "error store failed"}));
}

TEST(StoreEvents, OfAStoreInADirectoryAreInTheLogOfItsTelemetry) {
  std::mutex mutex;
  std::set<std::string> messages;
  telemetry::Telemetry telemetry({}, {}, {[&](const telemetry::LogRecord& record) {
                                   const std::scoped_lock lock(mutex);
                                   messages.insert(record.message);
                                 }});
  telemetry.logger().set_level(telemetry::Level::debug);
  const test::TemporaryDirectory directory;
  {
    ActorSystem system({.threads = 1, .telemetry = &telemetry});
    Store store = Store::open(system, {.directory = directory / "store"}).value();
    const auto rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
    ASSERT_TRUE(system.run(test::commit_rows(store, rows, {{1, "one"}})));
    ASSERT_TRUE(system.run(store.back_up(directory / "backup")));  // flushes
  }
  const std::scoped_lock lock(mutex);
  EXPECT_TRUE(messages.contains("store flushed"));
}

}  // namespace
}  // namespace weir::storage
