// `count` and `ask` of the actor benchmark in many short traces, with telemetry in various states.

#include <atomic>
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
std::int64_t traces = scaled(100'000);
// When all of them are recorded there are fewer, so that none need be dropped.
constexpr std::int64_t recorded_part = 50;
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
  std::uint64_t allocations_before = 0;
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
  Sender(RefOf<Counter> counter, std::int64_t messages)
      : counter_(std::move(counter)), messages_(messages) {}
  void on(Begin) {
    for (std::int64_t i = 0; i < messages_; ++i) {
      verify(bool(counter_.send<Value>(i % 2 == 0 ? 1 : -1)), "send");
    }
  }

 private:
  RefOf<Counter> counter_;
  std::int64_t messages_;
};

class Server final : public Actor<Increment> {
 public:
  std::int64_t on(Increment request) { return request.value + 1; }
};

class Asker final : public Actor<Begin> {
 public:
  Asker(RefOf<Server> server, std::int64_t requests, Measured* run)
      : server_(std::move(server)), requests_(requests), run_(run) {}
  Task<> on(Begin) {
    for (std::int64_t i = 0; i < requests_; ++i) {
      verify(*co_await server_.ask<Increment>(i) == i + 1, "reply");
    }
    if (++round_ < traces) co_return;
    run_->stopwatch.stop();
    run_->finish.done();
  }

 private:
  RefOf<Server> server_;
  std::int64_t requests_;
  std::int64_t round_ = 0;
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
    if (mode == "all") traces = std::max<std::int64_t>(traces / recorded_part, 1);
  }
  telemetry::Exporters exporters;
  exporters.spans = std::make_unique<Discarding>();
  return std::make_unique<telemetry::Telemetry>(options, std::move(exporters));
}

void print(const char* workload, const Measured& run, std::int64_t messages,
           telemetry::Telemetry* telemetry) {
  const auto made = static_cast<double>(allocations.load() - run.allocations_before);
  const double elapsed_ns = run.stopwatch.elapsed_ns();
  const double exporting = static_cast<double>(exporting_cpu_ns.load()) / elapsed_ns;
  const auto taken = static_cast<double>(spans_taken.load());
  if (telemetry) (void)telemetry->flush(std::chrono::seconds(60));
  const auto counts = telemetry ? telemetry->span_counts() : telemetry::ExportCounts{};
  verify(counts.dropped == 0, "nothing dropped");
  const auto exported = static_cast<double>(std::max<std::uint64_t>(counts.exported, 1));
  std::printf(
      "RESULT %s %g ns allocations=%g exported=%llu dropped=%llu spans_per_s=%g exporting_cpu=%g "
      "exported_meanwhile=%g\n",
      workload, elapsed_ns / static_cast<double>(messages), made / static_cast<double>(messages),
      static_cast<unsigned long long>(counts.exported),
      static_cast<unsigned long long>(counts.dropped), exported / elapsed_ns * 1e9, exporting,
      taken / exported);
}

template <class S>
void begin_all(const S& starter, Measured& run) {
  run.allocations_before = allocations.load();
  run.stopwatch.start();
  for (std::int64_t i = 0; i < traces; ++i) starter.template send<Begin>();
  run.finish.wait();
}

void count(telemetry::Telemetry* telemetry) {
  ActorSystemOptions options = system_options();
  options.telemetry = telemetry;
  ActorSystem system(options);
  Measured run;
  const SpawnOptions unlimited{.mailbox_capacity = unbounded};
  auto counter = system.spawn<Counter>(unlimited, traces * messages_each, &run);
  auto sender = system.spawn<Sender>(unlimited, counter, messages_each);
  begin_all(sender, run);
  print("count", run, traces * messages_each, telemetry);
}

void ask(telemetry::Telemetry* telemetry) {
  ActorSystemOptions options = system_options();
  options.telemetry = telemetry;
  ActorSystem system(options);
  Measured run;
  auto server = system.spawn<Server>();
  auto asker =
      system.spawn<Asker>(SpawnOptions{.mailbox_capacity = unbounded}, server, requests_each, &run);
  begin_all(asker, run);
  print("ask", run, traces * requests_each, telemetry);
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const std::string_view mode = argc == 3 ? argv[1] : "";
  const std::string_view workload = argc == 3 ? argv[2] : "";
  if (workload != "count" && workload != "ask") {
    std::fprintf(stderr, "usage: %s off|metrics|none|one_percent|all count|ask\n", argv[0]);
    return 2;
  }
  const auto telemetry = weir::bench::make_telemetry(mode);
  (workload == "count" ? weir::bench::count : weir::bench::ask)(telemetry.get());
}
