#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <weir/runtime/actor.hpp>
#include <weir/storage/postgres/internal/session.hpp>
#include <weir/storage/postgres/listener.hpp>

namespace weir::storage::postgres::internal {

/// Time to see whether the connection is still there.
struct Beat {};

struct ListenerStatus {
  std::atomic<bool> is_listening{false};
  std::atomic<std::uint64_t> begun{0};  // how often
};

struct ListenerCore {
  ListenerCore() = default;
  ListenerCore(const ListenerCore&) = delete;
  ListenerCore& operator=(const ListenerCore&) = delete;
  ~ListenerCore() { actor.stop(); }

  const std::shared_ptr<ListenerStatus> status = std::make_shared<ListenerStatus>();
  ActorRef<> actor;
};

/// Keeps the connection of a listener.
class ListenerActor final : public Actor<Beat> {
 public:
  ListenerActor(Options options, ConnectionParameters parameters, std::vector<std::string> channels,
                Listener::Callback callback, std::shared_ptr<ListenerStatus> status);

  void on(Beat);
  void on_start();

 private:
  Session::Hooks hooks();
  void listen();
  void send(Batch statements);
  void answered(const Unit& unit, const Unit::Outcome& outcome);

  const Options options_;
  const std::vector<std::string> channels_;
  const Listener::Callback callback_;
  const std::shared_ptr<ListenerStatus> status_;
  std::shared_ptr<Unit> listening_;  // what began to listen on this connection
  std::shared_ptr<Unit> last_;       // what was asked last
  Session session_;                  // last: its tasks use what stands above
};

}  // namespace weir::storage::postgres::internal
