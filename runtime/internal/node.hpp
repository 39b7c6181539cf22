#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/message.hpp>
#include <weir/runtime/result.hpp>

namespace weir::internal {

struct Cell;
struct Node;
struct RequestNode;
class ReplyWaiter;

/// What the runtime knows about a message type. One constant-initialised object per type; its
/// address is the type's identity.
struct MessageType {
  // The text that names the type; taken apart when somebody reads the name.
  const char* signature;
  // Ends the message in a node and gives the node back to its pool.
  void (*dispose)(Node*) noexcept;
  // Replaces the message of a request by an error.
  void (*refuse)(RequestNode*, Error) noexcept;
  // The pool class of a node whose message needs no destructor; `keep_destructor` otherwise.
  std::uint8_t trivial_pool_class;
  bool is_request;
  bool is_notice = false;
  // Position in the dispatch tables; assigned when the first actor that handles the type is
  // spawned.
  mutable std::atomic<std::uint32_t> index{0};

  // Where the name is in the signature: first character and length, 16 bits each; zero until
  // somebody has read it.
  mutable std::atomic<std::uint32_t> name_place{0};

  static constexpr std::uint8_t keep_destructor = 0xff;

  std::string_view name() const noexcept {
    const std::uint32_t place = name_place.load(std::memory_order_relaxed);
    return place != 0 ? std::string_view(signature + (place >> 16), place & 0xffff) : find_name();
  }
  std::string_view find_name() const noexcept;
};

/// A message on its way: the entry of a mailbox.
///
///     Link::next | type and flags | trace | [home | waiter | id, of requests] | message
struct Node : Link {
  enum Flag : std::uintptr_t {
    is_timer = 1,   // a TimerMessageBase stands before it
    has_reply = 2,  // the reply, or the error, has replaced the message
    unhandled = 4,  // no handler saw the request
    flag_mask = 7,
  };

  explicit Node(const MessageType& type) noexcept
      : type_and_flags(reinterpret_cast<std::uintptr_t>(&type)) {}

  const MessageType& type() const noexcept {
    return *reinterpret_cast<const MessageType*>(type_and_flags & ~flag_mask);
  }
  bool has(Flag flag) const noexcept { return (type_and_flags & flag) != 0; }

  Node* next_node() const noexcept {
    return reinterpret_cast<Node*>(next.load(std::memory_order_acquire));
  }
  void link_to(Node* node, std::memory_order order) noexcept {
    next.store(reinterpret_cast<std::uintptr_t>(node), order);
  }

  std::uintptr_t type_and_flags;
  // The trace this message belongs to; zero when it is not recorded.
  std::uintptr_t trace = 0;
};

/// A request in flight. It leaves its `home` with the message and always comes back there, with the
/// reply or the reason why there is none, so its address identifies the request until then.
struct RequestNode : Node {
  using Node::Node;

  Cell* home = nullptr;  // null when sent without waiting for the answer
  // Cleared by the home when the caller no longer waits.
  std::atomic<ReplyWaiter*> waiter{nullptr};
  std::uint64_t id = 0;

  bool is_abandoned() const noexcept {
    return home != nullptr && waiter.load(std::memory_order_relaxed) == nullptr;
  }
};

template <Message M>
struct Envelope final : Node, Pooled {
  template <class... Args>
  explicit Envelope(Args&&... args) : Node(type_of), content{std::forward<Args>(args)...} {}

  M& message() noexcept { return content; }

  static void dispose(Node* node) noexcept { delete static_cast<Envelope*>(node); }
  static const MessageType type_of;

  M content;
};

/// Room for the message of a request and, once it is answered, for the reply. Requests with the
/// same reply and room share what is here: it is compiled once and not for each of them.
template <class Reply, std::size_t Bytes, std::size_t Alignment>
struct RequestRoom : RequestNode, Pooled {
  explicit RequestRoom(const MessageType& type) noexcept : RequestNode(type) {}
  ~RequestRoom() {
    if (has(has_reply)) reply.~Result();
  }

  // For messages that need no destructor.
  static void dispose(Node* node) noexcept {
    auto* room = static_cast<RequestRoom*>(node);
    room->~RequestRoom();
    pool_deallocate(room, sizeof(RequestRoom));
  }
  static void refuse(RequestNode* node, Error error) noexcept {
    static_cast<RequestRoom*>(node)->replace_message(std::move(error));
  }

