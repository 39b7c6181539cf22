#include <weir/flow/compose/follower.hpp>

#include <exception>
#include <mutex>
#include <utility>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir::flow::compose {
namespace internal {
namespace {

constexpr Duration pause_after_failure = std::chrono::seconds(1);

struct StartFollowing {};
struct StopFollowing {
  using Reply = bool;
};

}  // namespace

struct FollowerCore {
  ActorSystem* system;
  Follow follow;
  ActorRef<StartFollowing, StopFollowing> actor = {};
  std::shared_ptr<SequenceBarrier> gone = std::make_shared<SequenceBarrier>();
  bool is_closed = false;

  void set_failure(std::optional<Error> reason) {
    const std::scoped_lock hold(mutex);
    failure = std::move(reason);
  }

  std::mutex mutex;
  std::optional<Error> failure;  // guarded by `mutex`
};

namespace {

/// Nobody else would hear of what is thrown, and nothing would be tried again.
Task<Result<>> guarded(Follow follow, WentOn went_on) {
  try {
    co_return co_await follow(std::move(went_on));
  } catch (const ErrorException& exception) {
    co_return exception.error();
  } catch (const std::exception& exception) {
    co_return Error(weir::Errc::failed, exception.what());
  } catch (...) {
    co_return Error(weir::Errc::failed, "what was thrown is no std::exception");
  }
}

class FollowerActor final : public Actor<StartFollowing, StopFollowing> {
 public:
  static constexpr bool interleaves = true;

  explicit FollowerActor(std::shared_ptr<FollowerCore> core)
      : departure_(core->gone), core_(std::move(core)) {}

  void on(StartFollowing) { scope_.spawn(follow(core_)); }
  Task<Result<bool>> on(StopFollowing) {
    scope_.cancel_all();
    co_await scope_.join();
    stop();
    co_return true;
  }

 private:
  static Task<> follow(std::shared_ptr<FollowerCore> core) {
    const WentOn went_on = [core] { core->set_failure(std::nullopt); };
    for (;;) {
      auto ended = co_await guarded(core->follow, went_on);
      if (!ended && ended.error() == weir::Errc::cancelled) co_return;
      core->set_failure(ended.error());
      if (auto slept = co_await sleep_for(pause_after_failure); !slept) co_return;
    }
  }

  const Departure departure_;
  const std::shared_ptr<FollowerCore> core_;
  TaskScope scope_;
};

}  // namespace
}  // namespace internal

Follower::Follower(ActorSystem* system, std::string name, internal::Follow follow)
    : core_(std::make_shared<internal::FollowerCore>(system, std::move(follow))) {
  core_->actor =
      system->spawn<internal::FollowerActor>(SpawnOptions{.name = std::move(name)}, core_);
  core_->actor.send<internal::StartFollowing>();
}

Follower::Follower(Follower&&) noexcept = default;

Follower::~Follower() {
  if (!core_ || core_->is_closed) return;
  try {
    static_cast<void>(core_->system->run(close()));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it this.
    core_->actor.stop();
  }
}

Task<Result<>> Follower::close() {
  const auto core = core_;
  if (core->is_closed) co_return {};
  core->is_closed = true;
  auto stopped = co_await core->actor.ask<internal::StopFollowing>().within(forever);
  static_cast<void>(co_await core->gone->wait_until(1));
  core->follow = nullptr;
  if (!stopped) co_return stopped.error();
  co_return {};
}

std::optional<Error> Follower::failure() const {
  const std::scoped_lock hold(core_->mutex);
  return core_->failure;
}

}  // namespace weir::flow::compose
