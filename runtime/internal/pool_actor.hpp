#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/pool_options.hpp>
#include <weir/runtime/router.hpp>

namespace weir {

template <class A>
class ActorPool;

namespace internal {

struct ResizePool {
  std::size_t workers;
};
struct DrainPool {};
struct RefillPool {};
struct LookAtPool {};

template <class List>
struct RouterOfList;
template <class... Ms>
struct RouterOfList<MessageList<Ms...>> {
  using Type = Router<Ms...>;
};
template <class A>
using PoolRouter = typename RouterOfList<typename A::Messages>::Type;

/// Throws `std::invalid_argument` if a pool of this size cannot be.
void check_pool(std::string_view worker_type, std::size_t size,
                const std::optional<PoolLimits>& limits);
/// In a handler: the pool could not start a worker, and why.
void report_missing_worker(std::string_view worker_type, const char* reason) noexcept;
/// The actor under construction or running on this thread; throws `std::logic_error` without one.
Cell& parent_for_pool();

/// Starts, replaces and removes the workers of a pool. Messages do not pass through it.
template <class A, class... Args>
class PoolActor final : public Actor<ResizePool, DrainPool, RefillPool, LookAtPool, ChildStopped> {
 public:
  PoolActor(PoolOptions<A> options, PoolRouter<A> router, const Args&... args)
      : options_(std::move(options)),
        router_(std::move(router)),
        arguments_(args...),
        wanted_(options_.size) {
    check_pool(type_name<A>(), options_.size, options_.limits);
    fill();
  }
  ~PoolActor() { group().remove_all(false); }

  void on_start() {
    if (options_.limits) schedule_every<LookAtPool>(options_.limits->every);
  }

  void on(ResizePool resize) {
    if (is_draining_) return;
    const auto& limits = options_.limits;
    wanted_ = limits ? std::clamp(resize.workers, limits->min, limits->max) : resize.workers;
    fill_or_try_again();
    while (workers_.size() > wanted_) remove_last();
  }

  void on(DrainPool) {
    is_draining_ = true;
    while (!workers_.empty()) remove_last();
    stop_if_drained();
  }

  void on(LookAtPool) {
    if (is_draining_) return;
    const std::size_t next = next_pool_size(*options_.limits, workers_.size(), group().depth());
    if (next != workers_.size()) on(ResizePool{next});
  }

  void on(RefillPool) {
    will_refill_ = false;
    if (!is_draining_) fill_or_try_again();
  }

  void on(ChildStopped child) {
    const auto at = std::find_if(workers_.begin(), workers_.end(), [&](const RefOf<A>& worker) {
      return worker.id() == child.actor;
    });
    if (at == workers_.end()) {
      // Or one whose constructor threw.
      std::erase(leaving_, child.actor);
      stop_if_drained();
      return;
    }
    workers_.erase(at);
    refill_later();
  }

 private:
  Group& group() const noexcept { return RouterAccess::group(router_); }

  void fill() {
    while (workers_.size() < wanted_) {
      auto worker = std::apply(
          [this](const Args&... args) { return spawn<A>(worker_options(), args...); }, arguments_);
      if (!worker) return;  // the system is stopping
      router_.add(worker);
      workers_.push_back(std::move(worker));
    }
  }

  // Once it lives, a worker that cannot be made is no reason to stop the others.
  void fill_or_try_again() {
    try {
      fill();
      return;
    } catch (const std::exception& error) {
      report_missing_worker(type_name<A>(), error.what());
    } catch (...) {
      report_missing_worker(type_name<A>(), "an exception that is not a std::exception");
    }
    refill_later();
  }

  // Not at once: a worker that cannot live would be started over and over.
  void refill_later() {
    if (is_draining_ || std::exchange(will_refill_, true)) return;
    schedule_once<RefillPool>(options_.replace_after);
  }

  SpawnOptions worker_options() {
    SpawnOptions options = options_.worker;
    const std::string& base = options.name.empty() ? options_.name : options.name;
    if (!base.empty()) options.name = base + "." + std::to_string(++started_);
    return options;
  }

  void remove_last() {
    const RefOf<A> worker = std::move(workers_.back());
    workers_.pop_back();
    leaving_.push_back(worker.id());
    group().remove(*RefAccess::cell(worker), true);
  }

  void stop_if_drained() {
    if (is_draining_ && leaving_.empty()) stop();
  }

  const PoolOptions<A> options_;
  PoolRouter<A> router_;
  const std::tuple<Args...> arguments_;
  std::size_t wanted_;
  std::vector<RefOf<A>> workers_;
  std::vector<ActorId> leaving_;  // removed and not ended yet
  std::uint64_t started_ = 0;
  bool will_refill_ = false;
  bool is_draining_ = false;
};

template <class A, class... Args>
ActorPool<A> spawn_pool_under(Core& core, Cell* parent, PoolOptions<A> options,
                              const Args&... args);

}  // namespace internal
}  // namespace weir
