#include <weir/telemetry/otel/internal/transport.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <weir/telemetry/otel/internal/diagnostics.hpp>
#include <weir/telemetry/otel/internal/pem.hpp>

namespace weir::telemetry::otel {
namespace {

constexpr std::string_view standard_port = ":4317";
constexpr int reconnect_pause_ms_max = 2'000;

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, lower, lower);
}

struct Target {
  std::string name;
  bool is_secure;
};

// Of a URL, host and port are what gRPC is told. Anything else is its own way to name a server, and
// secure if there is something to be secure with.
Target target_of(const ExportOptions& options) {
  const std::string_view endpoint = options.endpoint;
  if (endpoint.empty()) return {"localhost" + std::string(standard_port), false};
  const bool is_secure = starts_with(endpoint, "https://");
  if (!is_secure && !starts_with(endpoint, "http://")) {
    return {options.endpoint, !options.certificate.empty() || !options.client_certificate.empty()};
  }
  std::string_view rest = endpoint.substr(endpoint.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t host_end = rest.starts_with('[') ? rest.find(']') : 0;
  const bool has_port = rest.find(':', host_end) != std::string_view::npos;
  return {std::string(rest).append(has_port ? "" : standard_port), is_secure};
}

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const ExportOptions& options,
                                                         bool is_secure) {
  if (!is_secure) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = read_pem(options.certificate),
                               .pem_private_key = read_pem(options.client_key),
                               .pem_cert_chain = read_pem(options.client_certificate)});
}

std::shared_ptr<grpc::Channel> channel_of(const ExportOptions& options) {
  const Target target = target_of(options);
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("weir/" WEIR_VERSION);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Until it tries again, gRPC fails every call. Its own pauses grow to two minutes, in which batch
  // after batch would be lost to a collector that is back.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, reconnect_pause_ms_max);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, reconnect_pause_ms_max);
  return grpc::CreateCustomChannel(target.name, credentials_of(options, target.is_secure),
                                   arguments);
}

using Headers = std::vector<std::pair<std::string, std::string>>;

bool is_taken_by_grpc(const std::string& name, const std::string& value) noexcept {
  const auto slice = [](const std::string& text) {
    return grpc_slice_from_static_buffer(text.data(), text.size());
  };
  return grpc_header_key_is_legal(slice(name)) != 0 &&
         grpc_header_nonbin_value_is_legal(slice(value)) != 0;
}

// gRPC demands lower case, and ends the process at a header that it does not take.
Headers headers_of(const ExportOptions& options) {
  Headers headers = options.headers;
  for (auto& [name, value] : headers) {
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (is_taken_by_grpc(name, value)) continue;
    throw std::invalid_argument("telemetry: gRPC does not take the header '" + name + "=...'");
  }
  return headers;
}

// The method is called by its name, so that what is encoded already need not be decoded for it; and
// on a queue, so that a call can be cancelled while a thread waits for it.
class GrpcTransport final : public Transport {
 public:
  GrpcTransport(const ExportOptions& options, std::string method)
      : endpoint_(options.endpoint.empty() ? "localhost" : options.endpoint),
        method_(std::move(method)),
        timeout_(options.timeout),
        uses_gzip_(options.uses_gzip),
        headers_(headers_of(options)),
        stub_(channel_of(options)) {}
  GrpcTransport(const GrpcTransport&) = delete;
  GrpcTransport& operator=(const GrpcTransport&) = delete;
  ~GrpcTransport() override {
    queue_.Shutdown();
    void* tag = nullptr;
    bool is_ok = false;
    while (queue_.Next(&tag, &is_ok)) {
    }
  }

  bool send(const google::protobuf::Message& request) override {
    return send_encoded(request.SerializeAsString(), request);
  }

  bool send_encoded(std::string_view request, const google::protobuf::Message&) override {
    grpc::ClientContext context;
    prepare(context);
    if (!begin(context)) return false;
    const grpc::Status status = call(context, request);
    end();
    if (status.ok()) return true;
    complain(endpoint_ + ": " + reason(status));
    return false;
  }

  void shut_down(std::chrono::milliseconds within) override {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    idle_.wait_for(lock, within, [this] { return active_ == nullptr; });
    if (active_) active_->TryCancel();
  }

 private:
  void prepare(grpc::ClientContext& context) const {
    context.set_deadline(std::chrono::system_clock::now() + timeout_);
    if (uses_gzip_) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    for (const auto& [name, value] : headers_) context.AddMetadata(name, value);
  }

  grpc::Status call(grpc::ClientContext& context, std::string_view request) {
    const grpc::Slice slice(request.data(), request.size());
    const grpc::ByteBuffer buffer(&slice, 1);
    const auto reader = stub_.PrepareUnaryCall(&context, method_, buffer, &queue_);
    grpc::ByteBuffer answer;
    grpc::Status status;
    reader->StartCall();
    reader->Finish(&answer, &status, this);
    void* tag = nullptr;
    bool is_ok = false;
    queue_.Next(&tag, &is_ok);
    return status;
  }

  static std::string reason(const grpc::Status& status) {
    if (status.error_code() == grpc::StatusCode::CANCELLED) return "no answer before the shutdown";
    if (status.error_message().empty()) {
      return "answered status " + std::to_string(status.error_code());
    }
    return status.error_message();
  }

  bool begin(grpc::ClientContext& context) {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) active_ = &context;
    return !is_closed_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    active_ = nullptr;
    idle_.notify_all();
  }

  const std::string endpoint_;
  const std::string method_;
  const std::chrono::milliseconds timeout_;
  const bool uses_gzip_;
  const Headers headers_;

  // Of the thread that sends.
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable idle_;
  grpc::ClientContext* active_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<Transport> grpc_transport(const ExportOptions& options, const std::string& method) {
  return std::make_unique<GrpcTransport>(options, method);
}

}  // namespace weir::telemetry::otel
