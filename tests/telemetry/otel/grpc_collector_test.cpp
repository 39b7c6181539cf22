// Collectors that speak gRPC and do not do what they should, or prove who they are.

#include <weir/telemetry/otel/exporters.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h>
#include <unistd.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/telemetry/otel/support/certificates.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

using namespace std::chrono_literals;
namespace trace = opentelemetry::proto::collector::trace::v1;

/// Takes spans, or waits until the caller has gone.
class Service final : public trace::TraceService::Service {
 public:
  grpc::Status Export(grpc::ServerContext* context, const trace::ExportTraceServiceRequest*,
                      trace::ExportTraceServiceResponse*) override {
    std::unique_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    while (hangs_ && !context->IsCancelled()) changed_.wait_for(lock, 1ms);
    return status_;
  }

  void hang() {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  void answer(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    hangs_ = false;
    status_ = std::move(status);
    changed_.notify_all();
  }
  void wait_for_calls(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  int calls_ = 0;
  grpc::Status status_ = grpc::Status::OK;
};

/// A collector at some address; `port` tells which, if the address leaves it open.
class Collector {
 public:
  explicit Collector(
      const std::string& address = "127.0.0.1:0",
      const std::shared_ptr<grpc::ServerCredentials>& how = grpc::InsecureServerCredentials()) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, how, &port_);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }
  ~Collector() { stop(); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void stop() {
    service.answer(grpc::Status::OK);
    server_->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME));
  }
  /// Closes connections, with calls that are under way.
  void break_off() { server_->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME)); }
  std::string bare() const { return "127.0.0.1:" + std::to_string(port_); }

  Service service;

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

std::string socket_path() {
  return std::filesystem::temp_directory_path() / ("weir_otlp_" + std::to_string(::getpid()));
}

TelemetryOptions options_for(const std::string& endpoint) {
  TelemetryOptions options;
  // Longer than a test may take: nothing must need it.
  options.traces = {.exporter = ExporterKind::otlp_grpc, .endpoint = endpoint, .timeout = 1h};
  return options;
}

bool is_accepted(const TelemetryOptions& options) {
  return make_exporters(options).spans->export_batch(std::array{plain_span()});
}

TEST(HangingGrpcCollector, IsGivenUpWhenTheExporterShutsDown) {
  Collector collector;
  collector.service.hang();
  auto exporters = make_exporters(options_for(collector.bare()));
  auto outcome = std::async(std::launch::async,
                            [&] { return exporters.spans->export_batch(std::array{rich_span()}); });
  collector.service.wait_for_calls(1);
  exporters.spans->shut_down(50ms);
  EXPECT_FALSE(outcome.get());
  EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()})) << "it is over";
}

TEST(HangingGrpcCollector, IsGivenTheTimeOfTheShutdown) {
  Collector collector;
  collector.service.hang();
  auto exporters = make_exporters(options_for(collector.bare()));
  auto outcome = std::async(std::launch::async,
                            [&] { return exporters.spans->export_batch(std::array{rich_span()}); });
  collector.service.wait_for_calls(1);
  auto shutdown = std::async(std::launch::async, [&] { exporters.spans->shut_down(1h); });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // most likely it waits by then
  collector.service.answer(grpc::Status::OK);
  EXPECT_TRUE(outcome.get());
}

TEST(BadGrpcCollector, MakesABatchFailAndIsUsedAgain) {
  Collector collector;
  auto exporters = make_exporters(options_for(collector.bare()));
  const auto before = complaints();
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::RESOURCE_EXHAUSTED,
                          grpc::StatusCode::INTERNAL, grpc::StatusCode::UNAUTHENTICATED}) {
    collector.service.answer(grpc::Status(code, ""));
    EXPECT_FALSE(exporters.spans->export_batch(std::array{rich_span()}));
  }
  EXPECT_EQ(complaints(), before + 4);
  collector.service.answer(grpc::Status::OK);
  EXPECT_TRUE(exporters.spans->export_batch(std::array{rich_span()}));
}

