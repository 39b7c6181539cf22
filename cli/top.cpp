#include <weir/cli/top.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/actors.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/terminal.hpp>
#include <weir/cli/top_screen.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A part that a server does not know, or does not tell this caller, is left out; without any of
/// them there is nothing to show.
Result<Sample> take_sample(Client& client) {
  Sample sample{.at = Clock::now(), .overview = {}, .flows = {}, .actors = {}, .trouble = {}};
  const std::pair<const char*, boost::json::value*> parts[] = {
      {"overview", &sample.overview}, {"flows", &sample.flows}, {"actors", &sample.actors}};
  Error last;
  bool has_any = false;
  for (const auto& [name, part] : parts) {
    auto answer = client.get(std::string("/api/v1/") + name);
    if (answer) {
      *part = std::move(answer->json);
      has_any = true;
      continue;
    }
    last = answer.error();
    if (last != Errc::unsupported && last != Errc::refused) return last;
    sample.trouble = last.detail();
  }
  if (!has_any) return last;
  return sample;
}

/// What a key is for.
enum class Key { none, quit, next, previous };

Key key_of(std::string_view bytes) noexcept {
  if (bytes == "q" || bytes == "Q") return Key::quit;
  if (bytes == "s" || bytes == "\x1b[C" || bytes == "\x1b[B") return Key::next;
  if (bytes == "S" || bytes == "\x1b[D" || bytes == "\x1b[A") return Key::previous;
  return Key::none;
}

/// Until a key, a signal or the time.
Key wait_for_key(Signals& signals, Clock::time_point until) {
  std::array<pollfd, 2> awaited = {{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                    {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(awaited.data(), awaited.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  if (signals.is_ended()) return Key::quit;
  if ((awaited[1].revents & (POLLIN | POLLHUP)) == 0) return Key::none;
  std::array<char, 16> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return count > 0 ? key_of({bytes.data(), static_cast<std::size_t>(count)}) : Key::quit;
}

std::string turned(const std::string& order, Key key) {
  constexpr auto count = static_cast<std::ptrdiff_t>(std::size(actor_orders));
  const auto place = std::ranges::find(actor_orders, order) - std::begin(actor_orders);
  return actor_orders[(place + (key == Key::next ? 1 : count - 1)) % count];
}

Result<> draw_until_told(Client& client, Signals& signals, const TopOptions& options,
                         Output& output) {
  auto before = take_sample(client);
  if (!before) return before.error();
  Sample now = *before;
  std::string order = options.order;
  const FullScreen screen;
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options.interval_seconds));
  Clock::time_point next = Clock::now() + interval;
  for (;;) {
    const std::string drawn = draw_top(*before, now,
                                       {.url = client.url(),
                                        .order = order,
                                        .size = terminal_size(),
                                        .is_coloured = output.is_coloured(),
                                        .keys = "q ends, s or arrows change the order of actors"});
    output.write("\x1b[H\x1b[2J" + drawn);
    if (auto written = output.flush(); !written) return written;
    const Key key = wait_for_key(signals, next);
    if (key == Key::quit) return {};
    if (key == Key::next || key == Key::previous) order = turned(order, key);
    if (Clock::now() < next) continue;
    next = Clock::now() + interval;
    auto taken = take_sample(client);
    if (!taken && taken.error() == weir::Errc::cancelled) return {};
    if (!taken) return taken.error();
    before = std::exchange(now, *std::move(taken));
  }
}

Result<> show_once(Client& client, Signals& signals, const TopOptions& options, Output& output) {
  const auto before = take_sample(client);
  if (!before) return before.error();
  signals.wait(std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(options.interval_seconds)));
  auto now = take_sample(client);
  if (!now) return now.error();
  if (output.is_json()) {
    boost::json::object told{{"overview", std::move(now->overview)},
                             {"flows", std::move(now->flows)}};
    if (now->actors.is_object()) told["actors"] = items(now->actors, "actors");
    output.line(boost::json::serialize(told));
    return {};
  }
  output.write(draw_top(
      *before, *now,
      {.url = client.url(), .order = options.order, .size = {.columns = 1000, .lines = 60}}));
  return {};
}

}  // namespace

Result<> show_top(const TopOptions& options, Output& output) {
  Signals signals;
  auto client = Client::open(options.server);
  if (!client) return client.error();
  client->obey(&signals);
  client->be_quiet();
  const bool is_live =
      ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !output.is_json();
  auto shown = is_live ? draw_until_told(*client, signals, options, output)
                       : show_once(*client, signals, options, output);
  if (!shown && shown.error() == weir::Errc::cancelled) return {};
  return shown;
}

}  // namespace weir::cli
