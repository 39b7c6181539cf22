#include <cstring>
#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/prefetch.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {

constinit thread_local std::uintptr_t foreign_trace = undecided;

namespace {

// The time of what is recorded, which is read three times for each message. On the thread of that
// worker.
std::int64_t span_time(Worker& worker) noexcept {
  return worker.core.simulation ? worker.core.now_ns() : worker.span_clock.now_ns();
}

// The same on any thread.
std::int64_t span_time(Core& core) noexcept {
  return core.is_own_thread() ? span_time(*this_worker) : core.now_ns();
}

template <class Id>
Id random_id(Worker& worker) noexcept {
  Id id;
  do {
    for (std::size_t i = 0; i < id.bytes.size(); i += 8) {
      const std::uint64_t word = next_random(worker.trace_random);
      std::memcpy(&id.bytes[i], &word, sizeof(word));
    }
  } while (!id.is_valid());
  return id;
}

bool repeats(Node* node) noexcept {
  return node->has(Node::is_timer) && TimerMessageBase::of(node)->repeat != Repeat::never;
}

// A request that somebody waits for is part of what that does; everything else is only caused.
bool is_waited_for(const Node* node) noexcept {
  return node->type().is_request && !node->has(Node::is_timer) &&
         static_cast<const RequestNode*>(node)->home != nullptr;
}

std::int64_t wait_of(Node* node, const Trail& trail, std::int64_t now) noexcept {
  // Threads do not read exactly the same time.
  const bool is_timer = node->has(Node::is_timer);
  const std::int64_t sent =
      is_timer ? TimerMessageBase::of(node)->due : trail.sent_ns.load(std::memory_order_relaxed);
  return std::max<std::int64_t>(now - sent, 0);
}

// Draws the numbers of the traces that begin next, up to one that is recorded.
void look_ahead(Worker& worker) noexcept {
  constexpr std::uint32_t drawn_max = 64;
  std::uint64_t random = worker.roots_random;
  std::uint64_t number = next_random(random);
  std::uint32_t passed = 0;
  while (number >> 1 >= worker.roots_bound && ++passed < drawn_max) number = next_random(random);
  worker.roots_random = random;
  worker.roots_to_pass = passed;
  worker.has_root = passed < drawn_max;
  worker.root_number = number;
}

// If so, its number is the one that has been drawn last.
bool is_next_root_recorded(Worker& worker) noexcept {
  if (worker.roots_to_pass == 0 && !worker.has_root) look_ahead(worker);
  if (worker.roots_to_pass == 0) return std::exchange(worker.has_root, false);
  --worker.roots_to_pass;
  return false;
}

// A trace begins with the first message that no other message caused. Its id ends with the number
// for which it is recorded.
telemetry::TraceId new_root_id(Worker& worker) noexcept {
  telemetry::TraceId id = new_trace_id(worker);
  std::uint64_t number = worker.root_number;
  for (std::size_t i = id.bytes.size(); i-- > 8; number >>= 8) {
    id.bytes[i] = static_cast<std::uint8_t>(number);
  }
  return id;
}

ActiveSpan* new_span_in(Worker& worker, const telemetry::TraceId& trace) {
  auto* span = new ActiveSpan;
  span->trace = trace;
  span->id = random_id<telemetry::SpanId>(worker);
  return span;
}

ActiveSpan* new_child(Worker& worker, const Trail::From& parent) {
  ActiveSpan* span = new_span_in(worker, parent.trace);
  span->parent = parent.span;
  span->baggage = parent.baggage;
  return span;
}

ActiveSpan* new_shadow(const Trail::From& stands_for) {
  auto* shadow = new ActiveSpan;
  shadow->trace = stands_for.trace;
  shadow->id = stands_for.span;
  shadow->baggage = stands_for.baggage;
  shadow->is_shadow = true;
  return shadow;
}

// Handlers that follow each other directly share one look at the clock.
std::int64_t begin_time(const Cell& cell, Worker& worker) noexcept {
  const std::uint32_t before = cell.popped.load(std::memory_order_relaxed) - 1;
  const bool follows =
      worker.recorded_end_ns != 0 && worker.recorded_popped == before &&
      worker.recorded_activation == worker.activations.load(std::memory_order_relaxed);
  return follows ? worker.recorded_end_ns : span_time(worker);
}

void keep_end_time(const Cell& cell, Worker& worker) noexcept {
  worker.recorded_end_ns = span_time(worker);
  worker.recorded_popped = cell.popped.load(std::memory_order_relaxed);
  worker.recorded_activation = worker.activations.load(std::memory_order_relaxed);
}

// Of a message that begins a trace and has been set aside, so that nobody decides again: no span
// has sent it.
bool is_root(const Trail& trail) noexcept { return !trail.span.is_valid(); }

void keep_decision(const ActiveSpan& span, Node* node) {
  if (trail_of(node->trace)) return;
  auto* trail = new Trail({span.trace, span.parent, span.baggage}, 0);
  node->trace = reinterpret_cast<std::uintptr_t>(trail);
}

// It has been handled. Each round of a timer that nobody has decided about is a trace of its own.
void end_trail(Node* node) noexcept {
  if (!repeats(node)) {
    free_trail(node);
  } else if (const Trail* trail = trail_of(node->trace); trail && is_root(*trail)) {
    free_trail(node);
    node->trace = undecided;
  }
}

// No handler sees it: its timer was cancelled meanwhile, or who asked has given up.
bool is_to_be_passed_over(const Node* node) noexcept {
  if (node->has(Node::is_timer)) {
    return TimerMessageBase::of(const_cast<Node*>(node))->state ==
           TimerMessageBase::State::cancelled;
  }
  return node->type().is_request && static_cast<const RequestNode*>(node)->is_abandoned();
}

// Without a span of its own; who hears of it does so within what sent it.
Outcome pass_over(Cell& cell, Node* node, Worker& worker) noexcept {
  ActiveSpan* shadow = nullptr;
  if (const Trail* trail = trail_of(node->trace)) shadow = new_shadow(trail->from());
  enter_trace(worker, shadow ? shadow->word() : unsampled);
  const Outcome outcome = handle_quickly(cell, node);
  end_of_handler(worker);
  worker.trace = unsampled;
  delete shadow;
  free_trail(node);
  return outcome;
}

// Null if it is not recorded.
ActiveSpan* begin_handler(Cell& cell, Node* node, Worker& worker) {
  const Trail* trail = trail_of(node->trace);
  const std::int64_t now = begin_time(cell, worker);
  if (!worker.core.options.telemetry->admits_span()) return nullptr;
  const bool has_parent = trail && !is_root(*trail);
  ActiveSpan* span = has_parent ? new_child(worker, trail->from())
                                : new_span_in(worker, trail ? trail->trace : new_root_id(worker));
  span->begin_ns = now;
  span->actor_type = cell.type;
  span->actor = cell.id.load(std::memory_order_relaxed);
  span->message_type = &node->type();
  if (has_parent) {
    span->wait_ns = wait_of(node, *trail, now);
    span->is_linked = !is_waited_for(node);
  }
  return span;
}

void attach_own(const ActiveSpan& span, Node* node, std::int64_t now_ns) {
  auto* trail = new Trail(span.here(), now_ns);
  node->trace = reinterpret_cast<std::uintptr_t>(trail);
}

// A message that could not be delivered and is sent again keeps what it has. A system that records
// nothing does not look at trails, and so must not get any.
void attach(const ActiveSpan& span, const Cell& target, Node* node) {
  if (node->trace > undecided || !target.core->records_spans()) return;
  attach_own(span, node, span_time(*target.core));
}

// For a message of a burst to one actor of this system: they share one trail.
void attach_shared(const ActiveSpan& span, Worker& worker, Node* node) {
  Outbox& outbox = worker.outbox;
  const bool fits = outbox.trail && outbox.trail_left > 0 && outbox.trail->span == span.id;
  if (!fits) {
    if (outbox.trail) close_trail(worker, outbox);
    // One more for the outbox itself, which stamps it.
    outbox.trail = new Trail(span.here(), span_time(worker), Outbox::burst + 1);
    outbox.trail_left = Outbox::burst;
  }
  --outbox.trail_left;
  node->trace = reinterpret_cast<std::uintptr_t>(outbox.trail);
}

// The thread that exports had this memory last.
void fetch_upcoming(const telemetry::SpanLane& lane) noexcept {
  const auto* place = reinterpret_cast<const char*>(lane.upcoming());
  prefetch_to_change(place);
  prefetch_to_change(place + sizeof(telemetry::PlainSpan) - 1);
}

// True if the span is where the thread that exports finds it, and no longer needed.
bool submit_plainly(Worker& worker, const ActiveSpan& span) noexcept {
  if (!worker.span_lane || !span.is_plain()) return false;
  telemetry::SpanLane& lane = *worker.span_lane;
  telemetry::PlainSpan* place = worker.core.options.telemetry->place_in(lane);
  if (!place) return false;
  span.copy_to(*place);
  lane.push();
  fetch_upcoming(lane);
  return true;
}

// `own` is the worker that runs this if it is one of the system's.
void end_span_at(Core& core, Worker* own, ActiveSpan* span, std::int64_t now_ns) noexcept {
  std::unique_ptr<ActiveSpan> ended(span);
  ended->leave_inner_to(unsampled);  // a part that outlives its handler is part of nothing
  if (ended->is_shadow) return;
  if (ended->is_linked && core.options.telemetry->options().limits.links_max == 0) {
    ended->is_linked = false;
    ended->drops_link = true;
  }
  ended->begin_ns += core.wall_offset_ns;
  ended->end_ns = now_ns + core.wall_offset_ns;
  if (own && submit_plainly(*own, *ended)) return;
  core.options.telemetry->submit(std::move(ended));
}

}  // namespace

