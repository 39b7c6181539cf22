#include <weir/server/internal/listener.hpp>

#include <utility>

#include <weir/runtime/sleep.hpp>

namespace weir::server::internal {
namespace {

/// The process has no more of something that a connection needs.
constexpr Duration accept_pause = std::chrono::milliseconds(20);
constexpr std::size_t refused_max = 64;

/// Again and again, as between two reads there is nothing that could be cancelled.
Task<> cancel_after(Duration time, Stream* stream) {
  while (co_await sleep_for(time)) stream->cancel();
}

}  // namespace

Listener::Listener(std::shared_ptr<GatewayCore> core)
    : departure_(core->gone), core_(std::move(core)) {}

void Listener::on_start() { tasks_.spawn(accept()); }

Task<> Listener::accept() {
  while (!core_->is_draining.load(std::memory_order_relaxed)) {
    auto stream = co_await core_->acceptor->accept();
    if (stream) {
      serve(*std::move(stream));
    } else if (stream.error() == weir::Errc::cancelled || !co_await sleep_for(accept_pause)) {
      break;
    }
  }
  core_->acceptor->close();
}

void Listener::serve(std::shared_ptr<Stream> stream) {
  auto pass = gate_.enter();
  if (!pass) return;
  if (open_.size() >= core_->options.limits.connections_max) {
    if (tasks_.running() <= refused_max) tasks_.spawn(refuse(core_, std::move(stream)));
    return;
  }
  auto connection = spawn<Connection>(SpawnOptions{.name = "connection"}, core_, std::move(stream));
  const ActorId id = connection.id();
  open_.emplace(id, Open{std::move(connection), *std::move(pass)});
}

Task<> Listener::refuse(std::shared_ptr<GatewayCore> core, std::shared_ptr<Stream> stream) {
  TaskScope watch;
  watch.spawn(cancel_after(linger_time, stream.get()));
  const Problem problem{.status = 503,
                        .code = "too_many_connections",
                        .detail = "there are at most " +
                                  std::to_string(core->options.limits.connections_max) +
                                  " connections at once: try again later"};
  const auto time = std::chrono::floor<std::chrono::seconds>(core->store->time());
  std::string answer;
  append_response(answer, problem,
                  {.keeps_alive = false, .date = print_http_date(time.time_since_epoch().count())});
  if (co_await stream->open() && co_await stream->write(answer) && co_await stream->finish())
    co_await hear_out(stream.get());
  watch.cancel_all();
  co_await watch.join();
  stream->close();
}

Task<DrainReport> Listener::on(Shutdown shutdown) {
  core_->is_draining.store(true, std::memory_order_relaxed);
  core_->acceptor->close();
  for (const auto& [id, open] : open_)
    if (open.connection.is_alive()) static_cast<void>(open.connection.send<Drain>());
  // Once only: the report says how many there were then.
  if (shutdown.drain == Duration::zero()) {
    on(DrainOver{});
  } else {
    schedule_once<DrainOver>(shutdown.drain);
  }
  static_cast<void>(co_await gate_.close());
  co_await core_->feeds.finish();
  stop();
  co_return report_;
}

void Listener::on(DrainOver) {
  report_.cut_off = open_.size();
  for (const auto& [id, open] : open_) open.connection.stop(Stop::kill);
}

void Listener::on(const ChildStopped& stopped) { open_.erase(stopped.actor); }

}  // namespace weir::server::internal
