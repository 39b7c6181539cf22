#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weir/runtime/actor_id.hpp>
#include <weir/runtime/clock.hpp>

namespace weir {

/// A living actor as seen from outside, at one moment.
struct ActorInfo {
  ActorId id;
  ActorId parent;  // zero for actors that the system itself started
  std::string_view type;
  std::string name;
  std::string phase;  // empty if it declares none
  Duration phase_age{};
  std::uint32_t mailbox_depth = 0;
  std::uint32_t mailbox_capacity = 0;
  std::uint64_t messages_handled = 0;
  std::uint32_t restarts = 0;
  std::string last_failure;
  bool is_stopping = false;
};

}  // namespace weir
