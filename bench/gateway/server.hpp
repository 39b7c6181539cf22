#pragma once

#include <cstdint>
#include <memory>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::gateway {

/// A table, a view of most of its rows, and a gateway before them.
class WeirServer {
 public:
  WeirServer();

  std::uint16_t port() const { return gateway_->port(); }
  /// Adds rows that the view shows, so many a second, each in a commit of its own; its last column
  /// is the time in microseconds. Returns when the view shows the last one.
  void insert(std::int64_t count, std::int64_t per_second);

 private:
  Task<> insert_all(std::int64_t count, Duration period);

  ActorSystem system_;
  storage::Store store_;
  flow::view::Database database_;
  std::unique_ptr<flow::view::Relation> orders_;
  std::unique_ptr<flow::view::Relation> large_;
  std::int64_t next_id_ = 0;
  std::unique_ptr<server::Gateway> gateway_;
};

/// On the clock of `WeirServer::insert`.
std::int64_t now_us();

}  // namespace weir::bench::gateway
