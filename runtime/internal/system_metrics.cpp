#include <weir/runtime/internal/system_metrics.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <weir/runtime/internal/blocking_pool.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/introspect.hpp>
#include <weir/telemetry/meter.hpp>

namespace weir::internal {
namespace {

using telemetry::Attributes;
using telemetry::Observer;

// Systems that share a telemetry have one series together for what can be added up. What cannot
// would be that of the last one, so that those with a name of their own have one each.
Attributes of_system(const Core& core, Attributes attributes) {
  const std::string& name = core.options.name;
  if (name != ActorSystemOptions{}.name) attributes.emplace_back("weir.system", name);
  return attributes;
}

Attributes of_type(std::string_view type) { return {{"weir.actor.type", type}}; }

// One figure for each type of actor.
template <class Value>
void report_by_type(Core& core, Observer& observer, Value value) {
  std::map<std::string_view, double> sums;
  for (const ActorInfo& actor : list_actors(core)) sums[actor.type] += value(actor);
  for (const auto& [type, sum] : sums) observer.report(sum, of_type(type));
}

void report_phases(Core& core, Observer& observer) {
  std::map<std::pair<std::string_view, std::string>, double> oldest;
  for (const ActorInfo& actor : list_actors(core)) {
    if (actor.phase.empty()) continue;
    double& age = oldest[{actor.type, actor.phase}];
    age = std::max(age, std::chrono::duration<double>(actor.phase_age).count());
  }
  for (const auto& [key, age] : oldest) {
    observer.report(age,
                    of_system(core, {{"weir.actor.type", key.first}, {"weir.phase", key.second}}));
  }
}

void report_undelivered(Core& core, Observer& observer) {
  for (std::size_t i = 0; i < dead_letter_reasons; ++i) {
    std::uint64_t count = core.dead_letters[i].load(std::memory_order_relaxed);
    for (const auto& worker : core.workers) {
      count += worker->dead_letters[i].load(std::memory_order_relaxed);
    }
    observer.report(static_cast<double>(count),
                    {{"weir.reason", to_string(static_cast<DeadLetterReason>(i))}});
  }
}

template <class Value>
double sum_of_workers(Core& core, Value value) {
  double sum = 0;
  for (const auto& worker : core.workers) sum += static_cast<double>(value(*worker));
  return sum;
}

void report_busy_times(Core& core, Observer& observer) {
  const std::int64_t now = core.now_ns();
  for (const auto& worker : core.workers) {
    const std::int64_t awake_ns = worker->awake_ns.load(std::memory_order_relaxed);
    const Duration busy(awake_ns < 0 ? now + awake_ns : awake_ns);
    observer.report(std::chrono::duration<double>(busy).count(),
                    of_system(core, {{"weir.thread", static_cast<std::int64_t>(worker->index)}}));
  }
}

}  // namespace

SystemMetrics::SystemMetrics(Core& core, telemetry::Meter& meter) : core_(core) {
  observe_actors(meter);
  observe_messages(meter);
  observe_threads(meter);
}

void SystemMetrics::observe_actors(telemetry::Meter& meter) {
  observations_.push_back(meter.observe_up_down_counter(
      "weir.actor.count", {.unit = "{actor}", .description = "Actors that live."},
      [this](Observer& observer) {
        report_by_type(core_, observer, [](const ActorInfo&) { return 1.0; });
      }));
  observations_.push_back(meter.observe_up_down_counter(
      "weir.actor.mailbox.depth",
      {.unit = "{message}", .description = "Messages that wait in mailboxes."},
      [this](Observer& observer) {
        report_by_type(core_, observer,
                       [](const ActorInfo& actor) { return double(actor.mailbox_depth); });
      }));
  observations_.push_back(meter.observe_counter(
      "weir.actor.restarts", {.unit = "{restart}", .description = "Restarts after failures."},
      [this](Observer& observer) {
        observer.report(static_cast<double>(core_.restarts.load(std::memory_order_relaxed)));
      }));
  observations_.push_back(meter.observe_gauge(
      "weir.phase.age",
      {.unit = "s", .description = "How long the actor that entered a phase first is in it."},
      [this](Observer& observer) { report_phases(core_, observer); }));
}

void SystemMetrics::observe_messages(telemetry::Meter& meter) {
  observations_.push_back(meter.observe_counter(
      "weir.actor.messages", {.unit = "{message}", .description = "Messages handled."},
      [this](Observer& observer) {
        observer.report(sum_of_workers(core_, [](const Worker& worker) {
          return worker.messages.load(std::memory_order_relaxed);
        }));
      }));
  observations_.push_back(meter.observe_counter(
      "weir.actor.messages.undelivered",
      {.unit = "{message}", .description = "Messages and replies that nobody handled, by reason."},
      [this](Observer& observer) { report_undelivered(core_, observer); }));
  observations_.push_back(meter.observe_up_down_counter(
      "weir.timer.pending", {.unit = "{timer}", .description = "Timers that are armed."},
      [this](Observer& observer) {
        observer.report(
            sum_of_workers(core_, [](const Worker& worker) { return worker.timers.size(); }));
      }));
}

void SystemMetrics::observe_threads(telemetry::Meter& meter) {
  observations_.push_back(meter.observe_counter(
      "weir.scheduler.activations",
      {.unit = "{activation}", .description = "How often an actor was given a thread."},
      [this](Observer& observer) {
        observer.report(sum_of_workers(core_, [](const Worker& worker) {
          return worker.activations.load(std::memory_order_relaxed);
        }));
      }));
  observations_.push_back(meter.observe_counter(
      "weir.scheduler.busy.time",
      {.unit = "s", .description = "How long each thread that runs actors has been awake."},
      [this](Observer& observer) { report_busy_times(core_, observer); }));
  observations_.push_back(meter.observe_gauge(
      "weir.scheduler.utilization",
      {.unit = "1", .description = "The part of the threads that is awake right now."},
      [this](Observer& observer) {
        const auto threads = static_cast<double>(core_.workers.size());
        observer.report((threads - core_.sleepers.load(std::memory_order_relaxed)) / threads,
                        of_system(core_, {}));
      }));
  observations_.push_back(meter.observe_up_down_counter(
      "weir.blocking.pool.depth",
      {.unit = "{call}", .description = "Blocking calls that wait for a thread."},
      [this](Observer& observer) {
        observer.report(static_cast<double>(core_.blocking->depth()));
      }));
}

}  // namespace weir::internal
