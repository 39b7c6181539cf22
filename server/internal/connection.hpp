#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/request_parser.hpp>
#include <weir/server/internal/subscriber.hpp>

namespace weir::server::internal {

/// How long whoever is hung up on is heard.
inline constexpr Duration linger_time = std::chrono::seconds(2);
/// After the last answer: who is still sending must be heard, or its system throws the answer away.
/// Until it ends, or has sent more than anybody means to.
Task<> hear_out(Stream* stream);

/// Time to see whether the client takes too long.
struct CheckTime {};
/// Answers what is under way, and hangs up.
struct Drain {
  static constexpr bool is_notice = true;
};

/// Serves one client, request by request:
///
///     open ──> read_request ──> answer ──┐   answers of requests that came together leave together
///                  ^        <────────────┘
///                  └── a failure, the end, a time that is over ──> hang_up
///
/// A request that is refused whatever its body is, is answered when its header is there: nothing is
/// kept for who may not send it.
///
/// A request may make it a WebSocket: then it is a `Subscriber`'s to its end.
///
/// Between requests it holds little: a small buffer and the parser.
class Connection final : public Actor<CheckTime, Drain, News> {
 public:
  Connection(std::shared_ptr<GatewayCore> core, std::shared_ptr<Stream> stream);
  ~Connection();

  void on_start();
  void on(CheckTime);
  void on(Drain);
  void on(News);

 private:
  Task<> serve();
  /// False if there is none: the client has gone, is too slow, or makes no sense.
  Task<bool> read_request();
  /// Whether what is there of a request is enough to refuse it.
  bool is_refused();
  /// The next bytes of a request, or of one to come.
  Task<bool> read_some();
  /// What to say to who did not send its request in time; nothing to who sent none.
  void refuse_late_request();
  /// False if the connection is not to be used any more.
  Task<bool> answer();
  Task<Response> respond(Dispatch* dispatch);
  /// Writes what there is to write. False if nobody gets it.
  Task<bool> is_heard();
  Task<> serve_subscriber(std::shared_ptr<NewSubscription> wanted);
  /// Of a route that may take long.
  Task<Response> run_watched(Dispatch* dispatch);
  /// Lets who waits for something give up when the client has gone.
  Task<> watch_client();
  Task<bool> flush();
  Task<> hang_up();

  void parse();
  void make_room();
  void limit_time() noexcept;
  void set_deadline(Duration time) noexcept { deadline_ = now() + time; }
  std::string_view date();

  const std::shared_ptr<GatewayCore> core_;
  const std::shared_ptr<Stream> stream_;
  const Limits& limits_;
  RequestParser parser_;

  // What has been read and not been parsed.
  std::string input_;
  std::size_t input_begin_ = 0;
  std::size_t input_end_ = 0;
  std::string output_;

  enum class Waiting : std::uint8_t { nothing, request, header, body, other };
  Waiting waiting_ = Waiting::nothing;
  TimePoint deadline_ = TimePoint::max();
  bool is_late_ = false;
  std::optional<bool> checked_;  // what `is_refused` has seen: a header, and perhaps a body
  bool is_unheard_ = false;      // more may come of a request that was refused
  CancellationSource drain_;
  std::int64_t date_second_ = -1;
  std::string date_;
  std::unique_ptr<Subscriber> subscriber_;
  Timer timer_;
  TaskScope tasks_;  // last: they use what stands above
};

}  // namespace weir::server::internal
