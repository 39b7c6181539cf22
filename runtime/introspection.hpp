#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/actor_id.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/dead_letter.hpp>

// What a system tells about itself to who watches it, beside `ActorSystem::actors`.
namespace weir {

class ActorSystem;

/// Since the system started, also of actors that have ended.
struct SystemTotals {
  std::uint64_t messages_handled = 0;
  std::uint64_t restarts = 0;
};

SystemTotals totals_of(ActorSystem& system) noexcept;

/// A message that was not handled, some time ago.
struct RecentDeadLetter {
  DeadLetterReason reason;
  std::string_view message;     // the message's type
  std::string_view actor_type;  // of the receiver
  std::string actor_name;       // of the receiver, its first characters; empty if it has none
  ActorId actor;
  Duration age{};
};

/// As many as are remembered.
inline constexpr std::size_t recent_dead_letters_max = 128;

/// The last ones, the newest first. Of those that several threads report at one moment some may be
/// missing: nobody waits to be remembered. `ActorSystem::dead_letters` counts them all. A
/// simulation remembers none: its hook hears of each.
std::vector<RecentDeadLetter> recent_dead_letters(ActorSystem& system);

}  // namespace weir
