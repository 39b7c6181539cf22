#include <weir/telemetry/otel/exporters.hpp>

#include <array>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <weir/tests/telemetry/otel/support/otlp_receiver.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

using namespace std::chrono_literals;

std::string name_of(const testing::TestParamInfo<Manner>& info) {
  switch (info.param) {
    case Manner::accept:
    case Manner::accept_202: return "Accepts";
    case Manner::refuse: return "Refuses";
    case Manner::answer_302: return "Answers302";
    case Manner::answer_503: return "Answers503";
    case Manner::wait: return "Waits";
    case Manner::hang: return "Hangs";
    case Manner::close_request: return "ClosesInTheRequest";
    case Manner::close_response: return "ClosesInTheResponse";
  }
  return "";
}

class BadCollector : public testing::TestWithParam<Manner> {
 protected:
  TelemetryOptions options() const {
    auto options = collector_.options();
    options.traces.timeout = options.metrics.timeout = options.logs.timeout = 200ms;
    return options;
  }

  OtlpReceiver collector_{GetParam()};
};

TEST_P(BadCollector, MakesEveryBatchFail) {
  auto exporters = make_exporters(options());
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
    EXPECT_FALSE(exporters.metrics->export_batch(std::array{metric("m", {{{}, SumPoint{1}}})}));
    EXPECT_FALSE(exporters.logs->export_batch(std::array{rich_log()}));
  }
  exporters.spans->shut_down(100ms);
  exporters.metrics->shut_down(100ms);
  exporters.logs->shut_down(100ms);
}

TEST_P(BadCollector, IsComplainedAbout) {
  const auto before = complaints();
  auto exporters = make_exporters(options());
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_GT(complaints(), before);
}

TEST_P(BadCollector, DoesNotKeepAnExporterFromBeingDestroyed) {
  auto exporters = make_exporters(options());
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
}

TEST_P(BadCollector, IsUsedAgainWhenItHasRecovered) {
  auto exporters = make_exporters(options());
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  collector_.behave(Manner::accept);
  while (!exporters.spans->export_batch(std::array{rich_span()})) {
  }
  EXPECT_GE(collector_.wait_for_spans(1).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, BadCollector,
                         testing::Values(Manner::refuse, Manner::answer_302, Manner::answer_503,
                                         Manner::hang, Manner::close_request,
                                         Manner::close_response),
                         name_of);

// Its timeout is longer than a test may take: only the shutdown can end the call.
TEST(HangingCollector, IsGivenUpWhenTheExporterShutsDown) {
  OtlpReceiver collector(Manner::hang);
  auto options = collector.options();
  options.traces.timeout = 1h;
  auto exporters = make_exporters(options);
  auto outcome = std::async(std::launch::async,
                            [&] { return exporters.spans->export_batch(std::array{rich_span()}); });
  ASSERT_TRUE(collector.wait_for_requests(1));
  exporters.spans->shut_down(50ms);
  EXPECT_FALSE(outcome.get());
}

TEST(SlowCollector, IsGivenTheTimeOfTheShutdown) {
  OtlpReceiver collector(Manner::wait);
  auto exporters = make_exporters(collector.options());
  auto outcome = std::async(std::launch::async,
                            [&] { return exporters.spans->export_batch(std::array{rich_span()}); });
  ASSERT_TRUE(collector.wait_for_requests(1));
  std::promise<void> begins;
  auto shutdown = std::async(std::launch::async, [&] {
    begins.set_value();
    exporters.spans->shut_down(1h);
  });
  begins.get_future().wait();
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // most likely it waits by then
  collector.behave(Manner::accept);
  EXPECT_TRUE(outcome.get());
}

TEST(Exporters, RefuseWhatComesAfterTheShutdown) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  exporters.spans->shut_down(100ms);
  exporters.spans->shut_down(100ms);
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
}

}  // namespace
}  // namespace weir::telemetry::otel
