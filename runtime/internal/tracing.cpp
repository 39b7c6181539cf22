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

template <class Id>
Id random_id(Worker& worker) noexcept {
  Id id;
  do {
    for (std::size_t i = 0; i < id.bytes.size(); i += 8) {
      std::uint64_t word = next_random(worker.trace_random);
      for (std::size_t j = 0; j < 8; ++j, word >>= 8) {
        id.bytes[i + j] = static_cast<std::uint8_t>(word);
      }
    }
  } while (!id.is_valid());
  return id;
}

constexpr std::size_t own_attributes_max = 5;

bool repeats(Node* node) noexcept {
  return node->has(Node::is_timer) && TimerMessageBase::of(node)->repeat != Repeat::never;
}

// A request that somebody waits for is part of what that does; everything else is only caused.
bool is_waited_for(const Node* node) noexcept {
  return node->type().is_request && !node->has(Node::is_timer) &&
         static_cast<const RequestNode*>(node)->home != nullptr;
}

std::int64_t wait_of(Node* node, const Trail& trail, std::int64_t now) noexcept {
  return now - (node->has(Node::is_timer) ? TimerMessageBase::of(node)->due : trail.sent_ns);
}

// Null if it is not recorded.
ActiveSpan* begin_handler(Cell& cell, Node* node, Worker& worker) {
  const Trail* trail = trail_of(node->trace);
  telemetry::Telemetry& telemetry = *worker.core.options.telemetry;
  telemetry::TraceContext root;
  if (!trail) {
    // A trace begins with the first message that no other message caused.
    root.trace = new_trace_id(worker);
    if (!telemetry.samples_root(root.trace)) return nullptr;
  }
  if (!telemetry.admits_span()) return nullptr;
  ActiveSpan* span = new_span(worker, trail ? trail->from : root);
  span->actor_type = cell.type->name;
  span->actor = cell.id.load(std::memory_order_relaxed);
  span->message_type = node->type().name();
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
  auto* trail = new Trail{.from = span.context, .sent_ns = target.core->now_ns()};
  node->trace = reinterpret_cast<std::uintptr_t>(trail);
}

}  // namespace

ActiveSpan* new_span(Worker& worker, const telemetry::TraceContext& parent) {
  auto* span = new ActiveSpan;
  span->context = parent;
  span->context.span = random_id<telemetry::SpanId>(worker);
  span->context.is_sampled = true;
  span->parent = parent.span;
  span->begin_ns = worker.core.now_ns();
  span->wall_offset_ns = worker.core.wall_offset_ns;
  return span;
}

telemetry::TraceId new_trace_id(Worker& worker) noexcept {
  return random_id<telemetry::TraceId>(worker);
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

void attach_sampled_trail(Worker& worker, const Cell& target, Node* node) {
  attach(*ActiveSpan::of(worker.trace), target, node);
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
  shadow->context = span->context;
  shadow->is_shadow = true;
  return shadow->word();
}

void end_span(Core& core, ActiveSpan* span) noexcept {
  std::unique_ptr<ActiveSpan> ended(span);
  if (ended->is_shadow) return;
  ended->end_ns = core.now_ns();
  core.options.telemetry->submit(std::move(ended));
}

void record_failure(Cell& cell, const std::string& message) {
  ActiveSpan* span = this_worker ? ActiveSpan::of(this_worker->trace) : nullptr;
  if (!span) return;
  ActiveSpan::Details& details = span->details();
  details.status = telemetry::SpanStatus::error;
  details.status_message = message;
  details.events.push_back(
      {"exception", cell.core->now_ns() + span->wall_offset_ns, {{"exception.message", message}}});
  cell.extension().failed_in = current_trail();
}

std::unique_ptr<Trail> current_trail() {
  const ActiveSpan* span = this_worker ? ActiveSpan::of(this_worker->trace) : nullptr;
  if (!span) return nullptr;
  return std::unique_ptr<Trail>(
      new Trail{.from = span->context, .sent_ns = this_worker->core.now_ns()});
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
  span_->name = name;
  span_->actor_type = cell.type->name;
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

telemetry::SpanRecord ActiveSpan::take_record() {
  telemetry::SpanRecord record;
  record.name = name.empty() ? std::string(message_type) : std::move(name);
  record.parent = parent;
  record.parent_is_remote = is_from_elsewhere;
  record.kind = kind();
  record.begin = begin_ns + wall_offset_ns;
  record.end = end_ns + wall_offset_ns;
  if (is_linked) {
    telemetry::TraceContext cause = context;
    cause.span = parent;
    record.links.push_back({std::move(cause), {}});
  }
  record.context = std::move(context);
  if (details_) {
    record.attributes = std::move(details_->attributes);
    record.events = std::move(details_->events);
    record.status = details_->status;
    record.status_message = std::move(details_->status_message);
    record.dropped_attributes = details_->dropped_attributes;
    record.dropped_events = details_->dropped_events;
    for (telemetry::SpanLink& link : details_->links) record.links.push_back(std::move(link));
    record.dropped_links = details_->dropped_links;
  }
  add_own_attributes(record.attributes);
  return record;
}

telemetry::SpanKind ActiveSpan::kind() const noexcept {
  if (is_from_elsewhere) return telemetry::SpanKind::server;
  return message_type.empty() ? telemetry::SpanKind::internal : telemetry::SpanKind::consumer;
}

void ActiveSpan::add_own_attributes(telemetry::Attributes& attributes) const {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e9; };
  attributes.reserve(attributes.size() + own_attributes_max);
  if (!actor_type.empty()) {
    attributes.emplace_back("weir.actor.type", actor_type);
    attributes.emplace_back("weir.actor.id", actor);
  }
  if (message_type.empty()) return;
  attributes.emplace_back("weir.message.type", message_type);
  attributes.emplace_back("weir.handle.seconds", seconds(end_ns - begin_ns));
  if (wait_ns >= 0) attributes.emplace_back("weir.mailbox.wait.seconds", seconds(wait_ns));
}

}  // namespace weir::internal
