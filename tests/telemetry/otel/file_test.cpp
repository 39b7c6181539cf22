#include <weir/telemetry/otel/exporters.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/tests/telemetry/otel/support/otlp_decode.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

namespace collector = opentelemetry::proto::collector;
using namespace std::chrono_literals;

class OtlpFile : public testing::Test {
 protected:
  ~OtlpFile() override { std::remove(path_.c_str()); }

  TelemetryOptions options() const {
    TelemetryOptions options;
    for (ExportOptions* signal : {&options.traces, &options.metrics, &options.logs}) {
      signal->exporter = ExporterKind::otlp_file;
      signal->file = path_;
    }
    return options;
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path_ = testing::TempDir() + "weir_otlp_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
};

// Protobuf's own reader takes OTLP's JSON too, but for ids, which it would read as base64.
template <class Request>
std::string bytes_without_ids(std::string line) {
  for (const std::string id : {"traceId", "spanId", "parentSpanId"}) {
    const std::string key = "\"" + id + "\":\"";
    for (auto at = line.find(key); at != std::string::npos; at = line.find(key, at)) {
      at += key.size();
      line.erase(at, line.find('"', at) - at);
    }
  }
  Request request;
  const auto status = google::protobuf::util::JsonStringToMessage(line, &request);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << line;
  return request.SerializeAsString();
}

TEST_F(OtlpFile, GetsOneLinePerBatch) {
  auto exporters = make_exporters(options());
  ASSERT_TRUE(exporters.spans->export_batch(std::array{rich_span(), plain_span()}));
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(OtlpFile, IsAppendedTo) {
  for (int i = 0; i < 3; ++i) {
    auto exporters = make_exporters(options());
    ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  }
  EXPECT_EQ(lines().size(), 3u);
}

TEST_F(OtlpFile, HoldsSpansAsOtlpJson) {
  auto exporters = make_exporters(options());
  const std::array sent{rich_span(), plain_span()};
  ASSERT_TRUE(exporters.spans->export_batch(sent));

  const auto written = lines();
  ASSERT_EQ(written.size(), 1u);
  for (const char* id :
       {R"("traceId":"0102030405060708090a0b0c0d0e0f10")", R"("spanId":"4142434445464748")",
        R"("parentSpanId":"0908070605040302")", R"("spanId":"c0c1c2c3c4c5c6c7")"}) {
    EXPECT_NE(written[0].find(id), std::string::npos) << id << "\n" << written[0];
  }
  const auto spans =
      decode_spans(bytes_without_ids<collector::trace::v1::ExportTraceServiceRequest>(written[0]));
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].span.name, sent[0].name);
  EXPECT_EQ(spans[0].span.begin, sent[0].begin);
  EXPECT_EQ(spans[0].span.end, sent[0].end);
  EXPECT_EQ(spans[0].span.attributes, sent[0].attributes);
  EXPECT_EQ(spans[0].span.events.size(), 2u);
  EXPECT_EQ(spans[0].span.links.size(), 1u);
  EXPECT_EQ(spans[0].span.dropped_links, 5u);
  EXPECT_EQ(spans[1].span.name, "plain");
}

TEST_F(OtlpFile, HoldsMetricsAndLogsAsOtlpJson) {
  auto exporters = make_exporters(options());
  ASSERT_TRUE(exporters.metrics->export_batch(
      std::array{metric("weir.wait", {{{}, HistogramPoint{{1}, {2, 3}, 5, 6.5, 0.5, 2}}})}));
  ASSERT_TRUE(exporters.logs->export_batch(std::array{rich_log()}));

  const auto written = lines();
  ASSERT_EQ(written.size(), 2u);
  const auto metrics = decode_metrics(
      bytes_without_ids<collector::metrics::v1::ExportMetricsServiceRequest>(written[0]));
  ASSERT_EQ(metrics.size(), 1u);
  const auto& histogram = std::get<HistogramPoint>(metrics[0].metric.points.at(0).value);
  EXPECT_EQ(histogram.buckets, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(histogram.sum, 6.5);
  const auto logs =
      decode_logs(bytes_without_ids<collector::logs::v1::ExportLogsServiceRequest>(written[1]));
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].log.message, "the account is low");
  EXPECT_EQ(logs[0].log.level, Level::warning);
}

TEST_F(OtlpFile, ThatCannotBeOpenedStopsTheStart) {
  TelemetryOptions options;
  options.logs.exporter = ExporterKind::otlp_file;
  options.logs.file = testing::TempDir() + "no/such/folder/file";
  try {
    (void)make_exporters(options);
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(options.logs.file), std::string::npos) << error.what();
  }
}

