#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/postgres/options.hpp>

namespace weir::storage::postgres {

namespace internal {
struct ListenerCore;
}

/// What `notify` said on a channel.
struct Notification {
  std::string channel;
  std::string payload = {};
  /// Listening has begun, at first or again after the connection was lost: what was said before
  /// did not come. Look at what you wait for.
  bool may_have_missed = false;
};

/// Listens to channels on a connection of its own, which it makes again when it is lost.
///
/// For each channel one notification that says `may_have_missed` comes when listening begins; so
/// who looks at its tables whenever a notification comes misses nothing, and need not poll.
///
/// A handle: cheap to copy, usable from any thread. Listening ends with the last handle.
class Listener {
 public:
  /// Called by an actor of the system: it must be quick, and must not throw.
  using Callback = std::function<void(const Notification&)>;

  /// `invalid_argument` for options that make no sense and for channels without a name or with one
  /// of more than 63 bytes.
  static Result<Listener> open(ActorSystem& system, Options options,
                               std::vector<std::string> channels, Callback callback);
  /// Sends notifications to an actor. One that its mailbox has no room for is lost: let it have
  /// room for one, and look at everything when it comes.
  template <class... Ms>
  static Result<Listener> open(ActorSystem& system, Options options,
                               std::vector<std::string> channels, ActorRef<Ms...> receiver) {
    const ActorRef<Notification> narrow = std::move(receiver);
    return open(system, std::move(options), std::move(channels),
                [narrow](const Notification& notification) {
                  static_cast<void>(narrow.template send<Notification>(notification));
                });
  }

  bool is_listening() const;
  /// How often listening has begun again.
  std::uint64_t reconnects() const;

  void close() const;

 private:
  explicit Listener(std::shared_ptr<internal::ListenerCore> core) noexcept
      : core_(std::move(core)) {}

  std::shared_ptr<internal::ListenerCore> core_;
};

}  // namespace weir::storage::postgres
