#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::compose {

namespace internal {

struct FollowerCore;
/// Called whenever something was done, or there was nothing to do: what was wrong before is over.
using WentOn = std::function<void()>;
/// Does what there is to do, and returns when it cannot go on: with the reason.
using Follow = std::function<Task<Result<>>(WentOn went_on)>;

}  // namespace internal

/// Something that follows something else, in the background. After a failure it begins again from
/// where it was, a second later, for as long as it is there.
class Follower {
 public:
  Follower(ActorSystem* system, std::string name, internal::Follow follow);
  Follower(Follower&&) noexcept;
  Follower& operator=(Follower&&) = delete;
  /// Stops it; inside an actor it does not wait for that.
  ~Follower();
  Task<Result<>> close();

  /// Why it could not go on the last time it tried; none if it goes on.
  std::optional<Error> failure() const;

 private:
  std::shared_ptr<internal::FollowerCore> core_;  // null when moved from
};

}  // namespace weir::flow::compose
