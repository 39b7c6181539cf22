#include <weir/server/internal/connection.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <utility>

#include <weir/runtime/check.hpp>
#include <weir/runtime/span.hpp>
#include <weir/server/internal/tracing.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::server::internal {
namespace {

constexpr std::size_t idle_bytes = 1024;
constexpr std::size_t read_bytes_max = std::size_t{64} << 10;
/// Answers to requests that came together wait for each other up to here.
constexpr std::size_t output_bytes_max = std::size_t{64} << 10;
constexpr std::size_t kept_output_bytes = 4096;
constexpr std::size_t linger_bytes_at_once = std::size_t{16} << 10;
constexpr std::size_t linger_bytes_max = std::size_t{1} << 20;

Duration check_period(const Limits& limits) noexcept {
  const Duration shortest = std::min({limits.header_time, limits.body_time, limits.write_time,
                                      limits.idle_time, limits.snapshot_time, limits.ping_time});
  return std::clamp<Duration>(shortest / 4, std::chrono::milliseconds(1), std::chrono::seconds(1));
}

/// Tells of a request once: what was answered, or that nobody knows what came of it as whoever was
/// at it has been cut off.
class Telling {
 public:
  struct Of {
    const GatewayCore* core;
    const Request* request;
    const Dispatch* dispatch;
    const Stream* stream;
    TimePoint begun;
  };

