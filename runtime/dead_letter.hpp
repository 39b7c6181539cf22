#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weir/runtime/actor_id.hpp>

namespace weir {

/// Why a message was not handled, or an answer not received.
enum class DeadLetterReason : std::uint8_t {
  mailbox_full,    // refused: no room
  actor_stopped,   // refused: the actor has stopped, or stopped before its turn came
  dropped_newest,  // discarded by the mailbox's policy
  dropped_oldest,  // discarded by the mailbox's policy
  late_reply,      // the reply came after the caller had given up
  abandoned,       // the caller had given up before the request was handled
  stash_full,      // set aside, but too many were already
};

inline constexpr std::size_t dead_letter_reasons = 7;

const char* to_string(DeadLetterReason reason) noexcept;

/// What is known of a message that was not handled. Views are valid during the call that passes it.
struct DeadLetter {
  DeadLetterReason reason;
  std::string_view message;     // the message's type
  std::string_view actor_type;  // of the receiver
  std::string_view actor_name;  // of the receiver, empty if it has none
  ActorId actor;
};

/// How many of each since the system started.
struct DeadLetterCounts {
  std::uint64_t by_reason[dead_letter_reasons] = {};

  std::uint64_t of(DeadLetterReason reason) const noexcept {
    return by_reason[static_cast<std::size_t>(reason)];
  }
  std::uint64_t total() const noexcept;
};

}  // namespace weir
