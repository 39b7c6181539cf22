#include <weir/tests/telemetry/otel/support/otlp_receiver.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <zlib.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>  // tidy: allow corners: a server, but only for tests
#include <boost/beast/http.hpp>              // tidy: allow corners: a server, but only for tests

namespace weir::telemetry::otel {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t body_bytes_max = 16 << 20;
constexpr auto patience = std::chrono::minutes{1};
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

std::string gunzip(const std::string& body) {
  std::string out(std::size_t{1} << 20, '\0');
  ::z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_done =
      ::inflateInit2(&stream, 15 + 16) == Z_OK && ::inflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  if (!is_done) throw std::invalid_argument("not gzip, or more than a test should send");
  return out;
}

http::status status_of(Manner how) {
  switch (how) {
    case Manner::accept_202: return http::status::accepted;
    case Manner::answer_302: return http::status::found;
    case Manner::answer_503: return http::status::service_unavailable;
    default: return http::status::ok;
  }
}

template <class Record>
void append(std::vector<Record>& to, std::vector<Record> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

struct OtlpReceiver::State {
  explicit State(Manner how) : acceptor(io, tcp::v4()), work(io.get_executor()) {
    acceptor.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    port = acceptor.local_endpoint().port();
    thread = std::thread([this] { io.run(); });
    behave(how);
  }
  ~State() {
    io.stop();
    thread.join();
  }

  void behave(Manner how) {
    const std::lock_guard lock(mutex);
    manner = how;
    asio::post(io, [this] { waiting.cancel(); });
    // Until then the port is taken, but whoever connects is refused.
    if (how == Manner::refuse || std::exchange(is_listening, true)) return;
    acceptor.listen();
    spawn(accept());
  }

  void spawn(asio::awaitable<void> task) {
    asio::co_spawn(io, std::move(task), [](const std::exception_ptr& failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }

  asio::awaitable<void> accept() {
    while (true) {
      auto [error, socket] = co_await acceptor.async_accept(no_throw);
      if (error) co_return;
      spawn(serve(std::move(socket)));
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    beast::flat_buffer buffer;
    while (true) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(body_bytes_max);
      auto [head_error, head_size] =
          co_await http::async_read_header(socket, buffer, parser, no_throw);
      if (head_error) co_return;
      const Manner how = count_request(parser.get());
      if (how == Manner::close_request) co_return;
      auto [body_error, body_size] = co_await http::async_read(socket, buffer, parser, no_throw);
      if (body_error) co_return;
      if (how == Manner::hang) co_await forever();
      if (how == Manner::wait) co_await waiting.async_wait(no_throw);
      if (!co_await answer(socket, parser.get(), how)) co_return;
    }
  }

  asio::awaitable<void> forever() {
    asio::steady_timer never(io, asio::steady_timer::time_point::max());
    co_await never.async_wait(no_throw);
  }

  // False if the connection cannot be used again.
  asio::awaitable<bool> answer(tcp::socket& socket, const http::request<http::string_body>& request,
                               Manner how) {
    if (how == Manner::close_response) {
      const std::string half = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this";
      co_await asio::async_write(socket, asio::buffer(half), no_throw);
      co_return false;
    }
    http::response<http::string_body> response(status_of(how), 11);
    if (http::to_status_class(response.result()) == http::status_class::successful) {
      const bool is_gzip = request[http::field::content_encoding] == "gzip";
      keep(std::string(request.target()), is_gzip ? gunzip(request.body()) : request.body());
    }
    response.set(http::field::content_type, "application/x-protobuf");
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    auto [error, size] = co_await http::async_write(socket, response, no_throw);
    co_return !error && request.keep_alive();
  }

  Manner count_request(const http::request<http::string_body>& request) {
    const std::lock_guard lock(mutex);
    headers.clear();
    for (const auto& field : request) {
      std::string name(field.name_string());
      std::ranges::transform(name, name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      headers[name] = std::string(field.value());
    }
    ++requests;
    changed.notify_all();
    return manner;
  }

  void keep(const std::string& path, const std::string& body) {
    const std::lock_guard lock(mutex);
    if (path == "/v1/traces") append(spans, decode_spans(body));
    if (path == "/v1/metrics") append(metrics, decode_metrics(body));
    if (path == "/v1/logs") append(logs, decode_logs(body));
    changed.notify_all();
  }

  template <class Record>
  std::vector<Record> wait_for(const std::vector<Record>& records, std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, patience, [&] { return records.size() >= count; });
    return records;
  }

  asio::io_context io;
  tcp::acceptor acceptor;
  asio::steady_timer waiting{io, asio::steady_timer::time_point::max()};
  asio::executor_work_guard<asio::io_context::executor_type> work;
  unsigned short port = 0;
  std::thread thread;

  // Guarded by mutex.
  std::mutex mutex;
  std::condition_variable changed;
  Manner manner = Manner::refuse;
  bool is_listening = false;
  std::vector<ReceivedSpan> spans;
  std::vector<ReceivedMetric> metrics;
  std::vector<ReceivedLog> logs;
  std::map<std::string, std::string> headers;
  std::size_t requests = 0;
};

OtlpReceiver::OtlpReceiver(Manner manner) : state_(std::make_unique<State>(manner)) {}
OtlpReceiver::~OtlpReceiver() = default;

void OtlpReceiver::behave(Manner manner) { state_->behave(manner); }

std::string OtlpReceiver::endpoint(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + path;
}

TelemetryOptions OtlpReceiver::options() const {
  TelemetryOptions options;
  options.traces.exporter = ExporterKind::otlp_http;
  options.traces.endpoint = endpoint("/v1/traces");
  options.metrics.exporter = ExporterKind::otlp_http;
  options.metrics.endpoint = endpoint("/v1/metrics");
  options.logs.exporter = ExporterKind::otlp_http;
  options.logs.endpoint = endpoint("/v1/logs");
  return options;
}

std::vector<ReceivedSpan> OtlpReceiver::wait_for_spans(std::size_t count) const {
  return state_->wait_for(state_->spans, count);
}

std::vector<ReceivedMetric> OtlpReceiver::wait_for_metrics(std::size_t count) const {
  return state_->wait_for(state_->metrics, count);
}

std::vector<ReceivedLog> OtlpReceiver::wait_for_logs(std::size_t count) const {
  return state_->wait_for(state_->logs, count);
}

bool OtlpReceiver::wait_for_requests(std::size_t count) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, patience, [&] { return state_->requests >= count; });
}

std::map<std::string, std::string> OtlpReceiver::last_headers() const {
  const std::lock_guard lock(state_->mutex);
  return state_->headers;
}

}  // namespace weir::telemetry::otel
