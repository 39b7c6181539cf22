#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>

namespace weir {
namespace internal {

/// The messages somebody wants to send to an actor found by name.
struct WantedMessages {
  const MessageType* const* types;
  std::size_t count;
};

Result<> add_name(Core& core, std::string name, Cell* cell);
/// A counted reference to an actor that handles all of `wanted`.
Result<Cell*> find_name(Core& core, std::string_view name, WantedMessages wanted);
bool remove_name(Core& core, std::string_view name);
std::vector<std::string> list_names(Core& core);

}  // namespace internal

/// The named actors of a system. A view: cheap to make, usable from any thread.
///
///     weir::Registry registry(system);
///     registry.add("ledger", ledger).value();
///     auto account = registry.find<Deposit>("ledger");   // Result<ActorRef<Deposit>>
///
/// A name belongs to one living actor; it is free again when that one begins to stop. Registering
/// an actor does not keep it running.
class Registry {
 public:
  explicit Registry(ActorSystem& system) noexcept : core_(&system.core()) {}

  /// Fails with `already_exists` if another living actor has the name, `stopped` if this one has
  /// ended, and `invalid_argument` for an empty name or an actor of another system.
  template <Message... Ms>
  Result<> add(std::string name, const ActorRef<Ms...>& actor) {
    return internal::add_name(*core_, std::move(name), internal::RefAccess::cell(actor));
  }

  /// The actor called `name`, as one that handles these messages: `find<Deposit, Balance>("x")`, or
  /// all messages of a class: `find<Account>("x")`. Fails with `not_found`, and with `wrong_type`
  /// if the actor does not handle one of them.
  template <class... MessagesOrActor>
  auto find(std::string_view name) const {
    return find_as(name, static_cast<RefFor<MessagesOrActor...>*>(nullptr));
  }

  /// True if there was a living actor of this name.
  bool remove(std::string_view name) { return internal::remove_name(*core_, name); }

  /// In alphabetical order.
  std::vector<std::string> names() const { return internal::list_names(*core_); }

 private:
  template <class... Ms>
  struct RefOfMessages {
    using Type = ActorRef<Ms...>;
  };
  template <std::derived_from<ActorBase> A>
  struct RefOfMessages<A> {
    using Type = RefOf<A>;
  };
  template <class... Ts>
  using RefFor = typename RefOfMessages<Ts...>::Type;

  template <class... Ms>
  Result<ActorRef<Ms...>> find_as(std::string_view name, ActorRef<Ms...>*) const {
    // One more than needed: an array cannot be empty.
    static constexpr const internal::MessageType* types[] = {&internal::Envelope<Ms>::type_of...,
                                                             nullptr};
    Result<internal::Cell*> found = internal::find_name(*core_, name, {types, sizeof...(Ms)});
    if (!found) return found.error();
    return internal::RefAccess::adopt<ActorRef<Ms...>>(*found);
  }

  internal::Core* core_;
};

}  // namespace weir