  explicit Telling(Of of) noexcept : of_(of) {}
  ~Telling() {
    if (is_told_) return;
    Response unknown;
    unknown.status = 0;
    unknown.problem_code = "unknown_outcome";
    try {
      tell(unknown, of_.core->system().now());
    } catch (...) {
      // Of whoever audits; there is nobody left to be told.
      return;
    }
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  void tell(const Response& response, TimePoint time) {
    is_told_ = true;
    internal::tell(*of_.core, {.request = of_.request,
                               .route = of_.dispatch->route(),
                               .caller = &of_.dispatch->caller(),
                               .response = &response,
                               .stream = of_.stream,
                               .taken = time - of_.begun});
  }

 private:
  const Of of_;
  bool is_told_ = false;
};

}  // namespace

Task<> hear_out(Stream* stream) {
  std::string input(linger_bytes_at_once, '\0');
  for (std::size_t heard = 0; heard < linger_bytes_max;) {
    auto count = co_await stream->read(input.data(), input.size());
    if (!count) co_return;
    heard += *count;
  }
}

Connection::Connection(std::shared_ptr<GatewayCore> core, std::shared_ptr<Stream> stream)
    : core_(std::move(core)),
      stream_(std::move(stream)),
      limits_(core_->options.limits),
      parser_(limits_) {
  core_->connections.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() { core_->connections.fetch_sub(1, std::memory_order_relaxed); }

void Connection::on_start() {
  timer_ = schedule_every<CheckTime>(Every::fixed_delay, check_period(limits_));
  tasks_.spawn(serve());
}

// Closing would be quicker, but then there would be no telling why.
void Connection::on(CheckTime) {
  if (subscriber_) return subscriber_->check_time();
  if (now() < deadline_) return;
  is_late_ = true;
  stream_->cancel();
}

void Connection::on(Drain) {
  drain_.cancel();
  if (subscriber_) subscriber_->drain();
  if (waiting_ == Waiting::request) stream_->cancel();
}

void Connection::on(News) {
  if (subscriber_) subscriber_->on(News{});
}

Task<> Connection::serve() {
  waiting_ = Waiting::other;
  set_deadline(limits_.header_time);
  if (co_await stream_->open()) {
    while (co_await read_request()) {
      if (!co_await answer()) break;
    }
    co_await hang_up();
  }
  stream_->close();
  stop();
}

Task<bool> Connection::read_request() {
  parser_.reset();
  checked_.reset();
  waiting_ = Waiting::nothing;
  for (;;) {
    parse();
    if (parser_.is_done()) co_return true;
    if (parser_.has_failed()) {
      append_response(output_, parser_.problem(), {.keeps_alive = false, .date = date()});
      is_unheard_ = true;
      co_return false;
    }
    if (is_refused()) {
      is_unheard_ = true;
      co_return true;
    }
    if (parser_.takes_continue()) output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    if (!co_await flush()) co_return false;
    limit_time();
    if (waiting_ == Waiting::request && drain_.is_cancelled()) co_return false;
    if (co_await read_some()) continue;
    refuse_late_request();
    co_return false;
  }
}

bool Connection::is_refused() {
  if (!parser_.has_header() || checked_ == parser_.request().has_body) return false;
  checked_ = parser_.request().has_body;
  return Dispatch(core_.get(), &parser_.request(), drain_.token()).prepare().has_value();
}

void Connection::parse() {
  input_begin_ +=
      parser_.put(std::string_view(input_).substr(input_begin_, input_end_ - input_begin_));
  if (input_begin_ == input_end_) input_begin_ = input_end_ = 0;
}

/// Each part of a request has its time from its begin: a byte now and then does not prolong it.
void Connection::limit_time() noexcept {
  if (parser_.has_header()) {
    if (std::exchange(waiting_, Waiting::body) != Waiting::body) set_deadline(limits_.body_time);
  } else if (input_end_ > 0 || parser_.has_begun()) {
    if (std::exchange(waiting_, Waiting::header) != Waiting::header)
      set_deadline(limits_.header_time);
  } else {
    waiting_ = Waiting::request;
    set_deadline(limits_.idle_time);
  }
}

Task<bool> Connection::read_some() {
  make_room();
  auto count = co_await stream_->read(input_.data() + input_end_, input_.size() - input_end_);
  if (!count) co_return false;
  input_end_ += *count;
  co_return true;
}

void Connection::make_room() {
  if (input_begin_ > 0) {
    std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
    input_end_ -= input_begin_;
    input_begin_ = 0;
  }
  if (waiting_ == Waiting::request && input_.size() != idle_bytes) {
    input_ = std::string(idle_bytes, '\0');
  } else if (waiting_ == Waiting::body && input_.size() < read_bytes_max) {
    input_.resize(read_bytes_max);
  } else if (input_end_ == input_.size()) {
    input_.resize(input_.size() * 2);
  }
}

void Connection::refuse_late_request() {
  if (!std::exchange(is_late_, false) || waiting_ == Waiting::request) return;
  const Problem problem{.status = 408,
                        .code = waiting_ == Waiting::header ? "header_too_slow" : "body_too_slow",
                        .detail = "the request did not come in time"};
  append_response(output_, problem, {.keeps_alive = false, .date = date()});
  is_unheard_ = true;
}

Task<bool> Connection::answer() {
  waiting_ = Waiting::other;
  deadline_ = TimePoint::max();
  const Request& request = parser_.request();
  Dispatch dispatch(core_.get(), &request, drain_.token());
  Telling telling({.core = core_.get(),
                   .request = &request,
                   .dispatch = &dispatch,
                   .stream = stream_.get(),
                   .begun = now()});
  const Response response = co_await respond(&dispatch);
  const bool keeps_alive = request.keeps_alive && parser_.is_done() && !drain_.is_cancelled();
  append_response(output_, response,
                  {.is_head = request.method() == "HEAD",
                   .is_http_1_0 = request.is_http_1_0,
                   .keeps_alive = keeps_alive,
                   .date = date()});
  telling.tell(response, now());
  if (response.subscription) {
    co_await serve_subscriber(response.subscription);
    co_return false;
  }
  if (response.undo) {
    if (co_await is_heard()) co_return keeps_alive;
    co_await response.undo();
    co_return false;
  }
  if (output_.size() > output_bytes_max && !co_await flush()) co_return false;
  co_return keeps_alive;
}

/// Who sends nothing more may have gone, or wait for this answer.
Task<bool> Connection::is_heard() {
  const bool may_have_gone = stream_->has_hung_up();
  if (!co_await flush()) co_return false;
  co_return !may_have_gone || co_await stream_->arrived(limits_.write_time);
}

Task<> Connection::serve_subscriber(std::shared_ptr<NewSubscription> wanted) {
  if (!co_await flush()) co_return;
  subscriber_ = std::make_unique<Subscriber>(Subscriber::Host{core_.get(), stream_.get(), self()},
                                             std::move(*wanted));
  wanted.reset();
  if (drain_.is_cancelled()) subscriber_->drain();
  std::string input = std::exchange(input_, {}).substr(input_begin_, input_end_ - input_begin_);
  input_begin_ = input_end_ = 0;
  co_await subscriber_->run(std::move(input));
  is_unheard_ = subscriber_->is_unheard();
  subscriber_.reset();
}

/// Whatever happens inside, the caller is told something.
Task<Response> Connection::respond(Dispatch* dispatch) {
  const Request& request = parser_.request();
  const Span span = begin_request_span(*core_, request);
  Response response;
  try {
    if (auto prepared = dispatch->prepare()) {
      response = *std::move(prepared);
    } else {
      check(parser_.is_done(), "what lacks a part of its body is refused");
      const bool waits = dispatch->route()->waits;
      // What was asked before is not to wait for what comes later.
      if (waits) static_cast<void>(co_await flush());
      deadline_ = TimePoint::max();
      response = co_await (waits ? run_watched(dispatch) : dispatch->run());
    }
  } catch (const std::exception& exception) {
    log_failure(*core_, request, exception.what());
    response = Problem{.status = 500,
                       .code = "internal",
                       .detail = "the server could not do it; its log says why"};
  }
  add_trace_headers(response);
  if (!response.cause.empty()) log_failure(*core_, request, response.cause);
  co_return response;
}

Task<Response> Connection::run_watched(Dispatch* dispatch) {
  TaskScope watch;
  watch.spawn(watch_client());
  Response response = co_await dispatch->run();
  watch.cancel_all();
  co_await watch.join();
  co_return response;
}

Task<> Connection::watch_client() {
  if (co_await stream_->hung_up()) drain_.cancel();
}

Task<bool> Connection::flush() {
  if (output_.empty()) co_return true;
  const Waiting before = std::exchange(waiting_, Waiting::other);
  const TimePoint deadline = deadline_;
  set_deadline(limits_.write_time);
  const auto written = co_await stream_->write(output_);
  if (output_.capacity() > kept_output_bytes) {
    output_ = {};
  } else {
    output_.clear();
  }
  waiting_ = before;
  deadline_ = deadline;
  co_return static_cast<bool>(written);
}

Task<> Connection::hang_up() {
  if (!co_await flush()) co_return;
  waiting_ = Waiting::other;
  set_deadline(linger_time);
  if (!co_await stream_->finish() || !is_unheard_) co_return;
  co_await hear_out(stream_.get());
}

std::string_view Connection::date() {
  const auto time = std::chrono::floor<std::chrono::seconds>(core_->store->time());
  const std::int64_t second = time.time_since_epoch().count();
  if (std::exchange(date_second_, second) != second) date_ = print_http_date(second);
  return date_;
}

}  // namespace weir::server::internal
