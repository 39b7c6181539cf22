#pragma once

#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/internal/actor_type.hpp>
#include <weir/runtime/internal/core_access.hpp>
#include <weir/runtime/spawn_options.hpp>

namespace weir::internal {

/// Builds an actor again from copies of its constructor arguments.
template <class A, class... Args>
struct CopyingFactory final : Factory {
  explicit CopyingFactory(const Args&... values) : arguments(values...) {}

  void construct(void* memory) override {
    std::apply([&](const Args&... values) { new (memory) A(Args(values)...); }, arguments);
  }

  std::tuple<Args...> arguments;
};

/// Marks `cell` as the one whose object is being constructed on this thread.
class ConstructionScope {
 public:
  explicit ConstructionScope(Cell* cell) noexcept;
  ~ConstructionScope();
  ConstructionScope(const ConstructionScope&) = delete;

 private:
  Cell* outer_;
};

Cell* cell_under_construction() noexcept;

/// Starts an actor; without options, with all defaults.
template <class A, class... Args>
typename A::Ref spawn(Core& core, Cell* parent, SpawnOptions* options, Args&&... args) {
  static_assert(std::is_constructible_v<A, Args...>,
                "weir: spawn<A>(args...) needs a constructor A(args...)");
  const bool restarts =
      options && options->supervision.directive == Supervision::Directive::restart;
  Cell* cell = prepare_cell({actor_type<A>(), options, parent, core});
  if (!cell) [[unlikely]]
    return {};
  try {
    if (restarts) [[unlikely]] {
      if constexpr ((std::is_copy_constructible_v<std::decay_t<Args>> && ...) &&
                    std::is_constructible_v<A, std::decay_t<Args>...>) {
        set_factory(*cell, new CopyingFactory<A, std::decay_t<Args>...>(args...));
      } else {
        throw std::invalid_argument(
            "spawn of " + std::string(type_name<A>()) +
            ": an actor that restarts needs copyable constructor arguments");
      }
    }
    ConstructionScope scope(cell);
    new (cell->object) A(std::forward<Args>(args)...);
  } catch (...) {
    discard_cell(cell);
    throw;
  }
  auto ref = RefAccess::share<typename A::Ref>(cell);
  adopt(cell);
  return ref;
}

}  // namespace weir::internal
