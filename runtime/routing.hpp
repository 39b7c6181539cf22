#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/runtime/internal/group.hpp>
#include <weir/runtime/message.hpp>

namespace weir {

/// One member after the other; a full one is passed over while others have room.
struct RoundRobin {};
inline constexpr RoundRobin round_robin{};

/// The member with the least to do: messages in its mailbox, unanswered requests, a suspended
/// handler. Looks at every member, so it suits groups of up to some dozens.
struct LeastLoaded {};
inline constexpr LeastLoaded least_loaded{};

/// The same member for the same key, as long as there is that member.
template <class Function>
struct ByKey {
  Function function;
};

/// `by_key([](const auto& message) { return message.account; })`: consistent hashing. The function
/// takes any message of the router and gives something that `std::hash` knows. When a member joins
/// or leaves a group of n, about one key in n moves.
template <class Function>
ByKey<std::decay_t<Function>> by_key(Function&& function) {
  return {std::forward<Function>(function)};
}

/// How a router of the messages `Ms` chooses: `round_robin`, `least_loaded` or `by_key(...)`.
template <Message... Ms>
class Routing {
 public:
  Routing(RoundRobin = {}) noexcept : rule_(internal::RoutingRule::in_turn) {}
  Routing(LeastLoaded) noexcept : rule_(internal::RoutingRule::least_loaded) {}
  template <class Function>
  Routing(ByKey<Function> key)
      : rule_(internal::RoutingRule::by_key), keys_(hasher<Ms>(key.function)...) {}

  internal::RoutingRule rule() const noexcept { return rule_; }

  /// What decides about `message`; zero if the rule does not look at it.
  template <class M>
  std::uint64_t key_of(const M& message) const {
    if (rule_ != internal::RoutingRule::by_key) return 0;
    return std::get<Hasher<M>>(keys_)(message);
  }

 private:
  template <class M>
  using Hasher = std::function<std::uint64_t(const M&)>;

  template <class M, class Function>
  static Hasher<M> hasher(const Function& function) {
    static_assert(std::invocable<const Function&, const M&>,
                  "weir: the function of by_key takes every message of its router");
    if constexpr (std::invocable<const Function&, const M&>) {
      using Key = std::remove_cvref_t<std::invoke_result_t<const Function&, const M&>>;
      return [function](const M& message) -> std::uint64_t {
        return std::hash<Key>{}(function(message));
      };
    }
  }

  internal::RoutingRule rule_;
  std::tuple<Hasher<Ms>...> keys_;
};

}  // namespace weir