TEST(BadGrpcCollector, ThatGoesInTheMiddleOfACallMakesItFail) {
  Collector collector;
  collector.service.hang();
  auto exporters = make_exporters(options_for(collector.bare()));
  auto outcome = std::async(std::launch::async,
                            [&] { return exporters.spans->export_batch(std::array{rich_span()}); });
  collector.service.wait_for_calls(1);
  collector.break_off();
  EXPECT_FALSE(outcome.get());
}

TEST(BadGrpcCollector, ThatWasAwayIsUsedAgain) {
  // Nobody else comes there meanwhile, as might to a port.
  const std::string address = "unix:" + socket_path();
  auto collector = std::make_unique<Collector>(address);
  auto exporters = make_exporters(options_for(address));
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
  collector.reset();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()}));
  }
  collector = std::make_unique<Collector>(address);
  while (!exporters.spans->export_batch(std::array{plain_span()})) {
  }
}

struct Knock {};
class Door final : public Actor<Knock> {
 public:
  void on(Knock) {}
};

// Only the deadline of the stop can end it.
TEST(HangingGrpcCollector, DoesNotKeepASystemFromStopping) {
  Collector collector;
  collector.service.hang();
  TelemetryOptions options = options_for(collector.bare());
  options.span_batches.delay = 1ms;
  Telemetry telemetry(options, make_exporters(options));
  ActorSystem system({.threads = 1, .telemetry = &telemetry});
  system.spawn<Door>().send<Knock>();
  collector.service.wait_for_calls(1);
  EXPECT_TRUE(system.stop({.timeout = 100ms}).is_clean());
  telemetry.shut_down(1ms);
  EXPECT_EQ(telemetry.span_counts().exported, 0u);
  EXPECT_GT(telemetry.span_counts().failed, 0u);
}

TEST(GrpcEndpoint, MayBeAUrlANameOrAPath) {
  const std::string path = socket_path();
  const Collector local("unix:" + path);
  const Collector collector;
  for (const std::string& endpoint :
       {collector.bare(), "http://" + collector.bare(), "HTTP://" + collector.bare() + "/",
        "dns:///" + collector.bare(), "unix:" + path, "unix://" + path}) {
    EXPECT_TRUE(is_accepted(options_for(endpoint))) << endpoint;
  }
}

std::shared_ptr<grpc::ServerCredentials> proving(const Certificate& server,
                                                 const Certificate* client = nullptr) {
  grpc::SslServerCredentialsOptions options(
      client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  options.pem_key_cert_pairs.push_back({server.key_text(), server.text()});
  if (client) options.pem_root_certs = client->text();
  return grpc::SslServerCredentials(options);
}

TEST(OtlpGrpcTls, AcceptsACollectorOfTheGivenAuthorityAndNoOther) {
  const Certificate server("grpc_server");
  const Certificate stranger("grpc_stranger");
  const Collector collector("127.0.0.1:0", proving(server));
  for (const std::string& endpoint : {"https://" + collector.bare(), collector.bare()}) {
    TelemetryOptions options = options_for(endpoint);
    options.traces.certificate = stranger.file();
    EXPECT_FALSE(is_accepted(options)) << endpoint;
    options.traces.certificate = server.file();
    EXPECT_TRUE(is_accepted(options)) << endpoint;
  }
  EXPECT_FALSE(is_accepted(options_for("https://" + collector.bare())))
      << "the system's authorities do not know it";
}

TEST(OtlpGrpcTls, ProvesWhoItIsToACollectorThatAsks) {
  const Certificate server("grpc_asking");
  const Certificate client("grpc_client");
  const Collector collector("127.0.0.1:0", proving(server, &client));
  TelemetryOptions options = options_for("https://" + collector.bare());
  options.traces.certificate = server.file();
  EXPECT_FALSE(is_accepted(options));
  options.traces.client_certificate = client.file();
  options.traces.client_key = client.key_file();
  EXPECT_TRUE(is_accepted(options));
}

}  // namespace
}  // namespace weir::telemetry::otel