TEST_F(OtlpFile, ThatIsFullMakesABatchFail) {
  TelemetryOptions options;
  options.traces.exporter = ExporterKind::otlp_file;
  options.traces.file = "/dev/full";
  auto exporters = make_exporters(options);
  EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()}));
}

/// No file can grow beyond so many bytes while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(::rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const ::rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  ::rlimit before_{};
};

TEST_F(OtlpFile, GetsALineOfItsOwnAfterOneThatWasCutShort) {
  auto exporters = make_exporters(options());
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  const std::size_t length = lines().at(0).size();
  {
    const FileSizeLimit limit(length + 100);
    EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()}));
  }
  EXPECT_TRUE(exporters.logs->export_batch(std::array{rich_log()})) << "it goes to the same file";
  EXPECT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  const auto written = lines();
  ASSERT_EQ(written.size(), 4u);
  EXPECT_EQ(written[1].size(), 99u);
  EXPECT_TRUE(written[2].starts_with("{\"resourceLogs") && written[2].ends_with("}"));
  EXPECT_EQ(written[3].size(), length);
}

TEST_F(OtlpFile, IsStandardOutputForADash) {
  TelemetryOptions options;
  options.traces.exporter = ExporterKind::otlp_file;
  options.traces.file = "-";
  testing::internal::CaptureStdout();
  {
    auto exporters = make_exporters(options);
    EXPECT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
  }
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find(R"("name":"Account Deposit")"), std::string::npos) << printed;
}

/// A pipe that a test may read, or not.
class OtlpPipe : public OtlpFile {
 protected:
  OtlpPipe() {
    std::remove(path_.c_str());  // of a run that was killed
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }

  int open_reader() const { return ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); }
  void fill() const {
    const int writer = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const std::string much(4096, ' ');
    while (::write(writer, much.data(), much.size()) > 0) {
    }
    ::close(writer);
  }
};

TEST_F(OtlpPipe, ThatNobodyReadsIsGivenUpAtTheShutdown) {
  const int reader = open_reader();
  fill();
  auto exporters = make_exporters(options());
  const auto export_plain = [&] { return exporters.spans->export_batch(std::array{plain_span()}); };
  const auto export_log = [&] { return exporters.logs->export_batch(std::array{rich_log()}); };
  auto first = std::async(std::launch::async, export_plain);
  auto second = std::async(std::launch::async, export_log);
  exporters.logs->shut_down(1ms);
  EXPECT_FALSE(second.get()) << "whether it was its turn or not";
  exporters.spans->shut_down(1ms);
  EXPECT_FALSE(first.get());
  EXPECT_FALSE(export_plain()) << "it is over";
  ::close(reader);
}

TEST_F(OtlpPipe, GetsWholeLinesHoweverLongTheyAre) {
  const int reader = open_reader();
  auto exporters = make_exporters(options());
  const std::vector<SpanRecord> many(500, rich_span());
  auto spans = std::async(std::launch::async, [&] { return exporters.spans->export_batch(many); });
  const std::vector<LogRecord> logged(500, rich_log());
  auto logs = std::async(std::launch::async, [&] { return exporters.logs->export_batch(logged); });
  std::string read;
  while (std::ranges::count(read, '\n') < 2) {
    std::array<char, 4096> piece{};
    ::pollfd event{reader, POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, 60'000), 1);
    const ::ssize_t got = ::read(reader, piece.data(), piece.size());
    if (got > 0) read.append(piece.data(), static_cast<std::size_t>(got));
  }
  EXPECT_TRUE(spans.get() && logs.get());
  const std::size_t end = read.find('\n');
  for (const std::string& line : {read.substr(0, end), read.substr(end + 1)}) {
    EXPECT_TRUE(line.starts_with("{\"resource")) << line.substr(0, 100);
    for (const char* other : {"{\"resourceSpans", "{\"resourceLogs"}) {
      EXPECT_EQ(line.find(other, 1), std::string::npos) << other;
    }
  }
  ::close(reader);
}

TEST_F(OtlpPipe, ThatNobodyReadsDoesNotHoldUpAnother) {
  const std::string other_path = path_ + ".other";
  std::remove(other_path.c_str());
  ASSERT_EQ(::mkfifo(other_path.c_str(), 0600), 0);
  const int reader = open_reader();
  const int other_reader = ::open(other_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  TelemetryOptions options = this->options();
  options.logs.file = other_path;
  auto exporters = make_exporters(options);
  const std::vector<SpanRecord> many(500, rich_span());
  auto spans = std::async(std::launch::async, [&] { return exporters.spans->export_batch(many); });
  ::pollfd event{reader, POLLIN, 0};
  ASSERT_EQ(::poll(&event, 1, 60'000), 1) << "the first piece is written";
  EXPECT_TRUE(exporters.logs->export_batch(std::array{rich_log()}));
  exporters.spans->shut_down(1ms);
  EXPECT_FALSE(spans.get());
  ::close(reader);
  ::close(other_reader);
  std::remove(other_path.c_str());
}

TEST_F(OtlpPipe, WhoseReaderGoesMakesABatchFailAndIsUsedAgain) {
  int reader = open_reader();
  auto exporters = make_exporters(options());
  ::close(reader);
  EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()}));
  ::sigset_t signals{};
  ASSERT_EQ(::sigpending(&signals), 0);
  EXPECT_EQ(::sigismember(&signals, SIGPIPE), 0) << "it would arrive later";
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &signals), 0);
  EXPECT_EQ(::sigismember(&signals, SIGPIPE), 0) << "it stays blocked";
  reader = open_reader();
  EXPECT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  ::close(reader);
}

