#pragma once

#include <concepts>
#include <type_traits>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/task.hpp>

namespace weir {

template <Message... Ms>
struct MessageList {};

namespace internal {

template <class>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

template <class A, class M>
concept Handles = requires(A& actor, M&& message) { actor.on(std::move(message)); };

template <class A, class M>
using HandlerResult = decltype(std::declval<A&>().on(std::declval<M&&>()));

// The reply that a handler's result stands for: T of `T`, `Result<T>`, `Task<T>`,
// `Task<Result<T>>`.
template <class R>
struct ReplyFrom {
  using Type = R;
};
template <class R>
struct ReplyFrom<Result<R>> : ReplyFrom<R> {};
template <class R>
struct ReplyFrom<Task<R>> : ReplyFrom<R> {};

template <class A, class M>
constexpr bool has_fitting_result() {
  using From = typename ReplyFrom<HandlerResult<A, M>>::Type;
  if constexpr (Request<M>) {
    return std::is_convertible_v<From, ReplyOf<M>>;  // void converts to void
  } else {
    return std::is_void_v<From>;
  }
}

template <class A>
concept HasStart = requires(A& actor) { actor.on_start(); };
template <class A>
concept HasStop = requires(A& actor) { actor.on_stop(); };
template <class A, class M>
concept ChoosesWhenReady = requires(const A& actor, const M& message) {
  { actor.ready_for(message) } -> std::convertible_to<bool>;
};
/// Runs the test's own task rather than a part of what is tested.
template <class A>
inline constexpr bool is_scenario = false;

template <class A>
concept Interleaves = requires { requires A::interleaves; };
template <class A>
concept LimitsInterleaving = requires { std::uint32_t{A::interleaved_max}; };

// Turns a finished coroutine's result into the reply of `envelope`.
template <class M, class T>
void set_reply_from(Envelope<M>& envelope, std::coroutine_handle<TaskPromise<T>> handle) {
  if constexpr (std::is_void_v<T>) {
    handle.promise().take();
    envelope.set_reply(Result<ReplyOf<M>>());
  } else {
    envelope.set_reply(handle.promise().take());
  }
}

template <class M, class T>
std::exception_ptr collect(Run& run) {
  auto handle = std::coroutine_handle<TaskPromise<T>>::from_address(run.handle.address());
  try {
    if constexpr (Request<M>) {
      if (run.request) {
        set_reply_from(*static_cast<Envelope<M>*>(run.request), handle);
        return nullptr;
      }
    }
    static_cast<void>(handle.promise().take());
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

struct NoMessage {};

template <class M, class T>
Outcome start_task(Task<T> task, Node* node, Cell& cell, std::uint8_t blocks) {
  auto handle = task.release();
  Run* run = new Run(cell, handle);
  handle.promise().root = run;
  run->collect = &collect<M, T>;
  return start_run(run, node, blocks);
}

template <class A, class M>
Outcome invoke_handler(void* object, Node* node, Cell& cell) {
  A& actor = *static_cast<A*>(object);
  auto& envelope = *static_cast<Envelope<M>*>(node);
  if constexpr (ChoosesWhenReady<A, M>) {
    if (!actor.ready_for(std::as_const(envelope.message()))) {
      cell.attention |= Cell::stashing;
      return Outcome::set_aside;
    }
  }
  using R = HandlerResult<A, M>;
  if constexpr (is_task<R>) {
    return start_task<M>(actor.on(std::move(envelope.message())), node, cell, Cell::suspended);
  } else if constexpr (!Request<M>) {
    static_cast<void>(actor.on(std::move(envelope.message())));
    return Outcome::done;
  } else if constexpr (std::is_void_v<R>) {
    actor.on(std::move(envelope.message()));
    envelope.set_reply(Result<ReplyOf<M>>());
    return Outcome::replied;
  } else {
    envelope.set_reply(actor.on(std::move(envelope.message())));
    return Outcome::replied;
  }
}

template <class A>
Outcome call_start(void* object, Cell& cell) {
  A& actor = *static_cast<A*>(object);
  if constexpr (is_task<decltype(actor.on_start())>) {
    return start_task<NoMessage>(actor.on_start(), nullptr, cell, Cell::starting);
  } else {
    actor.on_start();
    return Outcome::done;
  }
}

template <class A>
Outcome call_stop(void* object, Cell& cell) {
  A& actor = *static_cast<A*>(object);
  if constexpr (is_task<decltype(actor.on_stop())>) {
    return start_task<NoMessage>(actor.on_stop(), nullptr, cell, Cell::suspended);
  } else {
    actor.on_stop();
    return Outcome::done;
  }
}

void post_to_self(Cell& cell, Node* node) noexcept;

// A variable, not the concept: then the compiler names both types in the line of the assertion.
template <class A, class M>
inline constexpr bool has_handler = Handles<A, M>;

// What cannot be compiled is not tried, so that the assertion is the only error.
template <class A, class M>
consteval Invoke checked_handler() {
  static_assert(
      has_handler<A, M>,
      "weir: this actor lists a message in Actor<...> but has no public on(message) for it");
  if constexpr (Handles<A, M>) {
    static_assert(has_fitting_result<A, M>(),
                  "weir: on(message) must return the request's Reply, Result<Reply> or a Task of "
                  "those; for a message without Reply: void or Task<>");
    if constexpr (has_fitting_result<A, M>()) return &invoke_handler<A, M>;
  }
  return nullptr;
}

/// A message of an actor class and what handles it there.
struct HandlerEntry {
  const MessageType* message;
  Invoke invoke;
};

/// Makes the dispatch table of `type`, for the life of the process. Gives messages their places in
/// it, if they have none.
void make_table(ActorType& type, const HandlerEntry* entries, std::size_t count);

template <class A, class... Ms>
void make_table(ActorType& type, MessageList<Ms...>) {
  static constexpr HandlerEntry entries[] = {{nullptr, &handle_turn_marker},
                                             {&Envelope<Ms>::type_of, checked_handler<A, Ms>()}...};
  make_table(type, entries, sizeof...(Ms) + 1);
}

constexpr std::uint8_t cell_class_for(std::size_t bytes) noexcept {
  for (unsigned i = 0; i < pool_cell_classes; ++i) {
    if (bytes <= cell_class_bytes[i]) return static_cast<std::uint8_t>(pool_object_classes + i);
  }
  return 0;
}

template <class A, class... Ms>
constexpr bool lists(MessageList<Ms...>, auto probe) {
  return (std::is_same_v<Ms, decltype(probe)> || ...);
}

template <class A>
ActorType make_actor_type() {
  constexpr std::size_t inside_bytes = sizeof(Cell) + sizeof(A);
  constexpr bool fits = alignof(A) <= alignof(Cell) && cell_class_for(inside_bytes) != 0;
  ActorType type{
      .name = type_name<A>(),
      .pool_class = fits ? cell_class_for(inside_bytes) : cell_class_for(sizeof(Cell)),
      .object_inside = fits,
      .interleaves = Interleaves<A>,
      .is_spared = is_scenario<A>,
  };
  if constexpr (LimitsInterleaving<A>) type.interleaved_max = A::interleaved_max;
  make_table<A>(type, typename A::Messages{});
  type.destroy = [](void* object) noexcept { static_cast<A*>(object)->~A(); };
  if constexpr (HasStart<A>) type.start = &call_start<A>;
  if constexpr (HasStop<A>) type.stop = &call_stop<A>;
  if constexpr (A::template accepts<ChildStopped>) {
    type.child_stopped = [](Cell& cell, ChildStopped message) {
      post_to_self(cell, new Envelope<ChildStopped>(std::move(message)));
    };
  }
  type.object_bytes = sizeof(A);
  type.object_alignment = alignof(A);
  return type;
}

template <class A>
const ActorType& actor_type() {
  static const ActorType type = make_actor_type<A>();
  return type;
}

}  // namespace internal
}  // namespace weir
