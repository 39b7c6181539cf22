#include <weir/storage/postgres/internal/session.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <weir/runtime/asio.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/postgres/errc.hpp>

namespace weir::storage::postgres::internal {

using Descriptor = boost::asio::posix::stream_descriptor;

/// Watches libpq's socket through a descriptor of its own: libpq closes and replaces its own
/// without asking.
struct Session::Socket {
  Socket(ActorSystem& system, const pg_conn* connection) : descriptor(io_context(system)) {
    const int copy = ::dup(socket_of(connection));
    boost::system::error_code ignored;  // a wait will tell
    if (copy >= 0) static_cast<void>(descriptor.assign(copy, ignored));
  }

  Descriptor descriptor;
};

/// Addresses that are being looked up. Outlives a session that does not wait for them.
struct Session::Lookup {
  explicit Lookup(std::vector<Host> wanted) : hosts(std::move(wanted)) {}

  std::vector<Host> hosts;
  Result<std::vector<Host>> found = Error(Errc::unavailable, "the addresses were not looked up");
  SequenceBarrier done;
};

Session::Session(ActorSystem& system, const Options& options, Settings settings, Hooks hooks)
    : system_(system),
      options_(options),
      settings_(std::move(settings)),
      hooks_(std::move(hooks)) {}

Session::~Session() = default;

void Session::start() { tasks_.spawn(run()); }

Task<> Session::run() {
  for (;;) {
    auto connected = co_await connect();
    Error cause = connected.error();
    if (connected) {
      failures_ = 0;
      last_progress_ = system_.now();
      hooks_.on_up();
      cause = co_await serve();
    }
    is_over_ = cause == weir::Errc::cancelled || !settings_.reconnects;
    drop(cause);
    if (is_over_) co_return;
    if (auto slept = co_await sleep_for(backoff()); !slept) co_return;
  }
}

Task<Result<>> Session::connect() {
  is_late_ = false;
  broken_.reset();
  TaskScope watching;
  watching.spawn(watch_connecting());
  Result<> connected = co_await make_connection();
  watching.cancel_all();
  co_await watching.join();
  if (connected || !is_late_) co_return connected;
  co_return Error(Errc::unavailable,
                  "no connection within " +
                      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                         options_.connect_timeout)
                                         .count()) +
                      " ms");
}

Task<> Session::watch_connecting() {
  if (auto slept = co_await sleep_for(options_.connect_timeout); !slept) co_return;
  is_late_ = true;
  if (lookup_) lookup_->done.close(Error(Errc::timed_out));
  if (socket_) socket_->descriptor.cancel();
}

Task<Result<>> Session::make_connection() {
  ConnectionParameters parameters = settings_.parameters;
  WEIR_CO_TRY_VOID(co_await find_hosts(&parameters));
  WEIR_CO_TRY(connection, start_connecting(parameters));
  for (Polled polled = Polled::wants_write; polled != Polled::is_connected;) {
    if (polled == Polled::has_failed) {
      co_return Error(Errc::unavailable, message_of(connection.get()));
    }
    socket_ = std::make_shared<Socket>(system_, connection.get());
    const auto wait = polled == Polled::wants_read ? Descriptor::wait_read : Descriptor::wait_write;
    auto waited = co_await socket_->descriptor.async_wait(wait, use_task);
    socket_.reset();
    if (!waited) co_return waited.error();
    if (is_late_) co_return Error(Errc::timed_out);
    polled = poll_connecting(connection.get());
  }
  socket_ = std::make_shared<Socket>(system_, connection.get());
  pipeline_ = std::make_unique<Pipeline>(std::move(connection), options_, hooks_.pipeline);
  co_return pipeline_->start();
}

/// libpq would look names up itself, and block.
Task<Result<>> Session::find_hosts(ConnectionParameters* parameters) {
  auto hosts = hosts_of(*parameters);
  if (std::none_of(hosts.begin(), hosts.end(), &needs_lookup)) co_return Result<>();
  const auto lookup = std::make_shared<Lookup>(std::move(hosts));
  lookup_ = lookup;
  begin_on_blocking_pool([lookup]() noexcept {
    lookup->found = look_up(lookup->hosts);
    lookup->done.publish(1);
  });
  auto done = co_await lookup->done.wait_until(1);
  lookup_.reset();
  if (!done) co_return done.error();
  if (!lookup->found) co_return lookup->found.error();
  set_hosts(*parameters, *lookup->found);
  co_return Result<>();
}

Task<Error> Session::serve() {
  const std::shared_ptr<Socket> socket = socket_;
  flush();
  for (;;) {
    if (broken_) co_return *broken_;
    auto readable = co_await socket->descriptor.async_wait(Descriptor::wait_read, use_task);
    if (broken_) co_return *broken_;
    if (!readable && readable.error() == weir::Errc::cancelled) co_return readable.error();
    if (!readable) co_return Error(Errc::unavailable, readable.error().message());
    auto received = pipeline_->receive();
    last_progress_ = system_.now();
    if (!received) co_return received.error();
    hooks_.on_progress();
    flush();
  }
}

void Session::send(std::shared_ptr<Unit> unit) {
  auto sent = pipeline_->send(std::move(unit));
  if (!sent) {
    give_up(sent.error());
  } else {
    flush();
  }
}

void Session::flush() {
  if (is_writing_ || broken_) return;
  auto left = pipeline_->flush();
  if (!left) {
    give_up(left.error());
  } else if (*left) {
    is_writing_ = true;
    tasks_.spawn(write_out(socket_));
  }
}

/// Writes what the socket did not take at once.
Task<> Session::write_out(std::shared_ptr<Socket> socket) {
  for (;;) {
    auto writable = co_await socket->descriptor.async_wait(Descriptor::wait_write, use_task);
    if (!writable || broken_ || socket != socket_) break;
    auto left = pipeline_->flush();
    if (!left) give_up(left.error());
    if (!left || !*left) break;
  }
  if (socket == socket_) is_writing_ = false;
}

void Session::give_up(Error cause) {
  if (broken_) return;
  broken_ = std::move(cause);
  if (socket_) socket_->descriptor.cancel();
}

void Session::drop(const Error& cause) {
  if (socket_) {
    boost::system::error_code ignored;
    static_cast<void>(socket_->descriptor.close(ignored));
  }
  socket_.reset();
  is_writing_ = false;
  const bool is_stopped = cause == weir::Errc::cancelled;
  fail(is_stopped ? Error(Errc::closed) : cause);
  pipeline_.reset();
  if (!is_stopped) hooks_.on_down(cause);
}

void Session::fail(const Error& cause) {
  if (pipeline_) pipeline_->fail(cause);
}

bool Session::is_hung(TimePoint now, Duration grace) const {
  const Unit* front = pipeline_ ? pipeline_->front() : nullptr;
  return front && now - front->deadline >= grace && now - last_progress_ >= grace;
}

Duration Session::backoff() {
  Duration most = options_.reconnect_backoff;
  for (unsigned i = 0; i < failures_ && most < options_.reconnect_backoff_max; ++i) most *= 2;
  ++failures_;
  most = std::clamp(most, Duration(2), std::max(options_.reconnect_backoff_max, Duration(2)));
  return most / 2 + Duration(system_.random() % static_cast<std::uint64_t>(most.count() / 2));
}

}  // namespace weir::storage::postgres::internal
