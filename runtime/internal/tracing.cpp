#include <cstring>
#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {

constinit thread_local ActiveSpan* foreign_span = nullptr;

namespace {

// The time of what is recorded, which is read three times for each message.
std::int64_t span_time(Core& core) noexcept {
  if (core.simulation || !core.is_own_thread()) return core.now_ns();
  return this_worker->span_clock.now_ns();
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
  return std::max<std::int64_t>(now - (is_timer ? TimerMessageBase::of(node)->due : trail.sent_ns),
                                0);
}

// A trace begins with the first message that no other message caused. Its id ends with the number
// for which it is recorded.
ActiveSpan* begin_trace(Worker& worker) {
  if (!worker.core.options.telemetry->admits_span()) return nullptr;
  telemetry::TraceContext root;
  root.trace = new_trace_id(worker);
  std::uint64_t number = worker.root_number;
  for (std::size_t i = root.trace.bytes.size(); i-- > 8; number >>= 8) {
    root.trace.bytes[i] = static_cast<std::uint8_t>(number);
  }
  return new_span(worker, root);
}

ActiveSpan* begin_child(const Trail& trail, Worker& worker) {
  return worker.core.options.telemetry->admits_span() ? new_span(worker, trail.from) : nullptr;
}

// Null if it is not recorded.
ActiveSpan* begin_handler(Cell& cell, Node* node, Worker& worker) {
  const Trail* trail = trail_of(node->trace);
  ActiveSpan* span = trail ? begin_child(*trail, worker) : begin_trace(worker);
  if (!span) return nullptr;
  span->actor_type = cell.type;
  span->actor = cell.id.load(std::memory_order_relaxed);
  span->message_type = &node->type();
  if (trail) {
    span->wait_ns = wait_of(node, *trail, span->begin_ns);
    span->is_linked = !is_waited_for(node);
  }
  return span;
}

// A message that could not be delivered and is sent again keeps what it has. A system that records
// nothing does not look at trails, and so must not get any.
void attach(const ActiveSpan& span, const Cell& target, Node* node) {
  if (node->trace > undecided || !target.core->records_spans()) return;
  auto* trail = new Trail{.from = span.context(), .sent_ns = span_time(*target.core)};
  node->trace = reinterpret_cast<std::uintptr_t>(trail);
}

}  // namespace

ActiveSpan* new_span(Worker& worker, const telemetry::TraceContext& parent) {
  auto* span = new ActiveSpan;
  span->trace = parent.trace;
  span->id = random_id<telemetry::SpanId>(worker);
  span->parent = parent.span;
  span->baggage = parent.baggage;
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
  worker.root_number = next_random(worker.roots_random);
  if (worker.root_number >> 1 < worker.roots_bound) return true;
  if (!repeats(node)) node->trace = unsampled;
  return false;
}

Outcome handle_recorded(Cell& cell, Node* node, Worker& worker) noexcept {
  ActiveSpan* span = begin_handler(cell, node, worker);
  worker.trace = span ? span->word() : unsampled;
  worker.suspended_run = nullptr;
  const Outcome outcome = handle_untraced(cell, node);
  end_of_handler(worker);  // who hears of what could not be delivered does so in this span
  worker.trace = unsampled;
  if (outcome == Outcome::set_aside) {
    delete span;
    return outcome;
  }
  if (!repeats(node)) free_trail(node);
  if (!span) return outcome;
  if (Run* run = worker.suspended_run) {
    run->span = span;
  } else {
    end_span(*cell.core, span);
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

void attach_foreign_trail(const Cell& target, Node* node) {
  if (foreign_span) {
    attach(*foreign_span, target, node);
  } else if (node->trace == unsampled && target.core->records_spans()) {
    node->trace = undecided;
  }
}

void free_sampled_trail(Node* node) noexcept {
  delete trail_of(std::exchange(node->trace, unsampled));
}

std::uintptr_t shadow_of(std::uintptr_t trace) {
  const ActiveSpan* span = ActiveSpan::of(trace);
  if (!span) return trace;
  auto* shadow = new ActiveSpan;
  shadow->trace = span->trace;
  shadow->id = span->id;
  shadow->baggage = span->baggage;
  shadow->is_shadow = true;
  return shadow->word();
}

void end_span(Core& core, ActiveSpan* span) noexcept {
  std::unique_ptr<ActiveSpan> ended(span);
  if (ended->is_shadow) return;
  if (ended->is_linked && core.options.telemetry->options().limits.links_max == 0) {
    ended->is_linked = false;
    ended->drops_link = true;
  }
  ended->begin_ns += core.wall_offset_ns;
  ended->end_ns = span_time(core) + core.wall_offset_ns;
  core.options.telemetry->submit(std::move(ended));
}

std::string_view within_limit(const Core& core, std::string_view text) noexcept {
  return telemetry::Attribute::cut(text, core.options.telemetry->options().limits.text_bytes_max);
}

void record_failure(Cell& cell, const std::string& message) {
  ActiveSpan* span = this_worker ? ActiveSpan::of(this_worker->trace) : nullptr;
  if (!span) return;
  ActiveSpan::Details& details = span->details();
  details.status = telemetry::SpanStatus::error;
  details.status_message = telemetry::Attribute::bounded(message);
  details.events.push_back({"exception",
                            cell.core->now_ns() + cell.core->wall_offset_ns,
                            {{"exception.message", within_limit(*cell.core, message)}}});
  cell.extension().failed_in = current_trail();
}

std::unique_ptr<Trail> current_trail() {
  const ActiveSpan* span = this_worker ? ActiveSpan::of(this_worker->trace) : nullptr;
  if (!span) return nullptr;
  return std::unique_ptr<Trail>(
      new Trail{.from = span->context(), .sent_ns = span_time(this_worker->core)});
}

void keep_cause(Cell& cell) {
  if (!cell.core->records_spans()) return;
  if (std::unique_ptr<Trail> cause = current_trail()) {
    cell.extension().hook_in = std::move(cause);
  }
}

HookSpan::HookSpan(Cell& cell, const char* name, std::unique_ptr<Trail> cause) : cell_(cell) {
  if (!cause || !cell.core->options.telemetry->admits_span()) return;
  span_ = new_span(*this_worker, cause->from);
  span_->is_linked = true;
  span_->details().name = name;
  span_->actor_type = cell.type;
  span_->actor = cell.id.load(std::memory_order_relaxed);
  outer_ = std::exchange(this_worker->trace, span_->word());
  this_worker->suspended_run = nullptr;
}

// A hook that is a coroutine may go on later, and its span with it.
HookSpan::~HookSpan() {
  if (!span_) return;
  end_of_handler(*this_worker);
  this_worker->trace = outer_;
  if (Run* run = this_worker->suspended_run) {
    run->span = span_;
  } else {
    end_span(*cell_.core, span_);
  }
}

}  // namespace weir::internal
