#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/storage/postgres/internal/pipeline.hpp>
#include <weir/storage/postgres/options.hpp>

namespace weir::storage::postgres::internal {

/// Keeps one connection: makes it, watches its socket, and makes it again when it is lost.
///
/// Part of an actor, made in its constructor and confined to it.
class Session {
 public:
  struct Hooks {
    Pipeline::Hooks pipeline;
    std::function<void()> on_up;
    /// The units that were in flight have been answered.
    std::function<void(const Error& cause)> on_down;
    /// Answers came: there may be room for more.
    std::function<void()> on_progress;
  };
  struct Settings {
    ConnectionParameters parameters;
    bool reconnects = true;
  };

  Session(ActorSystem& system, const Options& options, Settings settings, Hooks hooks);
  ~Session();

  /// Begins to connect, in the background.
  void start();

  bool is_up() const noexcept { return pipeline_ && !broken_; }
  /// True if there will be no other connection.
  bool is_over() const noexcept { return is_over_; }
  /// Only while it is up.
  void send(std::shared_ptr<Unit> unit);
  /// Gives the connection up: units in flight get `cause`, and another one is made.
  void give_up(Error cause);
  /// Answers everything with `cause`, for who is about to stop.
  void fail(const Error& cause);

  std::size_t depth() const noexcept { return pipeline_ ? pipeline_->depth() : 0; }
  /// True if the unit whose turn it is has been due since before `now` - `grace`, and nothing has
  /// come since then either.
  bool is_hung(TimePoint now, Duration grace) const;

 private:
  struct Socket;
  struct Lookup;

  Task<> run();
  Task<Result<>> connect();
  Task<Result<>> make_connection();
  Task<Result<>> find_hosts(ConnectionParameters* parameters);
  Task<> watch_connecting();
  Task<Error> serve();
  Task<> write_out(std::shared_ptr<Socket> socket);
  void flush();
  void drop(const Error& cause);
  Duration backoff();

  ActorSystem& system_;
  const Options& options_;
  const Settings settings_;
  const Hooks hooks_;

  std::shared_ptr<Socket> socket_;
  std::shared_ptr<Lookup> lookup_;
  std::unique_ptr<Pipeline> pipeline_;
  std::optional<Error> broken_;
  bool is_over_ = false;
  bool is_late_ = false;     // to be connected
  bool is_writing_ = false;  // `write_out` runs
  unsigned failures_ = 0;    // to connect, in a row
  TimePoint last_progress_{};
  TaskScope tasks_;  // last: they use what stands above
};

}  // namespace weir::storage::postgres::internal
