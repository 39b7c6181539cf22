#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <weir/telemetry/otel/internal/sdk.hpp>

namespace weir::telemetry::otel {

/// Takes OTLP requests to where they go. One thread sends; any may shut down.
class Transport {
 public:
  virtual ~Transport() = default;

  /// False if the request was not accepted. Bounded in time.
  virtual bool send(const google::protobuf::Message& request) = 0;
  /// The same with a request that is encoded already, and is of the type of `form`. Where it is not
  /// sent as protobuf it is decoded first.
  virtual bool send_encoded(std::string_view request, const google::protobuf::Message& form);
  /// Gives a `send` that is under way so much time, then makes it return false.
  virtual void shut_down(std::chrono::milliseconds within) = 0;
};

/// Posts to the endpoint of the options; `path` completes the standard one.
std::unique_ptr<Transport> http_transport(const ExportOptions& options, const std::string& path);

/// Calls a method of the server that the options name. Throws `std::invalid_argument` if a header
/// is none that gRPC takes.
std::unique_ptr<Transport> grpc_transport(const ExportOptions& options, const std::string& method);

/// Appends lines of JSON. Throws `std::invalid_argument` if the file cannot be opened.
std::unique_ptr<Transport> file_transport(const ExportOptions& options);

}  // namespace weir::telemetry::otel
