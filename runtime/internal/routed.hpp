#pragma once

#include <utility>

#include <weir/runtime/internal/ask.hpp>
#include <weir/runtime/internal/deliver.hpp>
#include <weir/runtime/internal/group.hpp>

// What a router gives to await: the same as a reference, and the member is pinned meanwhile.
namespace weir::internal {

inline Cell* cell_of(const PinnedMember& member) noexcept {
  return member ? &member->cell : nullptr;
}

template <class M>
class [[nodiscard]] RoutedAsk {
 public:
  RoutedAsk(PinnedMember member, M&& message)
      : member_(std::move(member)), ask_(cell_of(member_), std::move(message)) {}

  /// Waits no longer than this for the reply; `forever` for as long as it takes.
  RoutedAsk&& within(Duration timeout) && noexcept {
    static_cast<void>(std::move(ask_).within(timeout));
    return std::move(*this);
  }
  auto operator co_await() && noexcept { return std::move(ask_).operator co_await(); }

 private:
  PinnedMember member_;
  Ask<M> ask_;
};

template <class M>
class [[nodiscard]] RoutedDeliver {
 public:
  RoutedDeliver(PinnedMember member, M&& message)
      : member_(std::move(member)), deliver_(cell_of(member_), std::move(message)) {}

  auto operator co_await() && noexcept { return std::move(deliver_).operator co_await(); }

 private:
  PinnedMember member_;
  Deliver<M> deliver_;
};

}  // namespace weir::internal
