#include <weir/runtime/actor_system.hpp>

#include <algorithm>
#include <memory>
#include <thread>

#include <weir/runtime/internal/blocking_pool.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/introspect.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/reports.hpp>
#include <weir/runtime/internal/retired.hpp>
#include <weir/runtime/internal/services.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir {
namespace {

using internal::Core;

bool is_anything_queued(Core& core) noexcept {
  return core.injected_size.load() > 0 || std::ranges::any_of(core.workers, [](auto& worker) {
           return worker->queue_size.load() > 0 || worker->fresh_size.load() > 0;
         });
}

std::uint64_t activations_of(Core& core) noexcept {
  std::uint64_t sum = 0;
  for (auto& worker : core.workers) sum += worker->activations.load();
  return sum;
}

// Work is in a queue, or a thread is active until it has done it, and may pass it on to one that
// was looked at before. So all queues first, then all threads; and nobody may have finished
// anything meanwhile.
bool is_quiet(Core& core) noexcept {
  const std::uint64_t before = activations_of(core);
  if (is_anything_queued(core)) return false;
  const bool is_active =
      std::ranges::any_of(core.workers, [](auto& worker) { return worker->is_active.load(); });
  return !is_active && !is_anything_queued(core) && activations_of(core) == before;
}

void wait_until_quiet(Core& core, std::int64_t until_ns) {
  if (core.simulation) {
    core.simulation->run_until_quiet(until_ns);
    return;
  }
  while (!is_quiet(core) && core.now_ns() < until_ns) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

bool wait_until_stopped(Core& core, std::int64_t until_ns) {
  if (core.simulation) return core.simulation->run_until_stopped(core, until_ns);
  std::unique_lock hold(core.stop_mutex);
  const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns));
  return core.stop_changed.wait_until(hold, until, [&] { return core.is_stopped; });
}

void end_by_force(Core& core) {
  if (core.simulation) {
    core.simulation->take_down(core);
    return;
  }
  internal::kill_all(core);
  wait_until_stopped(core, TimePoint::max().time_since_epoch().count());
}

Core* started(std::unique_ptr<Core> core, ActorSystem& owner) {
  core->owner = &owner;
  core->start_threads();
  return core.release();
}

}  // namespace

ActorSystem::ActorSystem(ActorSystemOptions options)
    : core_(started(std::make_unique<Core>(std::move(options)), *this)) {}

ActorSystem::ActorSystem(ActorSystemOptions options, internal::SimulationHost* host)
    : core_(std::make_unique<Core>(std::move(options), host).release()) {
  core_->owner = this;
}

ActorSystem::~ActorSystem() {
  if (!core_->simulation) {  // which has taken its actors down
    stop({.drain = Duration::zero()});
  }
  internal::retire(std::unique_ptr<Core>(core_));
}

StopReport ActorSystem::stop(StopOptions options) {
  internal::forbid_inside_actors();
  std::scoped_lock hold_report(stop_mutex_);
  if (stop_report_) return *stop_report_;
  Core& core = *core_;
  const std::int64_t begin = core.now_ns();
  const Duration timeout = options.timeout.value_or(core.options.stop_timeout);
  const std::int64_t end = internal::saturating_sum(begin, timeout.count());
  const Duration drain = std::min(options.drain, timeout);
  wait_until_quiet(core, internal::saturating_sum(begin, drain.count()));
  internal::request_stop(*core.guardian, internal::StopMode::graceful,
                         {StopReason::Kind::system_stopped, {}});
  StopReport report;
  if (!wait_until_stopped(core, end)) {
    report.did_not_stop = actors();
    for (const ActorInfo& actor : report.did_not_stop) {
      internal::tell_that_it_did_not_stop(core, actor);
    }
    end_by_force(core);
  }
  core.join_threads();
  core.blocking->stop();
  if (core.options.telemetry && !core.simulation) {
    const Duration left(std::max<std::int64_t>(end - core.now_ns(), 0));
    core.options.telemetry->flush(std::chrono::duration_cast<std::chrono::milliseconds>(left));
  }
  stop_report_ = report;
  return report;
}

bool ActorSystem::is_stopping() const noexcept { return core_->is_stopping.load(); }

std::vector<ActorInfo> ActorSystem::actors() const { return internal::list_actors(*core_); }

DeadLetterCounts ActorSystem::dead_letters() const noexcept {
  DeadLetterCounts counts;
  for (std::size_t i = 0; i < dead_letter_reasons; ++i) {
    counts.by_reason[i] = core_->dead_letters[i].load(std::memory_order_relaxed);
    for (const auto& worker : core_->workers) {
      counts.by_reason[i] += worker->dead_letters[i].load(std::memory_order_relaxed);
    }
  }
  return counts;
}

std::uint64_t ActorSystem::random() noexcept { return core_->random(); }

TimePoint ActorSystem::now() const noexcept { return TimePoint(Duration(core_->now_ns())); }

const ActorSystemOptions& ActorSystem::options() const noexcept { return core_->options; }

unsigned ActorSystem::threads() const noexcept {
  return core_->simulation ? 1 : static_cast<unsigned>(core_->workers.size());
}

}  // namespace weir
