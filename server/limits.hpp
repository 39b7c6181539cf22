#pragma once

#include <cstddef>

#include <weir/runtime/clock.hpp>

namespace weir::server {

/// What a client may take of a gateway. Whoever takes more gets a problem that names the limit, or
/// is hung up on if it does not listen.
struct Limits {
  /// Request line and headers of one request.
  std::size_t header_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{8} << 20;
  /// Arrays and objects within each other.
  std::size_t json_depth_max = 32;
  std::size_t connections_max = 4096;
  /// From the first byte of a request to the end of its headers, however many bytes come meanwhile.
  Duration header_time = std::chrono::seconds(10);
  /// From there to the end of its body.
  Duration body_time = std::chrono::seconds(60);
  /// Until an answer has been taken.
  Duration write_time = std::chrono::seconds(60);
  /// Between requests.
  Duration idle_time = std::chrono::seconds(75);
  /// How long a request may ask to wait for something to happen.
  Duration wait_time = std::chrono::seconds(60);
  /// What a subscriber may send in one message.
  std::size_t message_bytes_max = std::size_t{16} << 10;
  /// Until a subscriber has taken the rows of its snapshot, and what came meanwhile: so long an old
  /// version is held for it alone.
  Duration snapshot_time = std::chrono::hours(1);
  /// A subscriber that has been silent for so long is asked whether it is there; one that does not
  /// answer in this time is not.
  Duration ping_time = std::chrono::seconds(30);
};

}  // namespace weir::server
