// An actor with a protocol: it connects, retries, and sends lines once it is connected.

#include <cstdio>
#include <string>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/sleep.hpp>

namespace line {

using namespace std::chrono_literals;

struct Dial {
  using Reply = int;  // the number of the session
};

/// The other end: busy at first, then slow, then fine.
class Exchange final : public weir::Actor<Dial> {
 public:
  weir::Task<weir::Result<int>> on(Dial) {
    ++calls_;
    if (calls_ == 1) co_return weir::Error(weir::Errc::closed, "busy");
    if (calls_ == 2) static_cast<void>(co_await weir::sleep_for(30ms));
    co_return 100 + calls_;
  }

 private:
  int calls_ = 0;
};

// [messages]
struct Connect {};
struct Write {
  std::string text;
};
struct Status {
  using Reply = std::string;
};
// [/messages]

// [actor]
enum class Phase { idle, connecting, waiting, ready };

class Link final : public weir::Actor<Connect, Write, Status>, public weir::Phased<Link, Phase> {
 public:
  static constexpr weir::PhaseRule<Phase> phases[] = {
      {.phase = Phase::idle, .to = {Phase::connecting}},
      {.phase = Phase::connecting, .to = {Phase::ready, Phase::waiting}, .limit = 15ms},
      {.phase = Phase::waiting, .to = {Phase::connecting}},
      {.phase = Phase::ready},
  };

  explicit Link(weir::ActorRef<Dial> exchange) : exchange_(std::move(exchange)) {}

  // Lines that come too early are set aside until the phase changes.
  bool ready_for(const Write&) const { return phase() == Phase::ready; }

  weir::Task<> on(Connect) {
    for (weir::Duration pause = 5ms;; pause *= 2) {
      enter<Phase::connecting>();
      const weir::Result<int> session = co_await exchange_.ask<Dial>();
      if (session) {
        session_ = *session;
        break;
      }
      enter<Phase::connecting, Phase::waiting>();
      if (!co_await weir::sleep_for(pause)) co_return;
    }
    enter<Phase::connecting, Phase::ready>();
  }

  void on(Write line) { std::printf("  session %d: %s\n", session_, line.text.c_str()); }
  std::string on(Status) const { return std::string(phase_name()); }

 private:
  weir::ActorRef<Dial> exchange_;
  int session_ = 0;
};
// [/actor]

weir::Task<> talk(weir::RefOf<Link> link) {
  link.send<Write>("this line waits");
  link.send<Write>("and so does this one");
  link.send<Connect>();
  link.send<Write>("the last line");
  std::printf("the link is %s\n", (co_await link.ask<Status>()).value().c_str());
  std::printf("connecting again, by mistake:\n");
  link.send<Connect>();
  std::printf("the link is %s\n", (co_await link.ask<Status>()).value().c_str());
}

// [hook]
void print(const weir::PhaseEvent& event) {
  const std::string from(event.from);
  const std::string to(event.to);
  switch (event.kind) {
    case weir::PhaseEvent::Kind::entered:
      std::printf("[%s%s%s]\n", from.c_str(), from.empty() ? "" : " -> ", to.c_str());
      break;
    case weir::PhaseEvent::Kind::overdue: std::printf("[%s takes too long]\n", to.c_str()); break;
    case weir::PhaseEvent::Kind::illegal:
      std::printf("[%s -> %s is not allowed]\n", from.c_str(), to.c_str());
      break;
  }
}
// [/hook]

}  // namespace line

int main() {
  weir::ActorSystem system({
      .on_failure = [](const weir::ActorFailure&) { std::printf("the link failed: restarting\n"); },
      .on_phase = &line::print,
  });
  const auto exchange = system.spawn<line::Exchange>();
  const auto link =
      system.spawn<line::Link>({.name = "link",
                                .supervision = {.directive = weir::Supervision::Directive::restart,
                                                .backoff = std::chrono::milliseconds(10)}},
                               weir::ActorRef<line::Dial>(exchange));
  system.run(line::talk(link));
}
