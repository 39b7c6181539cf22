#include <weir/runtime/internal/core.hpp>

#include <chrono>
#include <random>
#include <stdexcept>

#include <weir/runtime/internal/blocking_pool.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/measuring.hpp>
#include <weir/runtime/internal/name_table.hpp>
#include <weir/runtime/internal/reports.hpp>
#include <weir/runtime/internal/services.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/internal/system_metrics.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/span.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {
namespace {

constexpr Invoke guardian_table[] = {&handle_turn_marker};

constexpr ActorType guardian_type{
    .name = "weir::guardian",
    .pool_class = pool_object_classes,
    .object_inside = true,
    .interleaves = false,
    .is_spared = true,
    .table = guardian_table,
    .destroy = [](void*) noexcept {},
};

std::uint64_t draw_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// More than that is a negative number, or one that was never set.
constexpr unsigned threads_max = 4096;

ActorSystemOptions checked(ActorSystemOptions options) {
  if (options.message_quota == 0) {
    throw std::invalid_argument(
        "ActorSystemOptions: message_quota is 0, so no actor would ever handle a message");
  }
  if (options.threads > threads_max) {
    throw std::invalid_argument("ActorSystemOptions: threads is " +
                                std::to_string(options.threads) + "; use at most " +
                                std::to_string(threads_max) + ", or 0 for one per core");
  }
  if (options.ask_timeout <= Duration::zero()) {
    throw std::invalid_argument("ActorSystemOptions: ask_timeout is " +
                                std::to_string(options.ask_timeout.count()) +
                                " ns, so that every request would time out at once");
  }
  if (options.stop_timeout < Duration::zero()) {
    throw std::invalid_argument("ActorSystemOptions: stop_timeout is " +
                                std::to_string(options.stop_timeout.count()) +
                                " ns; use zero or more");
  }
  if (!options.seed) options.seed = draw_seed();
  return options;
}

}  // namespace

Core::Core(ActorSystemOptions wanted, SimulationHost* host)
    : options(checked(std::move(wanted))), simulation(host), outside_random(*options.seed) {
  unsigned threads = options.threads ? options.threads : std::thread::hardware_concurrency();
  if (simulation || threads == 0) threads = 1;
  prepare_tracing();
  for (unsigned i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(*this, i, now_ns()));
    workers.back()->sightings.resize(threads);
  }
  SpawnOptions guardian_options{.mailbox_capacity = unbounded};
  guardian = prepare_cell({guardian_type, &guardian_options, nullptr, *this});
  guardian->flags |= Cell::guarding | Cell::constructed;
  guardian->head.store(Cell::idle, std::memory_order_release);
  names = std::make_unique<NameTable>();
  blocking = std::make_unique<BlockingPool>(
      BlockingPool::Options{.threads_max = options.blocking_threads_max});
  if (measures()) {
    metrics = std::make_unique<SystemMetrics>(*this, options.telemetry->meter());
  }
}

// The generator of ids is one of its own, so that recording changes nothing in a simulated run.
void Core::prepare_tracing() {
  telemetry::set_context_provider(&current_trace);
  trace_seed = *options.seed;
  if (simulation) return;
  trace_seed = draw_seed();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  wall_offset_ns = std::chrono::nanoseconds(wall).count() - now_ns();
}

bool Core::records_spans() const noexcept {
  return options.telemetry && options.telemetry->records_spans();
}

bool Core::measures() const noexcept {
  return has_telemetry && options.telemetry && options.telemetry->measures();
}

telemetry::SpanLane* Core::new_span_lane() {
  if (!records_spans() || simulation) return nullptr;
  auto lane = options.telemetry->new_span_lane();
  if (!lane) return nullptr;
  span_lanes.push_back(lane);
  return lane.get();
}

ActorDurations* Core::new_durations() {
  if (!measures()) return nullptr;
  durations.push_back(std::make_unique<ActorDurations>(options.telemetry->meter()));
  return durations.back().get();
}

Core::~Core() { close(); }

void Core::close() noexcept {
  metrics.reset();
  join_threads();
  io.reset();
  blocking.reset();
  names.reset();
  if (guardian) std::exchange(guardian, nullptr)->release();
  workers.clear();
  has_ended.store(true, std::memory_order_seq_cst);
  while (reporting.load(std::memory_order_seq_cst) > 0) relax_cpu();
}

