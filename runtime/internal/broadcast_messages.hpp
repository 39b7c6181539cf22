#pragma once

#include <utility>
#include <vector>

#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/internal/routed.hpp>

// Copies of one message on their way to all members of a group, which are pinned meanwhile.
namespace weir::internal {

/// Sends to this member, publishes, and reports a refusal unless `is_quiet`. The node is disposed
/// of if it was refused.
SendStatus send_to_member(GroupMember& member, Node* node, bool is_quiet) noexcept;

template <class M>
SendStatus send_copy(GroupMember& member, const M& message, bool is_quiet = false) {
  return send_to_member(member, new Envelope<M>(message), is_quiet);
}

template <class R, class M>
Task<R> deliver_copies(std::vector<PinnedMember> members, M message) {
  R result;
  for (PinnedMember& member : members) {
    const SendStatus status = send_copy(*member, message, true);
    if (status == SendStatus::full) continue;
    ++(status == SendStatus::sent ? result.accepted : result.refused);
    member.reset();
  }
  for (PinnedMember& member : members) {
    if (!member) continue;
    const SendResult<M> sent = co_await Deliver<M>(&member->cell, message);
    ++(sent ? result.accepted : result.refused);
    member.reset();
  }
  co_return result;
}

template <class M>
class [[nodiscard]] BroadcastAsk {
 public:
  BroadcastAsk(std::vector<PinnedMember> members, M&& message)
      : members_(std::move(members)), ask_(ask_all<M>(refs(), std::move(message))) {}

  /// Waits no longer than this for all of them; `forever` for as long as it takes.
  BroadcastAsk&& within(Duration timeout) && noexcept {
    static_cast<void>(std::move(ask_).within(timeout));
    return std::move(*this);
  }
  auto operator co_await() && { return std::move(ask_).operator co_await(); }

 private:
  std::vector<ActorRef<M>> refs() const {
    std::vector<ActorRef<M>> all;
    for (const PinnedMember& member : members_) {
      all.push_back(RefAccess::share<ActorRef<M>>(&member->cell));
    }
    return all;
  }

  std::vector<PinnedMember> members_;
  decltype(ask_all<M>(std::vector<ActorRef<M>>(), std::declval<M>())) ask_;
};

}  // namespace weir::internal
