// A system of actors beside collectors that speak gRPC and do not do what they should, if at all.

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/logs/v1/logs_service.grpc.pb.h>
#include <opentelemetry/proto/collector/metrics/v1/metrics_service.grpc.pb.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/telemetry/otel/support/unread_telemetry.hpp>

namespace weir::telemetry::otel {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace logs = opentelemetry::proto::collector::logs::v1;
namespace metrics = opentelemetry::proto::collector::metrics::v1;
namespace trace = opentelemetry::proto::collector::trace::v1;
using asio::ip::tcp;

enum class Manner { refuse, hang };

/// Of one signal: takes nothing, or answers only when the caller has gone.
template <class Base, class Request, class Response>
class BadService final : public Base::Service {
 public:
  explicit BadService(Manner manner) : manner_(manner) {}
  grpc::Status Export(grpc::ServerContext* context, const Request*, Response*) override {
    while (manner_ == Manner::hang && !context->IsCancelled()) std::this_thread::yield();
    return {grpc::StatusCode::UNAVAILABLE, "as told"};
  }

 private:
  const Manner manner_;
};

class BadCollector {
 public:
  explicit BadCollector(Manner manner) : spans_(manner), metrics_(manner), logs_(manner) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&spans_);
    builder.RegisterService(&metrics_);
    builder.RegisterService(&logs_);
    server_ = builder.BuildAndStart();
  }
  ~BadCollector() { server_->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME)); }
  BadCollector(const BadCollector&) = delete;
  BadCollector& operator=(const BadCollector&) = delete;

  int port() const noexcept { return port_; }

 private:
  BadService<trace::TraceService, trace::ExportTraceServiceRequest,
             trace::ExportTraceServiceResponse>
      spans_;
  BadService<metrics::MetricsService, metrics::ExportMetricsServiceRequest,
             metrics::ExportMetricsServiceResponse>
      metrics_;
  BadService<logs::LogsService, logs::ExportLogsServiceRequest, logs::ExportLogsServiceResponse>
      logs_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// Closes every connection as soon as something has come.
class ClosingServer {
 public:
  ClosingServer() : thread_([this] { serve(); }) {}
  ~ClosingServer() {
    ends_ = true;
    tcp::socket(io_).connect(acceptor_.local_endpoint());
    thread_.join();
  }
  ClosingServer(const ClosingServer&) = delete;
  ClosingServer& operator=(const ClosingServer&) = delete;

  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  void serve() {
    while (!ends_) {
      tcp::socket socket = acceptor_.accept();
      char something[16];
      boost::system::error_code error;
      if (!ends_) socket.read_some(asio::buffer(something), error);
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

struct Visit {
  using Reply = int;
};

class Shop final : public Actor<Visit> {
 public:
  explicit Shop(Logger* logger) : logger_(logger) {}
  int on(Visit) {
    logger_->info("visited");
    return 7;
  }

 private:
  Logger* logger_;
};

Task<int> visit_often(RefOf<Shop> shop) {
  int sum = 0;
  for (int i = 0; i < 200; ++i) sum += *co_await shop.ask<Visit>();
  co_return sum;
}

TelemetryOptions options_for(int port) {
  TelemetryOptions options;
  // The timeout is longer than a test may take: nothing must wait for it.
  options.traces = {.exporter = ExporterKind::otlp_grpc,
                    .endpoint = "http://127.0.0.1:" + std::to_string(port),
                    .timeout = 1h};
  options.metrics = options.logs = options.traces;
  UnreadTelemetry::prepare(options);
  return options;
}

void expect_a_system_to_work_beside(int port) {
  const TelemetryOptions options = options_for(port);
  Telemetry telemetry(options, make_exporters(options));
  UnreadTelemetry unread(telemetry);
  ActorSystem system({.threads = 2, .stop_timeout = 100ms, .telemetry = &telemetry});
  auto shop = system.spawn<Shop>(&telemetry.logger());
  EXPECT_EQ(system.run(visit_often(shop)), 1400);
  unread.tell();
  EXPECT_TRUE(system.stop().is_clean());
  telemetry.shut_down(1ms);
  unread.expect_none_was_taken();
}

TEST(GrpcTracedSystem, WorksOnBesideAPortThatIsClosed) {
  asio::io_context io;
  tcp::acceptor closed(io, tcp::v4());  // bound, so that nobody else listens there either
  closed.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  expect_a_system_to_work_beside(closed.local_endpoint().port());
}

TEST(GrpcTracedSystem, WorksOnBesideACollectorThatRefuses) {
  const BadCollector collector(Manner::refuse);
  expect_a_system_to_work_beside(collector.port());
}

TEST(GrpcTracedSystem, WorksOnBesideACollectorThatHangs) {
  const BadCollector collector(Manner::hang);
  expect_a_system_to_work_beside(collector.port());
}

TEST(GrpcTracedSystem, WorksOnBesideAServerThatClosesItsConnections) {
  const ClosingServer server;
  expect_a_system_to_work_beside(server.port());
}

}  // namespace
}  // namespace weir::telemetry::otel