std::int64_t Core::now_ns() const noexcept {
  if (simulation) return simulation->now_ns();
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::uint64_t Core::random() noexcept {
  if (simulation) return simulation->random();
  if (is_own_thread()) return this_worker->random();
  std::uint64_t state = outside_random.fetch_add(random_step, std::memory_order_relaxed);
  return next_random(state);
}

std::uint64_t Core::new_id() noexcept {
  constexpr std::uint64_t block = 1024;
  // Of the whole process, so that a weak reference never finds an actor of another system. Under
  // simulation the same run must give the same ids.
  static std::atomic<std::uint64_t> process_next_id{1};
  auto& next_id = simulation ? simulated_next_id : process_next_id;
  Worker* worker = this_worker;
  if (!is_own_thread() || simulation) {
    return next_id.fetch_add(1, std::memory_order_relaxed);
  }
  if (worker->next_id == worker->last_id) {
    worker->next_id = next_id.fetch_add(block, std::memory_order_relaxed);
    worker->last_id = worker->next_id + block;
  }
  return worker->next_id++;
}

TimerQueue& Core::timers() noexcept {
  if (simulation) return simulation->timers(*this);
  return (is_own_thread() ? *this_worker : *workers.front()).timers;
}

void Core::arm(TimerEntry& entry, std::int64_t due_ns) noexcept {
  timers().arm(entry, due_ns);
  if (simulation) return;
  if (is_own_thread()) {
    wake_watcher_before(due_ns);
  } else {
    wake(*workers.front());
  }
}

void Core::arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept {
  timers().arm_lazily(entry, delay_ns);
  if (simulation) return;
  const std::int64_t now_at_least = this_worker->watched_since.load(std::memory_order_relaxed);
  wake_watcher_before(saturating_sum(now_at_least, delay_ns));
}

void Core::count_dead_letter(DeadLetterReason reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  if (is_own_thread()) {
    auto& counter = this_worker->dead_letters[index];
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else {
    dead_letters[index].fetch_add(1, std::memory_order_relaxed);
  }
}

void Core::call_hook(const DeadLetter& letter) noexcept {
  // A hook that sends to an actor that has stopped would be called for ever.
  static thread_local bool is_inside = false;
  if (is_inside) return;
  // What the handler has sent before is none of the hook's messages.
  if (this_worker) end_of_handler(*this_worker);
  is_inside = true;
  call_hook_once(letter);
  is_inside = false;
}

// What the hook refers to may be gone once the system has ended. Its own threads have ended before;
// others are waited for while they are inside.
void Core::call_hook_once(const DeadLetter& letter) noexcept {
  if (is_own_thread()) {
    options.on_dead_letter(letter);
    return;
  }
  reporting.fetch_add(1, std::memory_order_seq_cst);
  if (!has_ended.load(std::memory_order_seq_cst)) options.on_dead_letter(letter);
  reporting.fetch_sub(1, std::memory_order_seq_cst);
}

void Core::report_dead_letter(DeadLetterReason reason, const Cell& target,
                              const MessageType& message) noexcept {
  if (message.is_notice && reason == DeadLetterReason::actor_stopped) return;
  count_dead_letter(reason);
  const DeadLetter letter{reason,
                          message.name(),
                          target.type->name,
                          name_of(target),
                          {target.id.load(std::memory_order_relaxed)}};
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  // A simulation may have gone, with its clock, before the last of those who send to its actors.
  if (!simulation) recent_dead_letters.add(letter, now);
  if (options.on_dead_letter) {
    call_hook(letter);
    return;
  }
  if (const std::uint64_t count = printed[static_cast<std::size_t>(reason)].admit(now)) {
    tell(*this, letter, count);
  }
}

void Core::report_failure(const Cell& cell, const std::string& message) noexcept {
  const Extension* extension = cell.extension_if_any();
  const ActorFailure failure{{cell.id.load(std::memory_order_relaxed)},
                             cell.type->name,
                             name_of(cell),
                             message,
                             extension ? extension->restarts.load(std::memory_order_relaxed) : 0};
  if (options.on_failure) {
    options.on_failure(failure);
    return;
  }
  tell(*this, failure);
}

void refuse(Cell& target, Node* node, DeadLetterReason reason) noexcept {
  if (node->has(Node::is_timer)) {  // its own timer: nobody else waits for it
    dispose(node);
    return;
  }
  if (node->type().index.load(std::memory_order_relaxed) == 0) {  // the runtime's own
    dispose(node);
    return;
  }
  target.core->report_dead_letter(reason, target, node->type());
  if (!node->type().is_request) {
    dispose(node);
    return;
  }
  auto* request = static_cast<RequestNode*>(node);
  request->type_and_flags |= Node::unhandled;
  const bool is_end = reason == DeadLetterReason::actor_stopped;
  request->type().refuse(request, Error(is_end ? Errc::stopped : Errc::full,
                                        std::string(request->type().name()) + " to " +
                                            std::string(target.type->name)));
  send_home(request);
}

void send_home(RequestNode* node) noexcept {
  Cell* home = node->home;
  if (!home) {
    dispose(node);
    return;
  }
  if (home->push_control(node, Cell::reply_tag)) return;
  // The caller's actor has ended; the last request home lets go of its cell.
  if (!node->has(Node::unhandled)) {
    home->core->report_dead_letter(DeadLetterReason::late_reply, *home, node->type());
  }
  dispose(node);
  if (home->extension().outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) home->release();
}

Extension& Cell::extension() {
  if (Extension* existing = extension_if_any()) return *existing;
  auto made = std::make_unique<Extension>();
  Extension* expected = nullptr;
  if (extension_pointer.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *expected;
}

std::uint64_t Cell::handled() const noexcept {
  // First, so that nothing is subtracted that has not been counted.
  const Extension* extension = extension_if_any();
  const std::uint64_t unhandled =
      extension ? extension->set_aside.load(std::memory_order_acquire) : 0;
  return ((std::uint64_t{popped_high.load(std::memory_order_relaxed)} << 32) |
          popped.load(std::memory_order_relaxed)) -
         unhandled;
}

void Cell::free_cell(Cell* cell) noexcept {
  delete cell->extension_pointer.exchange(nullptr, std::memory_order_acquire);
  if (!cell->type->object_inside) {
    ::operator delete(cell->object, cell->type->object_bytes,
                      std::align_val_t{cell->type->object_alignment});
  }
  cell->id.store(0, std::memory_order_relaxed);
  pool_give(cell->type->pool_class, cell);
}

}  // namespace weir::internal
