#pragma once

#include <cstdint>
#include <memory>

namespace weir::bench::gateway {

/// Many WebSockets on one view, read by one thread.
class Subscribers {
 public:
  Subscribers(std::uint16_t port, int count);
  ~Subscribers();
  Subscribers(const Subscribers&) = delete;
  Subscribers& operator=(const Subscribers&) = delete;

  /// Until each of them has got so many rows. Ends the program if nothing comes for long, or if one
  /// is hung up on.
  void receive(std::int64_t rows_each);
  /// From the begin of a commit to the row at its subscriber; of all rows of all of them.
  double latency_ms(double fraction) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace weir::bench::gateway