ActiveSpan* new_span(Worker& worker, const telemetry::TraceContext& parent) {
  ActiveSpan* span = new_child(worker, {parent.trace, parent.span, parent.baggage});
  span->begin_ns = span_time(worker.core);
  return span;
}

telemetry::TraceId new_trace_id(Worker& worker) noexcept {
  return random_id<telemetry::TraceId>(worker);
}

// Most traces are not, and their messages are handled like any other.
bool decide_recording(Node* node, Worker& worker) noexcept {
  if (!worker.records_spans || node->trace == unsampled) return false;
  if (node->trace != undecided) return true;
  if (is_next_root_recorded(worker)) return true;
  if (!repeats(node)) node->trace = unsampled;
  return false;
}

Outcome handle_recorded(Cell& cell, Node* node, Worker& worker) noexcept {
  if (is_to_be_passed_over(node)) return pass_over(cell, node, worker);
  ActiveSpan* span = begin_handler(cell, node, worker);
  enter_trace(worker, span ? span->word() : unsampled);
  worker.suspended_run = nullptr;
  const Outcome outcome = handle_quickly(cell, node);
  end_of_handler(worker);  // who hears of what could not be delivered does so in this span
  worker.trace = unsampled;
  if (outcome == Outcome::set_aside) {
    if (span) keep_decision(*span, node);
    delete span;
    return outcome;
  }
  end_trail(node);
  if (!span) return outcome;
  if (Run* run = worker.suspended_run) {
    run->span = span;
  } else {
    keep_end_time(cell, worker);
    end_span_at(worker.core, &worker, span, worker.recorded_end_ns);
  }
  return outcome;
}

