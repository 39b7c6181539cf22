#include <gtest/gtest.h>

#include <string>

#include <weir/storage/store.hpp>
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

}  // namespace
}  // namespace weir::storage
