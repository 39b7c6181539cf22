#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/internal/broadcast_messages.hpp>
#include <weir/runtime/router.hpp>

namespace weir {

/// What became of a message to all members of a group.
struct BroadcastResult {
  std::size_t accepted = 0;
  std::size_t refused = 0;  // by members that were full or had just stopped

  explicit operator bool() const noexcept { return refused == 0; }
};

/// One address for a group of actors: each message goes to all of them, as copies.
///
///     weir::Broadcast<Flush> caches({first, second});
///     caches.send<Flush>();
///     auto sizes = co_await weir::Broadcast(pool.router()).ask<Size>();   // one Result for each
///
/// Cheap to copy; copies share the members, which may change at any time. Usable from any thread.
/// Members that have stopped are passed over and forgotten.
template <Message... Ms>
class Broadcast {
 public:
  using Ref = ActorRef<Ms...>;
  template <class M>
  static constexpr bool accepts = Ref::template accepts<M>;

  Broadcast(std::initializer_list<Ref> members = {}) : router_(round_robin, members) {}
  /// To the members of a router or pool, as it changes.
  explicit Broadcast(Router<Ms...> router) noexcept : router_(std::move(router)) {}

  /// False if it is a member already, or has stopped.
  bool add(const Ref& member) { return router_.add(member); }
  /// False if it is no member.
  bool remove(const Ref& member) { return router_.remove(member); }
  std::vector<Ref> members() const { return router_.members(); }
  std::size_t size() const { return router_.size(); }

  /// Delivers `M{args...}` to every member that has room.
  template <class M, class... Args>
  BroadcastResult send(Args&&... args) const {
    const M message = make<M>(std::forward<Args>(args)...);
    BroadcastResult result;
    for (const internal::PinnedMember& member : group().pick_all()) {
      const bool is_sent = internal::send_copy(*member, message) == internal::SendStatus::sent;
      ++(is_sent ? result.accepted : result.refused);
    }
    return result;
  }

  /// `co_await all.deliver<M>(args...)`: waits for room in every mailbox; those that have some get
  /// the message at once.
  template <class M, class... Args>
  Task<BroadcastResult> deliver(Args&&... args) const {
    return internal::deliver_copies<BroadcastResult>(group().pick_all(),
                                                     make<M>(std::forward<Args>(args)...));
  }

  /// `co_await all.ask<M>(args...).within(1s)`: asks all side by side. Gives a
  /// `std::vector<Result<Reply>>` in the order of `members()`.
  template <class M, class... Args>
  internal::BroadcastAsk<M> ask(Args&&... args) const {
    static_assert(Request<M>, "weir: ask needs a request: a message with `using Reply = ...`");
    return internal::BroadcastAsk<M>(group().pick_all(), make<M>(std::forward<Args>(args)...));
  }

 private:
  template <class M, class... Args>
  static M make(Args&&... args) {
    static_assert(accepts<M>, "weir: the actors behind this broadcast do not handle this message");
    static_assert(std::copy_constructible<M>, "weir: a message to several actors must be copyable");
    return M{std::forward<Args>(args)...};
  }
  internal::Group& group() const noexcept { return internal::RouterAccess::group(router_); }

  Router<Ms...> router_;
};

}  // namespace weir
