#include <weir/runtime/span.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir {
namespace {

using internal::ActiveSpan;

ActiveSpan* current_span() noexcept {
  return internal::this_worker ? ActiveSpan::of(internal::this_worker->trace) : nullptr;
}

const telemetry::SpanLimits& limits() noexcept {
  return internal::this_worker->core.options.telemetry->options().limits;
}

telemetry::Attribute within_limits(telemetry::AttributeView attribute) {
  if (auto* text = std::get_if<std::string_view>(&attribute.value)) {
    *text = internal::within_limit(internal::this_worker->core, *text);
  }
  return telemetry::Attribute(attribute);
}

// An attribute has one value, the last one: exporters and collectors rely on that.
void set_on(ActiveSpan& span, const telemetry::AttributeView& attribute) {
  ActiveSpan::Details& details = span.details();
  const auto known =
      std::ranges::find(details.attributes, attribute.name, &telemetry::Attribute::name);
  if (known != details.attributes.end()) {
    known->value = within_limits(attribute).value;
  } else if (details.attributes.size() >= limits().attributes_max) {
    ++details.dropped_attributes;
  } else {
    details.attributes.push_back(within_limits(attribute));
  }
}

void add_event_to(ActiveSpan& span, std::string_view name, telemetry::AttributeList attributes) {
  ActiveSpan::Details& details = span.details();
  if (details.events.size() >= limits().events_max) {
    ++details.dropped_events;
    return;
  }
  const std::int64_t now = internal::this_worker->core.now_ns();
  telemetry::SpanEvent event{
      telemetry::Attribute::bounded(name), now + internal::this_worker->core.wall_offset_ns, {}};
  for (const auto& attribute : attributes) event.attributes.push_back(within_limits(attribute));
  details.events.push_back(std::move(event));
}

}  // namespace

void internal::ActiveSpan::leave_inner_to(std::uintptr_t outer) noexcept {
  if (Span* open = std::exchange(inner, nullptr)) open->place_in(outer);
}

Span::Span(Span&& other) noexcept
    : span_(std::exchange(other.span_, nullptr)),
      core_(std::exchange(other.core_, nullptr)),
      run_(other.run_),
      outer_(other.outer_) {
  const ActiveSpan* outer = core_ ? ActiveSpan::of(outer_) : nullptr;
  if (outer && outer->inner == &other) place_in(outer_);
}

// A coroutine may be destroyed while another one runs, or when no thread runs actors any more.
Span::~Span() {
  if (!core_) return;
  ActiveSpan* outer = ActiveSpan::of(outer_);
  if (outer && outer->inner == this) outer->inner = nullptr;
  if (span_ && span_->inner) {
    span_->leave_inner_to(outer_);
  } else if (internal::this_worker) {
    leave(*internal::this_worker);
  }
  if (span_) internal::end_span(*core_, span_);
}

// Whoever leaves `outer` finds this in it. There is one at most: what is opened later is in this.
void Span::place_in(std::uintptr_t outer) noexcept {
  outer_ = outer;
  ActiveSpan* span = ActiveSpan::of(outer);
  if (!span) return;
  if (span->inner && span->inner != this) span->inner->outer_ = internal::unsampled;
  span->inner = this;
}

// It is the innermost part: what is outside it goes on, here or where it was set aside.
void Span::leave(internal::Worker& worker) noexcept {
  if (span_) {
    internal::replace_trace(worker, span_->word(), outer_);
  } else if (worker.current_run == run_ && worker.trace == internal::unsampled) {
    internal::enter_trace(worker, outer_);
  }
}

void Span::open(ActiveSpan* span, std::uintptr_t trace) noexcept {
  internal::Worker& worker = *internal::this_worker;
  span_ = span;
  core_ = &worker.core;
  run_ = worker.current_run;
  place_in(worker.trace);
  internal::enter_trace(worker, trace);
}

void Span::set_all(std::string_view name, telemetry::AttributeList attributes) {
  span_->details().name = telemetry::Attribute::bounded(name);
  for (const telemetry::AttributeView& attribute : attributes) set(attribute);
}

