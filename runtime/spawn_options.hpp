#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <weir/runtime/supervision.hpp>

namespace weir {

/// What a full mailbox does with the next message. `deliver` waits for room instead, except where
/// `drop_oldest` always makes some.
enum class Overflow : std::uint8_t {
  fail,         // refuse it: `send` returns it with `Errc::full`
  drop_newest,  // discard it, and count it as a dead letter
  drop_oldest,  // discard the message that waited longest, and count that one
};

inline constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t system_default = unbounded - 1;
/// The largest bound: counts of messages are compared by their difference.
inline constexpr std::uint32_t mailbox_capacity_max = std::uint32_t{1} << 30;

/// How one actor is run.
struct SpawnOptions {
  /// Shown in logs and introspection. Needs not be unique; see `Registry` for look-up by name.
  std::string name = {};
  /// How many messages may wait, up to `mailbox_capacity_max`; `unbounded` to accept all. Zero and
  /// what is between the two are refused. Without a value the system's default applies.
  std::uint32_t mailbox_capacity = system_default;
  Overflow overflow = Overflow::fail;
  Supervision supervision = {};
};

}  // namespace weir
