// What engines that share a database tell of the present, in metrics.
#include <string>

#include <gtest/gtest.h>

#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;
using weir::testing::RecordedSpans;

/// A process of its own, as far as metrics are concerned.
struct Process {
  explicit Process(const Options& options)
      : engine(system.run(postgres::open(&system, options)).value()) {}

  /// Of executions in a state; -1 if it is not told.
  int executions(const std::string& state) {
    const std::string page = telemetry::prometheus_page(recorded.telemetry()->meter().collect({}),
                                                        telemetry::PrometheusFormat::text);
    const std::string name = "weir_workflow_executions{weir_state=\"" + state + "\"} ";
    const auto found = page.find(name);
    return found == std::string::npos ? -1 : std::stoi(page.substr(found + name.size()));
  }

  RecordedSpans recorded;
  ActorSystem system{ActorSystemOptions{.threads = 1, .telemetry = recorded.telemetry()}};
  Engine engine;
};

TEST_F(StoreTest, GaugesOfEnginesAddUpToWhatThereIs) {
  Options options = options_for(server());
  options.poll = 5ms;
  options.count_period = 1ms;
  Process first(options);
  Process second(options);
  for (int i = 0; i < 40; ++i) {
    // Each lane is in a partition of its own.
    const std::string lane = "lane" + std::to_string(i);
    run(first.engine.create_execution({.kind = "work", .lane = lane})).value();
    if (i % 4 > 0) continue;
    const Handle handle =
        run(second.engine.claim({.worker = "w", .lane = lane, .lease = 1h})).value().at(0).handle;
    if (i == 0) ASSERT_TRUE(run(second.engine.complete(handle)));
  }
  weir::testing::eventually("the gauges", [&] {
    return first.executions("waiting") + second.executions("waiting") == 30 &&
           first.executions("active") + second.executions("active") == 9 &&
           first.executions("waiting") > 0 && second.executions("waiting") > 0;
  });
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
