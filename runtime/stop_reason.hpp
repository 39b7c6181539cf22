#pragma once

#include <cstdint>
#include <string>

#include <weir/runtime/actor_id.hpp>

namespace weir {

/// Why an actor ended.
struct StopReason {
  enum class Kind : std::uint8_t {
    normal,          // it stopped itself, or was asked to stop
    failed,          // a handler threw and its supervision did not bring it back
    killed,          // stopped without finishing what it was doing
    parent_stopped,  // its parent stopped
    system_stopped,  // the whole system stopped
  };

  Kind kind = Kind::normal;
  std::string message;  // of the exception, when it failed

  bool is_failure() const noexcept { return kind == Kind::failed || kind == Kind::killed; }
};

const char* to_string(StopReason::Kind kind) noexcept;

/// Delivered to an actor that monitors another when that one has ended.
struct Terminated {
  ActorId actor;
  std::string name;
  StopReason reason;
};

/// Delivered to a parent that lists it among its messages when a child has ended.
struct ChildStopped {
  ActorId actor;
  std::string name;
  StopReason reason;
};

}  // namespace weir
