#pragma once

#include <cstdint>
#include <string_view>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir {

namespace internal {
class ActiveSpan;
struct Core;
struct Run;
struct Worker;
}  // namespace internal

/// A part of a handler that shows in its trace, from its making to its end. It may live across
/// `co_await`; what runs meanwhile is not part of it. Parts may end in any order, and in another
/// handler of their actor, but not in another actor or on a thread that runs none. Costs next to
/// nothing if the handler is not recorded.
class [[nodiscard]] Span {
 public:
  Span(Span&& other) noexcept;
  Span& operator=(Span&&) = delete;
  ~Span();

  /// False if nobody records it: then there is no need to compute attributes.
  bool is_recorded() const noexcept { return span_ != nullptr; }
  /// Instead of the value it has, if it has one.
  void set(const telemetry::AttributeView& attribute);
  void add_event(std::string_view name, telemetry::AttributeList attributes = {});
  void set_status(telemetry::SpanStatus status, std::string_view message = {});
  /// Another span that caused this one without waiting for it, in whatever trace.
  void add_link(const telemetry::TraceContext& cause);

 private:
  friend Span span(std::string_view name, telemetry::AttributeList attributes);
  friend Span remote_span(std::string_view name, const telemetry::TraceContext& remote,
                          telemetry::AttributeList attributes);
  friend Span caused_span(std::string_view name, const telemetry::TraceContext& cause,
                          telemetry::AttributeList attributes);
  friend Span root_span(std::string_view name, telemetry::AttributeList attributes);
  friend Span first_span(std::string_view name, telemetry::AttributeList attributes);
  friend class internal::ActiveSpan;
  Span() noexcept = default;
  static Span begin(std::string_view name, const telemetry::TraceContext& remote,
                    telemetry::AttributeList attributes, bool is_from_elsewhere);
  void open(internal::ActiveSpan* span, std::uintptr_t trace) noexcept;
  void place_in(std::uintptr_t outer) noexcept;
  void leave(internal::Worker& worker) noexcept;
  void set_all(std::string_view name, telemetry::AttributeList attributes);

  internal::ActiveSpan* span_ = nullptr;
  internal::Core* core_ = nullptr;  // null if there is nothing to close
  internal::Run* run_ = nullptr;    // in which it was opened
  std::uintptr_t outer_ = 0;        // what goes on afterwards
};

/// Begins a part of the handler that runs.
///
///     auto charging = weir::span("charge card", {{"cents", cents}});
///     auto receipt = co_await bank.ask<Charge>(cents);
Span span(std::string_view name, telemetry::AttributeList attributes = {});

/// Where in its trace the handler that runs is: to be handed on to other processes. Not valid if
/// nothing is recorded.
telemetry::TraceContext current_trace();

/// Adds to the innermost span of the handler that runs, if it is recorded.
void add_event(std::string_view name, telemetry::AttributeList attributes = {});
void set_attribute(const telemetry::AttributeView& attribute);

/// Begins a part of the handler that runs which continues a trace from elsewhere, such as that of
/// the process that sent a request over the network. If the context is not valid, a trace begins,
/// with its baggage if it has any.
Span remote_span(std::string_view name, const telemetry::TraceContext& remote,
                 telemetry::AttributeList attributes = {});

/// Begins a part of the handler that runs which does what was asked for earlier, maybe before a
/// restart, by whoever was at `cause` then: as it was written to a store. It is below its cause,
/// and linked to it since that did not wait. If the cause was not recorded, neither is this part,
/// nor what it causes, whatever the rest of the handler is.
Span caused_span(std::string_view name, const telemetry::TraceContext& cause,
                 telemetry::AttributeList attributes = {});

/// Begins a part of the handler that runs which is the first of a trace, whatever the handler is
/// part of: what would never end in one trace, such as the rounds of a schedule.
Span root_span(std::string_view name, telemetry::AttributeList attributes = {});

/// Begins a trace if there is none to belong to because no message caused what runs, as with the
/// task of `ActorSystem::run`; otherwise nothing, and everything is part of what it was part of.
Span first_span(std::string_view name, telemetry::AttributeList attributes = {});

}  // namespace weir
