// An actor with a request and a timer, and a parent that keeps it going.

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>

namespace weather {

using namespace std::chrono_literals;

/// Stands for a device that gives two good values, one that is broken, and none after the tenth.
class Probe {
 public:
  double read() {
    if (++readings_ > 10) throw std::runtime_error("the probe is gone");
    if (readings_ % 3 == 0) throw std::runtime_error("reading " + std::to_string(readings_));
    return 20.0 + readings_;
  }

 private:
  int readings_ = 0;
};

// [messages]
struct Measure {};
struct Temperature {
  using Reply = double;
};
// [/messages]

// [actor]
class Thermometer final : public weir::Actor<Measure, Temperature> {
 public:
  explicit Thermometer(Probe* probe) : probe_(probe) {}

  void on_start() { schedule_every<Measure>(10ms); }

  void on(Measure) { celsius_ = probe_->read(); }  // may throw: that is its supervisor's matter

  weir::Result<double> on(Temperature) const {
    if (!celsius_) return weir::Error(weir::Errc::not_found, "nothing measured yet");
    return *celsius_;
  }

 private:
  Probe* probe_;
  std::optional<double> celsius_;
};
// [/actor]

// [supervisor]
class Station final : public weir::Actor<Temperature, weir::ChildStopped> {
 public:
  explicit Station(Probe* probe)
      : thermometer_(spawn<Thermometer>({.name = "thermometer", .supervision = restarts}, probe)) {}

  weir::Task<weir::Result<double>> on(Temperature) {
    co_return co_await thermometer_.ask<Temperature>().within(1s);
  }

  void on(weir::ChildStopped child) {
    std::printf("%s ended: %s\n", child.name.c_str(), child.reason.message.c_str());
    stop();
  }

 private:
  static constexpr weir::Supervision restarts{
      .directive = weir::Supervision::Directive::restart, .backoff = 5ms, .restarts_max = 3};

  weir::RefOf<Thermometer> thermometer_;
};
// [/supervisor]

// [client]
weir::Task<> watch(weir::ActorRef<Temperature> station) {
  while (station.is_alive()) {
    const weir::Result<double> celsius = co_await station.ask<Temperature>();
    if (celsius) {
      std::printf("%.0f degrees\n", *celsius);
    } else {
      std::printf("no temperature: %s\n", celsius.error().message().c_str());
    }
    if (!co_await weir::sleep_for(12ms)) co_return;
  }
}
// [/client]

}  // namespace weather

// [main]
int main() {
  weir::ActorSystem system({.on_failure = [](const weir::ActorFailure& failure) {
    std::printf("%s failed: %s\n", std::string(failure.actor_name).c_str(),
                std::string(failure.message).c_str());
  }});
  weather::Probe probe;
  auto station = system.spawn<weather::Station>({.name = "station"}, &probe);
  system.run(weather::watch(station));
}
// [/main]