void Span::set(const telemetry::AttributeView& attribute) {
  if (span_) set_on(*span_, attribute);
}

void Span::add_event(std::string_view name, telemetry::AttributeList attributes) {
  if (span_) add_event_to(*span_, name, attributes);
}

void Span::set_status(telemetry::SpanStatus status, std::string_view message) {
  if (!span_) return;
  span_->details().status = status;
  span_->details().status_message = telemetry::Attribute::bounded(message);
}

void Span::add_link(const telemetry::TraceContext& cause) {
  if (!span_ || !cause.is_valid()) return;
  ActiveSpan::Details& details = span_->details();
  if (details.links.size() >= limits().links_max) {
    ++details.dropped_links;
  } else {
    details.links.push_back({cause, {}});
  }
}

Span span(std::string_view name, telemetry::AttributeList attributes) {
  Span made;
  const ActiveSpan* outer = current_span();
  if (outer && internal::this_worker->core.options.telemetry->admits_span()) {
    ActiveSpan* inner = internal::new_span(*internal::this_worker, outer->context());
    made.open(inner, inner->word());
    made.set_all(name, attributes);
  }
  return made;
}

Span Span::begin(std::string_view name, const telemetry::TraceContext& remote,
                 telemetry::AttributeList attributes, bool is_from_elsewhere) {
  Span made;
  internal::Worker* worker = internal::this_worker;
  if (!worker || !worker->current || !worker->records_spans) return made;
  telemetry::Telemetry& telemetry = *worker->core.options.telemetry;
  telemetry::TraceContext parent = remote;
  if (!remote.is_valid()) {
    parent.trace = internal::new_trace_id(*worker);
    parent.span = {};
  }
  const bool is_sampled =
      remote.is_valid() ? telemetry.samples_child(remote) : telemetry.samples_root(parent.trace);
  if (!is_sampled || !telemetry.admits_span()) {
    made.open(nullptr, internal::unsampled);
    return made;
  }
  ActiveSpan* inner = internal::new_span(*worker, parent);
  inner->is_from_elsewhere = is_from_elsewhere;
  made.open(inner, inner->word());
  made.set_all(name, attributes);
  return made;
}

Span remote_span(std::string_view name, const telemetry::TraceContext& remote,
                 telemetry::AttributeList attributes) {
  return Span::begin(name, remote, attributes, /*is_from_elsewhere=*/true);
}

Span caused_span(std::string_view name, const telemetry::TraceContext& cause,
                 telemetry::AttributeList attributes) {
  Span made;
  internal::Worker* worker = internal::this_worker;
  if (!worker || !worker->current || !worker->records_spans) return made;
  telemetry::Telemetry& telemetry = *worker->core.options.telemetry;
  const bool is_recorded =
      cause.is_valid() && telemetry.samples_child(cause) && telemetry.admits_span();
  if (!is_recorded) {
    made.open(nullptr, internal::unsampled);
    return made;
  }
  ActiveSpan* inner = internal::new_span(*worker, cause);
  inner->is_linked = true;
  made.open(inner, inner->word());
  made.set_all(name, attributes);
  return made;
}

Span root_span(std::string_view name, telemetry::AttributeList attributes) {
  return Span::begin(name, {}, attributes, /*is_from_elsewhere=*/false);
}

Span first_span(std::string_view name, telemetry::AttributeList attributes) {
  const internal::Worker* worker = internal::this_worker;
  if (!worker || worker->trace != internal::undecided) return {};
  return root_span(name, attributes);
}

telemetry::TraceContext current_trace() {
  const ActiveSpan* span =
      internal::this_worker ? current_span() : ActiveSpan::of(internal::foreign_trace);
  return span ? span->context() : telemetry::TraceContext();
}

void add_event(std::string_view name, telemetry::AttributeList attributes) {
  if (ActiveSpan* span = current_span()) add_event_to(*span, name, attributes);
}

void set_attribute(const telemetry::AttributeView& attribute) {
  if (ActiveSpan* span = current_span()) set_on(*span, attribute);
}

}  // namespace weir
