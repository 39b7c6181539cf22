#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/spawn.hpp>
#include <weir/runtime/internal/watch.hpp>
#include <weir/runtime/stop_reason.hpp>
#include <weir/runtime/timer.hpp>

namespace weir {

class ActorSystem;

/// What every actor can do, whatever its messages.
///
/// Everything here is for the actor's own handlers: they run one at a time, so nothing needs a
/// lock.
class ActorBase {
 public:
  ActorBase(const ActorBase&) = delete;
  ActorBase& operator=(const ActorBase&) = delete;

 protected:
  ActorBase() noexcept : cell_(internal::cell_under_construction()) {}
  ~ActorBase() = default;

  ActorId id() const noexcept;
  const std::string& name() const noexcept;
  ActorSystem& system() const noexcept;

  /// The system's clock; virtual under simulation.
  TimePoint now() const noexcept;
  /// From the system's generator; the same for the same seed under simulation.
  std::uint64_t random() const noexcept;

  /// Stops this actor when the handler that runs has finished. Queued messages are refused.
  void stop() noexcept;

  /// Starts a child: it is supervised as its options say and stops when this actor stops.
  template <class A, class... Args>
  auto spawn(Args&&... args) {
    return internal::spawn<A>(*cell_->core, cell_, nullptr, std::forward<Args>(args)...);
  }
  template <class A, class... Args>
  auto spawn(SpawnOptions options, Args&&... args) {
    return internal::spawn<A>(*cell_->core, cell_, &options, std::forward<Args>(args)...);
  }

  /// Handles the messages set aside by `ready_for` before any others.
  void unstash() noexcept;

  /// True if the caller of the request being handled has given up.
  bool is_cancelled() const noexcept;

  /// Fails this actor when `other` fails. One way: call it on both sides for a mutual link.
  template <Message... Ms>
  void link(const ActorRef<Ms...>& other) {
    if (other) internal::watch(*cell_, *internal::RefAccess::cell(other), true, nullptr);
  }
  /// Ends a link, and only that: `other` may still be monitored.
  template <Message... Ms>
  void unlink(const ActorRef<Ms...>& other) noexcept {
    if (other) internal::unwatch(*cell_, *internal::RefAccess::cell(other), true);
  }
  /// No `Terminated` of `other` comes any more, unless it is in the mailbox already. A link
  /// remains.
  template <Message... Ms>
  void unmonitor(const ActorRef<Ms...>& other) noexcept {
    if (other) internal::unwatch(*cell_, *internal::RefAccess::cell(other), false);
  }

  internal::Cell& cell() const noexcept { return *cell_; }
  static Timer make_timer(internal::TimerMessageBase& armed) noexcept { return Timer(armed); }

 private:
  internal::Cell* cell_;
};

/// An actor that handles the messages `Ms`, each with a public `on(M)`.
///
/// `on` returns `void`, or for a request its `Reply` or `Result<Reply>`, or a `Task` of those. A
/// coroutine handler suspends the actor, not a thread: the next message waits until it has
/// finished, unless the class says `static constexpr bool interleaves = true;`. If its handlers may
/// wait for messages that are yet to come, it says `static constexpr std::uint32_t interleaved_max
/// = weir::unbounded;` too: otherwise nothing is handled any more once so many wait as the system's
/// options allow.
///
/// Optional members, found by name: `on_start()` before the first message and `on_stop()` after the
/// last (both may return `Task<>`), and `bool ready_for(const M&) const`, which sets a message
/// aside until `unstash()` or the next change of phase.
template <Message... Ms>
class Actor : public ActorBase {
 public:
  using Messages = MessageList<Ms...>;
  using Ref = ActorRef<Ms...>;

  template <class M>
  static constexpr bool accepts = Ref::template accepts<M>;

 protected:
  Ref self() const noexcept { return internal::RefAccess::share<Ref>(&cell()); }

  /// Sends `M{args...}` to this actor after `delay`.
  template <class M, class... Args>
  Timer schedule_once(Duration delay, Args&&... args) {
    check_schedule<M>(delay);
    auto* timer = new internal::TimerMessage<M>(std::forward<Args>(args)...);
    internal::arm_timer(*timer, cell(), delay.count());
    return make_timer(*timer);
  }

  /// Sends `M{args...}` to this actor every `period`, for the first time one period from now.
  template <class M, class... Args>
  Timer schedule_every(Duration period, Args&&... args) {
    return schedule_every<M>(Every::fixed_rate, period, std::forward<Args>(args)...);
  }
  template <class M, class... Args>
  Timer schedule_every(Every mode, Duration period, Args&&... args) {
    check_schedule<M>(period);
    if (period == Duration::zero()) {
      throw std::invalid_argument(
          "schedule_every: a period of zero would never let the actor rest");
    }
    auto* timer = new internal::RepeatedMessage<M>(mode, period, std::forward<Args>(args)...);
    internal::arm_timer(*timer, cell(), period.count());
    return make_timer(*timer);
  }

  /// Delivers `Terminated` to this actor when `other` ends; at once if it has ended already. Asked
  /// again before that it still delivers one.
  template <Message... Others>
  void monitor(const ActorRef<Others...>& other) {
    static_assert(accepts<Terminated>, "weir: an actor that monitors handles weir::Terminated");
    if (!other) return;
    internal::watch(cell(), *internal::RefAccess::cell(other), false,
                    [](internal::Cell& watcher, Terminated message) {
                      internal::post_to_self(
                          watcher, new internal::Envelope<Terminated>(std::move(message)));
                    });
  }

 private:
  template <class M>
  static void check_schedule(Duration delay) {
    static_assert(accepts<M>, "weir: an actor schedules messages that it handles itself");
    if (delay < Duration::zero()) {
      throw std::invalid_argument("schedule: the delay of " + std::string(type_name<M>()) +
                                  " is negative (" + std::to_string(delay.count()) + " ns)");
    }
  }
};

/// The reference type of an actor class.
template <class A>
using RefOf = typename A::Ref;

}  // namespace weir
