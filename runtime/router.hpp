#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/internal/routed.hpp>
#include <weir/runtime/routing.hpp>

namespace weir {

namespace internal {
struct RouterAccess;
}

/// One address for a group of actors: each message goes to one of them.
///
///     weir::Router<Job> workers(weir::least_loaded, {first, second});
///     workers.send<Job>("report.pdf");
///     auto reply = co_await workers.ask<Status>().within(1s);
///
/// Cheap to copy; copies share the members, which may change at any time. Usable from any thread.
/// Members that have stopped are passed over and forgotten. With no member left, everything is
/// refused with `stopped`.
template <Message... Ms>
class Router {
 public:
  using Ref = ActorRef<Ms...>;
  template <class M>
  static constexpr bool accepts = Ref::template accepts<M>;

  explicit Router(Routing<Ms...> routing = {}, std::initializer_list<Ref> members = {})
      : Router(std::move(routing), std::vector<Ref>(members)) {}
  Router(Routing<Ms...> routing, const std::vector<Ref>& members)
      : state_(std::make_shared<State>(std::move(routing))) {
    for (const Ref& member : members) add(member);
  }

  /// False if it is a member already, or has stopped.
  bool add(const Ref& member) {
    internal::Cell* cell = internal::RefAccess::cell(member);
    return cell && state_->group.add(*cell);
  }
  /// False if it is no member. Messages that are in its mailbox stay there.
  bool remove(const Ref& member) {
    internal::Cell* cell = internal::RefAccess::cell(member);
    return cell && state_->group.remove(*cell, false);
  }

  /// The members that live.
  std::vector<Ref> members() const {
    std::vector<Ref> all;
    for (const internal::PinnedMember& member : state_->group.pick_all()) {
      all.push_back(internal::RefAccess::share<Ref>(&member->cell));
    }
    return all;
  }
  std::size_t size() const { return state_->group.size(); }

  /// As `ActorRef::send`. A member that stops at this moment hands the message on to another.
  template <class M, class... Args>
  SendResult<M> send(Args&&... args) const {
    require_accepts<M>();
    auto envelope = std::make_unique<internal::Envelope<M>>(std::forward<Args>(args)...);
    const std::uint64_t key = state_->routing.key_of(envelope->message());
    const internal::SendStatus status = state_->group.send(envelope.get(), key);
    internal::Envelope<M>* sent_or_returned = envelope.release();
    if (status == internal::SendStatus::sent) return {};
    return SendResult<M>(status == internal::SendStatus::full ? Errc::full : Errc::stopped,
                         sent_or_returned);
  }
  template <class M>
  SendResult<std::remove_cvref_t<M>> send(M&& message) const {
    return send<std::remove_cvref_t<M>, M>(std::forward<M>(message));
  }

  /// As `ActorRef::deliver`: `co_await router.deliver<M>(args...)`.
  template <class M, class... Args>
  internal::RoutedDeliver<M> deliver(Args&&... args) const {
    require_accepts<M>();
    M message{std::forward<Args>(args)...};
    return {pick(message), std::move(message)};
  }

  /// As `ActorRef::ask`: `co_await router.ask<M>(args...).within(1s)`.
  template <class M, class... Args>
  internal::RoutedAsk<M> ask(Args&&... args) const {
    require_accepts<M>();
    static_assert(Request<M>, "weir: ask needs a request: a message with `using Reply = ...`");
    M message{std::forward<Args>(args)...};
    return {pick(message), std::move(message)};
  }

  friend bool operator==(const Router& a, const Router& b) noexcept { return a.state_ == b.state_; }

 private:
  friend struct internal::RouterAccess;

  struct State {
    explicit State(Routing<Ms...> how) : routing(std::move(how)), group(routing.rule()) {}
    const Routing<Ms...> routing;
    internal::Group group;
  };

  template <class M>
  static constexpr void require_accepts() {
    static_assert(accepts<M>, "weir: the actors behind this router do not handle this message");
  }
  template <class M>
  internal::PinnedMember pick(const M& message) const {
    return state_->group.pick(state_->routing.key_of(message));
  }

  std::shared_ptr<State> state_;
};

namespace internal {

/// The runtime's own way into routers.
struct RouterAccess {
  template <class R>
  static Group& group(const R& router) noexcept {
    return router.state_->group;
  }
};

}  // namespace internal
}  // namespace weir
