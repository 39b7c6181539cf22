#pragma once

#include <memory>
#include <unordered_map>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/gate.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/server/internal/connection.hpp>

namespace weir::server::internal {

/// The time for answers that were under way is over.
struct DrainOver {};

/// Accepts connections, each of which is a child.
class Listener final : public Actor<Shutdown, DrainOver, ChildStopped> {
 public:
  /// Those who leave are seen while it waits for them.
  static constexpr bool interleaves = true;

  explicit Listener(std::shared_ptr<GatewayCore> core);

  void on_start();
  Task<DrainReport> on(Shutdown shutdown);
  void on(DrainOver);
  void on(const ChildStopped& stopped);

 private:
  struct Open {
    RefOf<Connection> connection;
    Gate::Pass pass;
  };

  Task<> accept();
  void serve(std::shared_ptr<Stream> stream);
  /// More than `connections_max`: is told so, if it listens.
  static Task<> refuse(std::shared_ptr<GatewayCore> core, std::shared_ptr<Stream> stream);

  const Departure departure_;
  const std::shared_ptr<GatewayCore> core_;
  Gate gate_;
  std::unordered_map<ActorId, Open> open_;
  DrainReport report_;
  TaskScope tasks_;  // last: they use what stands above
};

}  // namespace weir::server::internal
