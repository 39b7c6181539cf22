// Collectors that prove who they are, and want to know who sends.

#include <weir/telemetry/otel/exporters.hpp>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include <weir/tests/telemetry/otel/support/certificates.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

const Certificate& servers() {
  static const Certificate made("server");
  return made;
}
const Certificate& clients() {
  static const Certificate made("client");
  return made;
}
const Certificate& strangers() {
  static const Certificate made("stranger");
  return made;
}

/// Answers 200 to every request, one connection after the other, until it is destroyed.
class SecureReceiver {
 public:
  explicit SecureReceiver(bool asks_who = false) {
    context_.use_certificate_chain(asio::buffer(servers().text()));
    context_.use_private_key(asio::buffer(servers().key_text()), asio::ssl::context::pem);
    if (asks_who) {
      context_.add_certificate_authority(asio::buffer(clients().text()));
      context_.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~SecureReceiver() {
    ends_ = true;
    tcp::socket(io_).connect(acceptor_.local_endpoint());
    thread_.join();
  }
  SecureReceiver(const SecureReceiver&) = delete;
  SecureReceiver& operator=(const SecureReceiver&) = delete;

  std::string endpoint() const {
    return "https://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/v1/traces";
  }

 private:
  void serve() {
    while (!ends_) {
      asio::ssl::stream<tcp::socket> stream(acceptor_.accept(), context_);
      boost::system::error_code error;
      if (!ends_ && !stream.handshake(asio::ssl::stream_base::server, error)) answer(stream);
    }
  }
  static void answer(asio::ssl::stream<tcp::socket>& stream) {
    boost::system::error_code error;
    std::string request;
    const std::size_t head =
        asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n", error);
    const std::size_t length = request.find("Content-Length: ");
    if (error || length == std::string::npos) return;
    const std::size_t size = head + std::stoul(request.substr(length + 16));
    if (size > request.size()) {
      asio::read(stream, asio::dynamic_buffer(request),
                 asio::transfer_exactly(size - request.size()), error);
    }
    constexpr std::string_view accepted =
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    asio::write(stream, asio::buffer(accepted), error);
    stream.shutdown(error);
  }

  asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  asio::ssl::context context_{asio::ssl::context::tls_server};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TelemetryOptions options_for(const SecureReceiver& receiver) {
  TelemetryOptions options;
  options.traces = {.exporter = ExporterKind::otlp_http, .endpoint = receiver.endpoint()};
  return options;
}

bool is_accepted(const TelemetryOptions& options) {
  return make_exporters(options).spans->export_batch(std::array{plain_span()});
}

TEST(OtlpHttpTls, AcceptsACollectorOfTheGivenAuthority) {
  const SecureReceiver receiver;
  TelemetryOptions options = options_for(receiver);
  options.traces.certificate = servers().file();
  EXPECT_TRUE(is_accepted(options));
}

TEST(OtlpHttpTls, RefusesACollectorOfAnotherAuthority) {
  const SecureReceiver receiver;
  TelemetryOptions options = options_for(receiver);
  EXPECT_FALSE(is_accepted(options)) << "the system's authorities do not know it";
  options.traces.certificate = strangers().file();
  EXPECT_FALSE(is_accepted(options));
}

TEST(OtlpHttpTls, ProvesWhoItIsToACollectorThatAsks) {
  const SecureReceiver receiver(/*asks_who=*/true);
  TelemetryOptions options = options_for(receiver);
  options.traces.certificate = servers().file();
  EXPECT_FALSE(is_accepted(options)) << "it does not say who it is";
  options.traces.client_certificate = strangers().file();
  options.traces.client_key = strangers().key_file();
  EXPECT_FALSE(is_accepted(options)) << "it is somebody else";
  options.traces.client_certificate = clients().file();
  options.traces.client_key = clients().key_file();
  EXPECT_TRUE(is_accepted(options));
}

std::string refusal_of(const ExportOptions& traces) {
  TelemetryOptions options;
  options.traces = traces;
  try {
    static_cast<void>(make_exporters(options));
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(OtlpTls, AFileThatIsNoCertificateStopsTheStart) {
  const std::string empty = testing::TempDir() + "weir_no_certificate";
  std::ofstream(empty) << "none";
  for (const ExporterKind kind : {ExporterKind::otlp_http, ExporterKind::otlp_grpc}) {
    for (const std::string& path : {std::string("/no/such.pem"), empty, testing::TempDir()}) {
      const std::string message = " is '" + path + "'; expected a PEM file that can be read";
      EXPECT_EQ(refusal_of({.exporter = kind, .certificate = path}),
                "traces.certificate" + message);
      EXPECT_EQ(
          refusal_of(
              {.exporter = kind, .client_certificate = path, .client_key = clients().key_file()}),
          "traces.client_certificate" + message);
      EXPECT_EQ(refusal_of(
                    {.exporter = kind, .client_certificate = clients().file(), .client_key = path}),
                "traces.client_key" + message);
    }
  }
  EXPECT_EQ(refusal_of({.exporter = ExporterKind::console, .certificate = empty}), "accepted")
      << "nobody reads it";
  std::remove(empty.c_str());
}

TEST(OtlpTls, AClientsCertificateWithoutItsKeyStopsTheStart) {
  EXPECT_EQ(
      refusal_of({.exporter = ExporterKind::otlp_http, .client_certificate = clients().file()}),
      "traces.client_certificate is '" + clients().file() +
          "'; expected a PEM file that can be read, and traces.client_key beside it");
  EXPECT_EQ(refusal_of({.exporter = ExporterKind::otlp_grpc, .client_key = clients().key_file()}),
            "traces.client_key is '" + clients().key_file() +
                "'; expected a PEM file that can be read, and traces.client_certificate beside it");
}

}  // namespace
}  // namespace weir::telemetry::otel