void attach_trail(Worker& worker, const Cell& target, Node* node) {
  if (worker.trace == undecided) {
    node->trace = undecided;
  } else {
    attach(*ActiveSpan::of(worker.trace), target, node);
  }
}

void attach_sent_trail(Worker& worker, const Cell& target, Node* node) {
  const ActiveSpan* span = ActiveSpan::of(worker.trace);
  if (!span || target.core != &worker.core) {
    attach_trail(worker, target, node);
  } else if (node->trace > undecided) {
    return;  // as above
  } else if (worker.outbox.target == &target && worker.outbox.holds_target) {
    attach_shared(*span, worker, node);
  } else {
    attach_own(*span, node, span_time(worker));
  }
}

void close_trail(Worker& worker, Outbox& outbox) noexcept {
  Trail* trail = std::exchange(outbox.trail, nullptr);
  trail->sent_ns.store(span_time(worker), std::memory_order_relaxed);
  Trail::release(trail, std::exchange(outbox.trail_left, 0) + 1);
}

void attach_foreign_trail(const Cell& target, Node* node) {
  if (const ActiveSpan* span = ActiveSpan::of(foreign_trace)) {
    attach(*span, target, node);
  } else if (node->trace == unsampled && target.core->records_spans()) {
    node->trace = foreign_trace;
  }
}

void free_sampled_trail(Node* node) noexcept {
  if (Trail* trail = trail_of(std::exchange(node->trace, unsampled))) Trail::release(trail);
}

void replace_trace(Worker& worker, std::uintptr_t part, std::uintptr_t outer) noexcept {
  if (worker.trace == part) {
    enter_trace(worker, outer);
    return;
  }
  for (OuterTrace* below = worker.outer_traces; below; below = below->outer) {
    if (below->trace == part) below->trace = outer;
  }
  Extension* extension = worker.current ? worker.current->extension_if_any() : nullptr;
  if (!extension) return;
  for (Run* run = extension->runs; run; run = run->next) {
    if (run->trace == part) run->trace = outer;
  }
}

