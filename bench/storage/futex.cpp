#include <weir/bench/storage/futex.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include <weir/bench/actors/measure.hpp>

namespace weir::bench::storage {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (std::uint32_t seen; (seen = word.load()) != value;) futex(word, FUTEX_WAIT_PRIVATE, seen);
}

}  // namespace

double futex_round_trip_us() {
  constexpr std::uint32_t rounds = 20'000;
  std::atomic<std::uint32_t> ping{0};
  std::atomic<std::uint32_t> pong{0};
  std::thread other([&] {
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      wait_for(ping, i);
      pong.store(i);
      futex(pong, FUTEX_WAKE_PRIVATE, 1);
    }
  });
  actors::Stopwatch watch;
  watch.start();
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    ping.store(i);
    futex(ping, FUTEX_WAKE_PRIVATE, 1);
    wait_for(pong, i);
  }
  watch.stop();
  other.join();
  return watch.elapsed_ns() / rounds / 1000;
}

}  // namespace weir::bench::storage
