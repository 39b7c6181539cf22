// `count` and `ask` of the actor benchmark in many short traces, with telemetry in various states.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include <time.h>

#include <weir/bench/actors/weir/finish.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace {

std::atomic<std::uint64_t> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace weir::bench {
namespace {

using namespace actors;

// Short traces, each of which begins outside: about one percent of the messages is recorded then,
// and not all or nothing of a few long ones.
const std::int64_t traces_max = scaled(100'000);
// When all of them are recorded there are fewer, so that none need be dropped.
constexpr std::int64_t recorded_part = 10;
constexpr std::int64_t messages_each = 100;
constexpr std::int64_t requests_each = 10;

struct Begin {};
struct Value {
  std::int64_t value;
};
struct Increment {
  using Reply = std::int64_t;
  std::int64_t value;
};

struct Measured {
  Stopwatch stopwatch;
  Finish finish;
};

class Counter final : public Actor<Value> {
 public:
  Counter(std::int64_t messages, Measured* run) : left_(messages), run_(run) {}
  void on(Value value) {
    sum_ += value.value;
    if (--left_ > 0) return;
    verify(sum_ == 0, "sum of the messages");
    run_->stopwatch.stop();
    run_->finish.done();
  }

 private:
  std::int64_t left_;
  std::int64_t sum_ = 0;
  Measured* run_;
};

class Sender final : public Actor<Begin> {
 public:
  explicit Sender(RefOf<Counter> counter) : counter_(std::move(counter)) {}
  void on(Begin) {
    for (std::int64_t i = 0; i < messages_each; ++i) {
      verify(bool(counter_.send<Value>(i % 2 == 0 ? 1 : -1)), "send");
    }
  }

 private:
  RefOf<Counter> counter_;
};

class Server final : public Actor<Increment> {
 public:
  std::int64_t on(Increment request) { return request.value + 1; }
};

class Asker final : public Actor<Begin> {
 public:
  Asker(RefOf<Server> server, std::int64_t traces, Measured* run)
      : server_(std::move(server)), left_(traces), run_(run) {}
  Task<> on(Begin) {
    for (std::int64_t i = 0; i < requests_each; ++i) {
      verify(*co_await server_.ask<Increment>(i) == i + 1, "reply");
    }
    if (--left_ > 0) co_return;
    run_->stopwatch.stop();
    run_->finish.done();
  }

 private:
  RefOf<Server> server_;
  std::int64_t left_;
  Measured* run_;
};

// What the thread that exports has done so far.
std::atomic<std::uint64_t> spans_taken{0};
std::atomic<std::int64_t> exporting_cpu_ns{0};

class Discarding final : public telemetry::Exporter<telemetry::SpanRecord> {
 public:
  bool export_batch(std::span<const telemetry::SpanRecord> batch) override {
    ::timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    exporting_cpu_ns = std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
    spans_taken += batch.size();
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}
};

std::unique_ptr<telemetry::Telemetry> make_telemetry(std::string_view mode) {
  if (mode == "off") return nullptr;
  telemetry::TelemetryOptions options;
  if (mode == "metrics") {
    options.measures_always = true;
    return std::make_unique<telemetry::Telemetry>(options, telemetry::Exporters{});
  }
  options.sampler = {.kind = telemetry::SamplerKind::ratio};
  // Room for all: what is dropped costs nothing, and must not count.
  options.span_batches.queue_max = std::size_t{1} << 20;
  if (mode == "one_percent") {
    options.sampler.ratio = 0.01;
  } else {
    verify(mode == "all" || mode == "none", "mode: off, metrics, none, one_percent or all");
    options.sampler.ratio = mode == "all" ? 1 : 0;
  }
  telemetry::Exporters exporters;
  exporters.spans = std::make_unique<Discarding>();
  return std::make_unique<telemetry::Telemetry>(options, std::move(exporters));
}

// What has been counted so far.
struct Counts {
  std::uint64_t made = allocations.load();
  std::uint64_t taken = spans_taken.load();
  std::int64_t cpu_ns = exporting_cpu_ns.load();
};

// How much there is to do.
struct Volume {
  std::int64_t messages() const { return traces * messages_of_trace; }
  /// If all are recorded, each trace with the message that begins it.
  std::int64_t spans() const { return messages() + traces; }

  std::int64_t traces;
  std::int64_t messages_of_trace;
};

void print(const char* workload, const Measured& run, const Volume& volume, const Counts& before,
           telemetry::Telemetry* telemetry) {
  const Counts after;
  const double elapsed_ns = run.stopwatch.elapsed_ns();
  if (telemetry) (void)telemetry->flush(std::chrono::seconds(60));
  const auto dropped = telemetry ? telemetry->span_counts().dropped : 0;
  verify(dropped == 0, "nothing dropped");
  const auto per_message = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(volume.messages());
  };
  const std::uint64_t spans = spans_taken.load() - before.taken;
  std::printf(
      "RESULT %s %g ns allocations=%g exported=%llu dropped=%llu spans_per_s=%g exporting_cpu=%g "
      "exported_meanwhile=%g recorded=%g\n",
      workload, elapsed_ns / static_cast<double>(volume.messages()),
      per_message(after.made - before.made), static_cast<unsigned long long>(spans),
      static_cast<unsigned long long>(dropped), static_cast<double>(spans) / elapsed_ns * 1e9,
      static_cast<double>(after.cpu_ns - before.cpu_ns) / elapsed_ns,
      static_cast<double>(after.taken - before.taken) /
          static_cast<double>(std::max<std::uint64_t>(spans, 1)),
      static_cast<double>(spans) / static_cast<double>(volume.spans()));
  std::fflush(stdout);
}

// Until threads have found their cores, and pools their memory, each run differs: what is measured
// begins after this, or after SETTLING_MS of the environment: none where instructions are counted.
std::chrono::milliseconds settling_time() {
  const char* text = std::getenv("SETTLING_MS");
  return std::chrono::milliseconds(text ? std::atoi(text) : 50);
}
// After a pause in which another program had the caches.
constexpr std::chrono::milliseconds settling_again{1};
constexpr std::int64_t settling_traces = 200;

// One run for each line that stands in the input, as soon as it comes, so that whoever compares two
// of these programs can let them take turns of milliseconds.
bool is_asked_for_another() {
  int character = std::getchar();
  while (character != '\n' && character != EOF) character = std::getchar();
  return character == '\n';
}

template <class Round>
void measure(const char* workload, std::int64_t messages_of_trace, std::int64_t traces,
             telemetry::Telemetry* telemetry, Round round) {
  auto settling = settling_time();
  while (is_asked_for_another()) {
    const auto end = std::chrono::steady_clock::now() + settling;
    while (std::chrono::steady_clock::now() < end) {
      Measured unmeasured;
      round(settling_traces, unmeasured);
    }
    settling = std::min(settling, settling_again);
    if (telemetry) (void)telemetry->flush(std::chrono::seconds(60));
    Measured run;
    const Counts before;
    round(traces, run);
    print(workload, run, {traces, messages_of_trace}, before, telemetry);
  }
}

template <class Starter>
void begin_all(const Starter& starter, std::int64_t traces, Measured& run) {
  run.stopwatch.start();
  for (std::int64_t i = 0; i < traces; ++i) starter.template send<Begin>();
  run.finish.wait();
}

const SpawnOptions unlimited{.mailbox_capacity = unbounded};

void count(ActorSystem& system, std::int64_t traces, telemetry::Telemetry* telemetry) {
  measure("count", messages_each, traces, telemetry, [&](std::int64_t number, Measured& run) {
    auto counter = system.spawn<Counter>(unlimited, number * messages_each, &run);
    begin_all(system.spawn<Sender>(unlimited, counter), number, run);
  });
}

void ask(ActorSystem& system, std::int64_t traces, telemetry::Telemetry* telemetry) {
  measure("ask", requests_each, traces, telemetry, [&](std::int64_t number, Measured& run) {
    auto server = system.spawn<Server>();
    begin_all(system.spawn<Asker>(unlimited, server, number, &run), number, run);
  });
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const std::string_view mode = argc == 3 ? argv[1] : "";
  const std::string_view workload = argc == 3 ? argv[2] : "";
  if (workload != "count" && workload != "ask") {
    std::fprintf(stderr,
                 "usage: %s off|metrics|none|one_percent|all count|ask\n"
                 "Measures once for each line of its input.\n",
                 argv[0]);
    return 2;
  }
  const auto telemetry = weir::bench::make_telemetry(mode);
  weir::ActorSystemOptions options = weir::bench::actors::system_options();
  options.telemetry = telemetry.get();
  weir::ActorSystem system(options);
  const std::int64_t part = mode == "all" ? weir::bench::recorded_part : 1;
  const std::int64_t traces = std::max<std::int64_t>(weir::bench::traces_max / part, 1);
  (workload == "count" ? weir::bench::count : weir::bench::ask)(system, traces, telemetry.get());
}
