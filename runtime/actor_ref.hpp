#pragma once

#include <compare>
#include <utility>

#include <weir/runtime/actor_id.hpp>
#include <weir/runtime/internal/ask.hpp>
#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/deliver.hpp>
#include <weir/runtime/send_result.hpp>

namespace weir {

template <class... Ms>
class WeakActorRef;

/// How an actor that is asked to stop treats what it has not handled yet.
enum class Stop : std::uint8_t {
  now,           // finish the handler that runs; refuse queued messages
  when_drained,  // handle everything queued so far first
  kill,          // do not even finish a suspended handler
};

/// The address of an actor that handles the messages `Ms`.
///
/// Cheap to copy; comparable and hashable by identity; usable from any thread. A reference to more
/// messages converts to a reference to fewer, so that an actor hands out only the rights it means
/// to. It stays valid when the actor restarts and after it has stopped; it does not keep the actor
/// running.
///
/// A message may hold a reference to actors that handle it: `Ms` need not be complete before the
/// reference is used.
template <class... Ms>
class ActorRef {
 public:
  template <class M>
  static constexpr bool accepts = (std::is_same_v<M, Ms> || ...);

  ActorRef() noexcept = default;
  ActorRef(const ActorRef& other) noexcept : cell_(other.cell_) {
    if (cell_) cell_->add_ref();
  }
  ActorRef(ActorRef&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  ActorRef& operator=(ActorRef other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~ActorRef() {
    if (cell_) cell_->release();
  }

  /// Narrows.
  template <class... Wider>
    requires(ActorRef<Wider...>::template accepts<Ms> && ...) &&
            (!std::is_same_v<ActorRef<Wider...>, ActorRef>)
  ActorRef(const ActorRef<Wider...>& other) noexcept : cell_(other.cell_) {
    if (cell_) cell_->add_ref();
  }
  template <class... Wider>
    requires(ActorRef<Wider...>::template accepts<Ms> && ...) &&
            (!std::is_same_v<ActorRef<Wider...>, ActorRef>)
  ActorRef(ActorRef<Wider...>&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}

  /// Delivers `M{args...}` or hands it back at once: `full` or `stopped`. Published at the latest
  /// when the handler that sends returns or suspends.
  template <class M, class... Args>
  SendResult<M> send(Args&&... args) const {
    require_accepts<M>();
    return internal::send_message<M>(cell_, std::forward<Args>(args)...);
  }
  template <class M>
  SendResult<std::remove_cvref_t<M>> send(M&& message) const {
    return send<std::remove_cvref_t<M>, M>(std::forward<M>(message));
  }

  /// `co_await ref.deliver<M>(args...)`: waits for room in the mailbox. Gives a `SendResult<M>`.
  template <class M, class... Args>
  internal::Deliver<M> deliver(Args&&... args) const {
    require_accepts<M>();
    return internal::Deliver<M>(cell_, std::forward<Args>(args)...);
  }

  /// `co_await ref.ask<M>(args...).within(1s)`: sends the request and waits for the reply. Gives a
  /// `Result<Reply>`: the reply, or `timed_out`, `stopped`, `full`, `failed`, `cancelled`,
  /// `deadlock`.
  template <class M, class... Args>
  typename internal::AskOf<M>::Type ask(Args&&... args) const {
    require_accepts<M>();
    static_assert(Request<M>, "weir: ask needs a request: a message with `using Reply = ...`");
    if constexpr (Request<M>) {
      return internal::Ask<M>(cell_, std::forward<Args>(args)...);
    } else {
      return {};
    }
  }

  /// Asks the actor to stop. Repeating it, or stopping a stopped actor, does nothing.
  void stop(Stop how = Stop::now) const { internal::stop_actor(cell_, static_cast<int>(how)); }

  /// True until the actor begins to stop: while true, a message is accepted if there is room.
  bool is_alive() const noexcept { return cell_ && cell_->is_running(); }

  ActorId id() const noexcept { return {cell_ ? cell_->id.load(std::memory_order_relaxed) : 0}; }
  explicit operator bool() const noexcept { return cell_ != nullptr; }

  friend bool operator==(const ActorRef& a, const ActorRef& b) noexcept {
    return a.cell_ == b.cell_;
  }
  friend auto operator<=>(const ActorRef& a, const ActorRef& b) noexcept {
    return a.id() <=> b.id();
  }

 private:
  template <class...>
  friend class ActorRef;
  template <class...>
  friend class WeakActorRef;
  friend struct internal::RefAccess;

  template <class M>
  static constexpr void require_accepts() {
    static_assert(accepts<M>, "weir: the actor behind this reference does not handle this message");
  }

  // Takes over a reference that has been counted.
  explicit ActorRef(internal::Cell* counted) noexcept : cell_(counted) {}

  internal::Cell* cell_ = nullptr;
};

/// An address that does not keep anything: `lock` gives the reference back while the actor's
/// address is still in use.
template <class... Ms>
class WeakActorRef {
 public:
  WeakActorRef() noexcept = default;
  WeakActorRef(const ActorRef<Ms...>& ref) noexcept : cell_(ref.cell_), id_(ref.id()) {}

  /// Empty if the actor is gone.
  ActorRef<Ms...> lock() const noexcept {
    if (!cell_ || !cell_->try_add_ref(id_.value)) return {};
    ActorRef<Ms...> ref(cell_);
    return ref.is_alive() ? ref : ActorRef<Ms...>{};
  }
  ActorId id() const noexcept { return id_; }

  friend bool operator==(const WeakActorRef& a, const WeakActorRef& b) noexcept {
    return a.id_ == b.id_;
  }

 private:
  internal::Cell* cell_ = nullptr;  // may be gone: its memory remains a cell
  ActorId id_;
};

namespace internal {

/// The runtime's own way into references.
struct RefAccess {
  template <class Ref>
  static Ref adopt(Cell* counted) noexcept {
    return Ref(counted);
  }
  template <class Ref>
  static Ref share(Cell* cell) noexcept {
    if (cell) cell->add_ref();
    return Ref(cell);
  }
  template <class Ref>
  static Cell* cell(const Ref& ref) noexcept {
    return ref.cell_;
  }
};

}  // namespace internal
}  // namespace weir

template <class... Ms>
struct std::hash<weir::ActorRef<Ms...>> {
  std::size_t operator()(const weir::ActorRef<Ms...>& ref) const noexcept {
    return std::hash<weir::ActorId>{}(ref.id());
  }
};