std::uintptr_t shadow_of(std::uintptr_t trace) {
  const ActiveSpan* span = ActiveSpan::of(trace);
  return span ? new_shadow(span->here())->word() : trace;
}

void end_span(Core& core, ActiveSpan* span) noexcept {
  Worker* own = core.is_own_thread() ? this_worker : nullptr;
  end_span_at(core, own, span, span->is_shadow ? 0 : span_time(core));
}

std::string_view within_limit(const Core& core, std::string_view text) noexcept {
  return telemetry::Attribute::cut(text, core.options.telemetry->options().limits.text_bytes_max);
}

void record_exception(const Core& core, const std::string& message) {
  ActiveSpan* span = this_worker ? ActiveSpan::of(this_worker->trace) : nullptr;
  if (!span) return;
  ActiveSpan::Details& details = span->details();
  details.status = telemetry::SpanStatus::error;
  details.status_message = telemetry::Attribute::bounded(message);
  details.events.push_back({"exception",
                            core.now_ns() + core.wall_offset_ns,
                            {{"exception.message", within_limit(core, message)}}});
}

void record_failure(Cell& cell, const std::string& message) {
  cell.extension().failed_in = Cause::here();
  record_exception(*cell.core, message);
}

Cause Cause::here() {
  const Worker* worker = this_worker;
  if (worker && !worker->records_spans) return {};
  const std::uintptr_t trace = worker ? worker->trace : foreign_trace;
  const ActiveSpan* span = ActiveSpan::of(trace);
  if (!span) return {nullptr, trace == unsampled};
  const std::int64_t now = worker ? span_time(worker->core) : 0;  // nobody asks a hook for it
  return {std::make_unique<Trail>(span->here(), now), false};
}

Cause Cause::of(const Node& message) {
  const Trail* trail = trail_of(message.trace);
  if (!trail) return {nullptr, (message.trace & undecided) == 0};
  return {std::make_unique<Trail>(trail->from(), trail->sent_ns.load(std::memory_order_relaxed)),
          false};
}

WithinCause::WithinCause(Worker& worker, const Cause& cause)
    : worker_(worker), outer_(worker.trace) {
  if (cause.trail) shadow_ = new_shadow(cause.trail->from());
  const std::uintptr_t unrecorded = cause.is_unsampled ? unsampled : worker.outside_trace;
  enter_trace(worker, shadow_ ? shadow_->word() : unrecorded);
}

WithinCause::~WithinCause() {
  enter_trace(worker_, outer_);
  if (shadow_) end_span(worker_.core, shadow_);
}

void keep_cause(Cell& cell, Cause cause) {
  if (!cell.core->records_spans() || cause.is_undecided()) return;
  if (cause.is_unsampled) {
    cell.flags |= Cell::unsampled_hook;
  } else {
    cell.flags &= static_cast<std::uint8_t>(~Cell::unsampled_hook);
    cell.extension().hook_in = std::move(cause.trail);
  }
}

Cause take_cause(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  Cause cause{extension ? std::move(extension->hook_in) : nullptr,
              (cell.flags & Cell::unsampled_hook) != 0};
  cell.flags &= static_cast<std::uint8_t>(~Cell::unsampled_hook);
  return cause;
}

// What finds no room is not recorded, and neither is what it causes.
HookSpan::HookSpan(Cell& cell, const char* name, const Cause& cause)
    : cell_(cell), outer_(this_worker->trace) {
  if (cause.is_undecided()) return;
  if (cause.is_unsampled || !cell.core->options.telemetry->admits_span()) {
    enter_trace(*this_worker, unsampled);
    return;
  }
  span_ = new_span(*this_worker, cause.trail->context());
  span_->is_linked = true;
  span_->details().name = name;
  span_->actor_type = cell.type;
  span_->actor = cell.id.load(std::memory_order_relaxed);
  enter_trace(*this_worker, span_->word());
  this_worker->suspended_run = nullptr;
}

// A hook that is a coroutine may go on later, and its span with it.
HookSpan::~HookSpan() {
  if (span_) end_of_handler(*this_worker);
  enter_trace(*this_worker, outer_);
  if (!span_) return;
  if (Run* run = this_worker->suspended_run) {
    run->span = span_;
  } else {
    end_span(*cell_.core, span_);
  }
}

}  // namespace weir::internal