TEST_F(OtlpPipe, WithoutAReaderStopsTheStart) {
  EXPECT_THROW(static_cast<void>(make_exporters(options())), std::invalid_argument);
}

TEST(Console, PrintsEachSignal) {
  TelemetryOptions options;
  for (ExportOptions* signal : {&options.traces, &options.metrics, &options.logs}) {
    signal->exporter = ExporterKind::console;
  }
  testing::internal::CaptureStdout();
  auto exporters = make_exporters(options);
  EXPECT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
  EXPECT_TRUE(exporters.metrics->export_batch(std::array{
      metric("weir.one", {{{}, SumPoint{7}}}), metric("weir.two", {{{}, GaugePoint{0.625}}})}));
  EXPECT_TRUE(exporters.logs->export_batch(std::array{rich_log()}));
  const std::string printed = testing::internal::GetCapturedStdout();
  for (const char* text :
       {"Account Deposit", "insufficient funds", "weir.one", "0.625", "account is low"}) {
    EXPECT_NE(printed.find(text), std::string::npos) << text << "\n" << printed;
  }
}

TEST(Console, TakesAGaugeForOneThatHasAValue) {
  TelemetryOptions options;
  options.metrics.exporter = ExporterKind::console;
  testing::internal::CaptureStdout();
  auto exporters = make_exporters(options);
  EXPECT_TRUE(exporters.metrics->export_batch(std::array{metric("m", {{{}, GaugePoint{0.625}}})}));
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("valid     : true"), std::string::npos) << printed;
}

[[noreturn]] void print_to_nobody() {
  std::array<int, 2> ends{};
  const bool is_pipe = ::pipe(ends.data()) == 0 && ::dup2(ends[1], STDOUT_FILENO) >= 0;
  ::close(ends[0]);
  TelemetryOptions options;
  options.traces.exporter = ExporterKind::console;
  auto exporters = make_exporters(options);
  (void)exporters.spans->export_batch(std::vector<SpanRecord>(500, rich_span()));
  exporters.spans->shut_down(1ms);
  std::_Exit(is_pipe ? 7 : 1);
}

TEST(ConsoleDeathTest, ThatNobodyReadsAnyMoreDoesNotEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(print_to_nobody(), testing::ExitedWithCode(7), "");
}

// The library's record of a log line refers to texts that it was given, until it is printed.
TEST(Console, PrintsTextsThatHadToBeRepaired) {
  TelemetryOptions options;
  options.logs.exporter = ExporterKind::console;
  testing::internal::CaptureStdout();
  auto exporters = make_exporters(options);
  LogRecord log = rich_log();
  log.message = "a message that is long and was not UTF-8: \xFF";
  log.attributes = {{"attribute", "a text that is long and was not UTF-8: \xFF"}};
  EXPECT_TRUE(exporters.logs->export_batch(std::array{log, log}));
  const std::string printed = testing::internal::GetCapturedStdout();
  for (const char* text : {"a message that is long and was not UTF-8: \uFFFD",
                           "a text that is long and was not UTF-8: \uFFFD", "bank/account.cpp"}) {
    EXPECT_NE(printed.find(text), std::string::npos) << text << "\n" << printed;
  }
}

}  // namespace
}  // namespace weir::telemetry::otel