  template <class Value>
  void replace_message(Value&& value) {
    ::new (&reply) Result<Reply>(std::forward<Value>(value));
    type_and_flags |= has_reply;
  }

  union {
    Result<Reply> reply;
    alignas(Alignment) std::byte message_bytes[Bytes];
  };
};

template <Request M>
struct Envelope<M> final : RequestRoom<ReplyOf<M>, sizeof(M), alignof(M)> {
  using Room = RequestRoom<ReplyOf<M>, sizeof(M), alignof(M)>;

  template <class... Args>
  explicit Envelope(Args&&... args) : Room(type_of) {
    ::new (this->message_bytes) M{std::forward<Args>(args)...};
  }
  ~Envelope() {
    if (!this->has(Node::has_reply)) message().~M();
  }

  M& message() noexcept { return *std::launder(reinterpret_cast<M*>(this->message_bytes)); }

  template <class Value>
  void set_reply(Value&& value) {
    using Made = Result<ReplyOf<M>>;
    if constexpr (std::is_nothrow_constructible_v<Made, Value>) {
      message().~M();
      this->replace_message(std::forward<Value>(value));
    } else {
      // First made elsewhere: if that throws, the message must still be there.
      Made made(std::forward<Value>(value));
      message().~M();
      this->replace_message(std::move(made));
    }
  }

  static void dispose(Node* node) noexcept { delete static_cast<Envelope*>(node); }
  static void refuse(RequestNode* node, Error error) noexcept {
    static_cast<Envelope*>(node)->set_reply(std::move(error));
  }
  static const MessageType type_of;
};

template <class M>
constexpr std::uint8_t trivial_pool_class_of() noexcept {
  if constexpr (!Request<M> && std::is_trivially_destructible_v<M> && !WEIR_POOL_USES_MALLOC &&
                sizeof(Envelope<M>) <= pool_object_bytes_max) {
    return static_cast<std::uint8_t>(pool_class_of(sizeof(Envelope<M>)));
  } else {
    return MessageType::keep_destructor;
  }
}

/// Shared by the messages of one size that need no destructor.
template <std::size_t Bytes>
void free_node(Node* node) noexcept {
  pool_deallocate(node, Bytes);
}

/// What a message type has in common with others, if its messages need no destructor.
template <class M>
constexpr MessageType describe_type() noexcept {
  using E = Envelope<M>;
  constexpr bool is_plain = std::is_trivially_destructible_v<M>;
  constexpr std::uint8_t keep = MessageType::keep_destructor;
  if constexpr (!Request<M> && is_plain) {
    return {signature_with<M>(),
            &free_node<sizeof(E)>,
            nullptr,
            trivial_pool_class_of<M>(),
            false,
            Notice<M>};
  } else if constexpr (!Request<M>) {
    return {signature_with<M>(), &E::dispose, nullptr, keep, false, Notice<M>};
  } else if constexpr (is_plain) {
    static_assert(sizeof(E) == sizeof(typename E::Room));
    return {signature_with<M>(), &E::Room::dispose, &E::Room::refuse, keep, true};
  } else {
    return {signature_with<M>(), &E::dispose, &E::refuse, keep, true};
  }
}

template <Message M>
inline constinit const MessageType Envelope<M>::type_of = describe_type<M>();
template <Request M>
inline constinit const MessageType Envelope<M>::type_of = describe_type<M>();

void dispose_timer(Node* node) noexcept;
void free_sampled_trail(Node* node) noexcept;
/// The message forgets its trace.
inline void free_trail(Node* node) noexcept {
  if (node->trace > 1) [[unlikely]]
    free_sampled_trail(node);
}

/// Ends a message that has been handled, and so has no trail any more, and frees its node.
inline void dispose_handled(Node* node) noexcept {
  const MessageType& type = node->type();
  if (node->has(Node::is_timer)) [[unlikely]] {
    dispose_timer(node);
  } else if (type.trivial_pool_class != MessageType::keep_destructor) [[likely]] {
    pool_give(type.trivial_pool_class, node);
  } else {
    type.dispose(node);
  }
}

/// Ends any message and frees its node.
inline void dispose(Node* node) noexcept {
  free_trail(node);
  dispose_handled(node);
}

}  // namespace weir::internal
