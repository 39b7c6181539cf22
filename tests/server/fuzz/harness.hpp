#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/storage/store.hpp>

namespace weir::server::fuzz {

/// What a client sends, and in which pieces it comes.
struct Sent {
  std::string_view bytes;
  std::size_t piece_bytes = 4096;
};

/// A gateway without sockets: each connection is the actor that it always is, on a stream of bytes
/// in memory. The store is the same for all of them.
class Harness {
 public:
  Harness();
  ~Harness();

  /// What the server says to all of that until it hangs up.
  std::string talk(const Sent& sent);
  const internal::Router& router() const { return core_->router; }

 private:
  ActorSystem system_;
  storage::Store store_;
  flow::view::Database database_;
  flow::workflow::Engine engine_;
  std::shared_ptr<internal::GatewayCore> core_;
};

}  // namespace weir::server::fuzz
