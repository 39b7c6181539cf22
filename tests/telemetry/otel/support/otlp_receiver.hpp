#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <weir/telemetry/options.hpp>
#include <weir/tests/telemetry/otel/support/otlp_decode.hpp>

namespace weir::telemetry::otel {

/// What a collector does with a request.
enum class Manner {
  accept,
  accept_202,
  refuse,  // does not listen; possible only until it has listened
  answer_302,
  answer_503,
  wait,            // takes the request and accepts it when told to behave otherwise
  hang,            // takes the request and never answers
  close_request,   // closes the connection before it has read the body
  close_response,  // closes the connection in the middle of its own body
};

/// A collector on this machine: takes OTLP over HTTP on a free port, on a thread of its own, until
/// it is destroyed. All functions may be called by any thread.
class OtlpReceiver {
 public:
  explicit OtlpReceiver(Manner manner = Manner::accept);
  ~OtlpReceiver();
  OtlpReceiver(const OtlpReceiver&) = delete;
  OtlpReceiver& operator=(const OtlpReceiver&) = delete;

  /// From the next request on.
  void behave(Manner manner);

  /// `http://127.0.0.1:<port>` and the path.
  std::string endpoint(const std::string& path) const;
  /// Sends all three signals here.
  TelemetryOptions options() const;

  /// Everything accepted so far, as soon as it is at least `count`; less after a minute.
  std::vector<ReceivedSpan> wait_for_spans(std::size_t count) const;
  std::vector<ReceivedMetric> wait_for_metrics(std::size_t count) const;
  std::vector<ReceivedLog> wait_for_logs(std::size_t count) const;

  /// Waits until so many requests have come, in whatever manner they were treated; false after a
  /// minute.
  bool wait_for_requests(std::size_t count) const;

  /// The headers of the last request, by name in lower case.
  std::map<std::string, std::string> last_headers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::telemetry::otel
