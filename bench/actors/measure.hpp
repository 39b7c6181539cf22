#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>

/// What the C++ programs of the actor benchmark share: the sizes of the workloads, clocks, the
/// random generator, the latency histogram and the result line.
namespace weir::bench::actors {

/// Fraction of the full work, from the environment variable SCALE.
inline double scale() {
  const char* text = std::getenv("SCALE");
  return text == nullptr ? 1.0 : std::atof(text);
}

/// Scheduler threads, from the environment variable THREADS.
inline int threads() {
  const char* text = std::getenv("THREADS");
  return text == nullptr ? 2 : std::atoi(text);
}

inline std::int64_t scaled(std::int64_t base) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(base) * scale()));
}

inline constexpr int many_to_one_senders = 100;
inline constexpr int ring_actors = 100;
inline constexpr int big_actors = 120;
inline constexpr int bounded_mailbox = 1024;
/// Generator steps the load actor of `latency` computes per message it sends itself.
inline constexpr int load_steps = 100;

inline std::int64_t ping_pong_rounds() { return scaled(1'000'000); }
inline std::int64_t count_messages() { return scaled(10'000'000); }
inline std::int64_t many_to_one_each() { return scaled(100'000); }
inline std::int64_t ring_hops() { return scaled(2'000'000); }
inline std::int64_t fork_join_actors() { return scaled(1'000'000); }
inline std::int64_t big_pings() { return scaled(20'000); }
inline std::int64_t requests() { return scaled(1'000'000); }
inline std::int64_t memory_actors() { return scaled(1'000'000); }
inline std::int64_t timer_count() { return scaled(1'000'000); }
inline std::int64_t latency_requests() { return scaled(200'000); }

/// The largest power of ten within the scale, because the tree is ten-ary.
inline std::int64_t skynet_leaves() {
  std::int64_t leaves = 10;
  while (leaves * 10 <= scaled(1'000'000)) {
    leaves *= 10;
  }
  return leaves;
}

/// What a flood of `senders`, each sending 0, 1, ... `each - 1`, adds up to.
inline std::int64_t flood_sum(std::int64_t senders, std::int64_t each) {
  return senders * (each * (each - 1) / 2);
}

inline double now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since_start).count();
}

/// User and system time of the whole process.
inline double cpu_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
  const auto microseconds = static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return seconds * 1e9 + microseconds * 1e3;
}

inline double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return static_cast<double>(resident_pages * sysconf(_SC_PAGESIZE));
}

/// The measured span; started and stopped by the actors themselves, on any thread.
class Stopwatch {
 public:
  void start() { started_ns_ = now_ns(); }
  void stop() { stopped_ns_ = now_ns(); }
  double elapsed_ns() const { return stopped_ns_ - started_ns_; }

 private:
  double started_ns_ = 0;
  double stopped_ns_ = 0;
};

inline double millions_per_second(std::int64_t messages, double nanoseconds) {
  return static_cast<double>(messages) / nanoseconds * 1e3;
}

/// Ends the program when a workload did not do the work it was timed for.
inline void verify(bool ok, const char* what) {
  if (!ok) {
    std::fprintf(stderr, "wrong result: %s\n", what);
    std::_Exit(1);
  }
}

struct Extra {
  const char* key;
  double value;
};

/// Prints `RESULT <workload> <value> <unit> [key=value...]`, the line the harness reads.
inline void print_result(const char* workload, double value, const char* unit,
                         std::initializer_list<Extra> extras = {}) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("RESULT %s %.6g %s", workload, value, unit);
  for (const Extra& extra : extras) {
    std::printf(" %s=%.6g", extra.key, extra.value);
  }
  std::printf(" peak_rss_mb=%ld\n", usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

/// Prints milliseconds per million actors, so that a scaled run stays comparable.
inline void print_per_million(const char* workload, double elapsed_ns, std::int64_t actors) {
  const auto count = static_cast<double>(actors);
  print_result(workload, elapsed_ns / count, "ms",
               {{"actors", count}, {"elapsed_ms", elapsed_ns / 1e6}});
}

/// The generator every peer uses, so that all choose the same partners and delays.
class XorShift {
 public:
  explicit XorShift(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  /// The next partner of actor `self` in `big`: any of the others.
  int partner_of(int self) {
    const auto pick = static_cast<int>((*this)() % (big_actors - 1));
    return pick >= self ? pick + 1 : pick;
  }

  /// The next delay of `timers`: between one and two seconds.
  std::chrono::microseconds timer_delay() {
    return std::chrono::microseconds(1'000'000 + (*this)() % 1'000'000);
  }

 private:
  std::uint64_t state_;
};

/// Latencies in 32 buckets per power of two: a resolution of 3 %.
class LatencyHistogram {
 public:
  void record(std::uint64_t nanoseconds) {
    ++total_;
    ++buckets_[bucket_of(nanoseconds)];
  }

  /// Lower edge of the bucket that holds the given fraction of all samples.
  double quantile(double fraction) const {
    std::int64_t seen = 0;
    for (std::size_t index = 0; index < buckets_.size(); ++index) {
      seen += buckets_[index];
      if (static_cast<double>(seen) >= fraction * static_cast<double>(total_)) {
        return lower_edge(index);
      }
    }
    return 0;
  }

  /// Prints the quantiles; `load_turns` shows that the load actor ran.
  void print(std::int64_t load_turns) const {
    verify(load_turns > 0, "the load actor ran");
    print_result("latency", quantile(0.5), "ns",
                 {{"p50_ns", quantile(0.5)},
                  {"p99_ns", quantile(0.99)},
                  {"p999_ns", quantile(0.999)},
                  {"max_ns", quantile(1)},
                  {"load_turns", static_cast<double>(load_turns)}});
  }

 private:
  static std::size_t bucket_of(std::uint64_t nanoseconds) {
    if (nanoseconds < 32) {
      return nanoseconds;
    }
    const auto exponent = static_cast<std::size_t>(63 - __builtin_clzll(nanoseconds));
    return (exponent - 4) * 32 + ((nanoseconds >> (exponent - 5)) & 31);
  }

  static double lower_edge(std::size_t index) {
    if (index < 32) {
      return static_cast<double>(index);
    }
    return static_cast<double>(std::uint64_t{32 + index % 32} << (index / 32 - 1));
  }

  std::array<std::int64_t, 1920> buckets_{};
  std::int64_t total_ = 0;
};

}  // namespace weir::bench::actors
