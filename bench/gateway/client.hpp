#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::bench::gateway {

/// What many connections got that each ask again as soon as they are answered.
struct Asked {
  double per_second = 0;
  double p99_us = 0;  // from the last byte of a request, with those before it on its connection
};

struct Asking {
  std::uint16_t port = 0;
  std::string target;
  int connections = 64;
  int under_way = 1;  // requests on each
  std::int64_t requests = 0;
};

/// On this thread. Ends the program if an answer is not a 200.
Asked ask(const Asking& asking);

/// A socket; ends the program if there is none.
int connect_to(std::uint16_t port);

/// Connections that stay; closed at the end.
class Sockets {
 public:
  Sockets() = default;
  ~Sockets();
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  /// Connects, sends and, if asked, waits for the answer.
  void add(std::uint16_t port, const std::string& bytes, bool awaits_answer);
  /// A byte on each.
  void send_byte(char byte);

 private:
  std::vector<int> sockets_;
};

}  // namespace weir::bench::gateway
