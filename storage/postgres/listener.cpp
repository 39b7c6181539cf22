#include <weir/storage/postgres/listener.hpp>

#include <weir/storage/postgres/errc.hpp>
#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/storage/postgres/internal/listener_actor.hpp>
#include <weir/storage/postgres/internal/pool_core.hpp>

namespace weir::storage::postgres {
namespace {

Result<> check_channels(const std::vector<std::string>& channels) {
  constexpr std::size_t length_max = 63;  // the server would cut the rest off
  if (channels.empty()) return Error(Errc::invalid_argument, "no channel to listen to");
  for (const std::string& channel : channels) {
    const bool has_zero = channel.find('\0') != std::string::npos;
    if (channel.empty() || channel.size() > length_max || has_zero) {
      return Error(Errc::invalid_argument, "channel \"" + channel + "\": a name of 1 to 63 bytes");
    }
  }
  return {};
}

}  // namespace

Result<Listener> Listener::open(ActorSystem& system, Options options,
                                std::vector<std::string> channels, Callback callback) {
  if (auto valid = internal::check_options(options); !valid) return valid.error();
  if (auto valid = check_channels(channels); !valid) return valid.error();
  auto parameters = internal::parse_connection(options);
  if (!parameters) return parameters.error();
  auto core = std::make_shared<internal::ListenerCore>();
  const SpawnOptions spawning{.name = options.name + ".listener"};
  core->actor =
      system.spawn<internal::ListenerActor>(spawning, std::move(options), *std::move(parameters),
                                            std::move(channels), std::move(callback), core->status);
  return Listener(std::move(core));
}

bool Listener::is_listening() const { return core_->status->is_listening.load(); }

std::uint64_t Listener::reconnects() const {
  const std::uint64_t begun = core_->status->begun.load();
  return begun == 0 ? 0 : begun - 1;
}

void Listener::close() const { core_->actor.stop(); }

}  // namespace weir::storage::postgres
