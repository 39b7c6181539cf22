#pragma once

#include <cstdint>
#include <memory>

namespace weir::bench::gateway {

/// A minimal HTTP server of Beast on one thread: reads a request, answers a constant, and so on.
class RawServer {
 public:
  RawServer();
  ~RawServer();

  std::uint16_t port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::bench::gateway
