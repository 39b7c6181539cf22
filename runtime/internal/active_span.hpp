#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weir/runtime/internal/pool.hpp>
#include <weir/telemetry/pending_span.hpp>
#include <weir/telemetry/plain_span.hpp>

namespace weir {
class Span;
}

namespace weir::internal {

struct ActorType;
struct Cell;
struct Core;
struct Extension;
struct MessageType;
struct Node;
struct Run;
struct Worker;

constexpr double to_seconds(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e9; }

// What a message carries about the trace it belongs to, and what a worker knows of the handler that
// it runs, is one word: `unsampled`, `undecided`, or a pointer (to a `Trail` and to an
// `ActiveSpan`). The first two of a message may have a mark: see measuring.hpp. Most messages are
// not recorded: their word is what a message begins with, and neither sender nor receiver touch it.
inline constexpr std::uintptr_t unsampled = 0;  // not recorded, and neither is what it causes
inline constexpr std::uintptr_t undecided = 1;  // nobody has decided whether to record it

/// The span in which a message was sent. Belongs to the message, or to those that were sent in one
/// burst: see `Outbox`.
struct Trail final : Pooled {
  /// Where it was sent: a span, or what another trail says.
  struct From {
    const telemetry::TraceId& trace;
    const telemetry::SpanId& span;
    const std::shared_ptr<const telemetry::TraceBaggage>& baggage;
  };
  Trail(const From& from, std::int64_t now_ns, std::uint32_t owners = 1)
      : trace(from.trace), span(from.span), baggage(from.baggage), sent_ns(now_ns), uses(owners) {}

  From from() const noexcept { return {trace, span, baggage}; }
  telemetry::TraceContext context() const { return {trace, span, true, baggage}; }
  /// So many owners less.
  static void release(Trail* trail, std::uint32_t owners = 1) noexcept {
    const bool is_last = trail->uses.load(std::memory_order_acquire) == owners ||
                         trail->uses.fetch_sub(owners, std::memory_order_acq_rel) == owners;
    if (is_last) delete trail;
  }

  const telemetry::TraceId trace;
  const telemetry::SpanId span;
  const std::shared_ptr<const telemetry::TraceBaggage> baggage;
  std::atomic<std::int64_t> sent_ns;  // of a burst: when it was published
  std::uintptr_t mark = 0;            // if its durations are measured; never of a burst
  std::atomic<std::uint32_t> uses;
};
static_assert(sizeof(Trail) <= pool_granularity);

inline Trail* trail_of(std::uintptr_t trace) noexcept {
  const bool is_pointer = trace > undecided && (trace & 3) == 0;
  return is_pointer ? reinterpret_cast<Trail*>(trace) : nullptr;
}

/// A span that is being recorded: of a handler, or of a part of one. Belongs to the handler that
/// runs or to the run that is suspended, then to the queue of those that have ended.
class ActiveSpan final : public telemetry::PendingSpan, public Pooled {
 public:
  static ActiveSpan* of(std::uintptr_t trace) noexcept {
    return trace > undecided ? reinterpret_cast<ActiveSpan*>(trace) : nullptr;
  }
  std::uintptr_t word() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }

  void move_to(telemetry::SpanRecord& record) override;

  /// Whether there is nothing in it that a `PlainSpan` has not: so it is with most handlers.
  bool is_plain() const noexcept { return message_type && !details_ && !baggage; }
  void copy_to(telemetry::PlainSpan& plain) const noexcept;

  /// What the spans of handlers mostly do not have.
  struct Details final : Pooled {
    std::string name;  // of a part
    telemetry::Attributes attributes;
    std::vector<telemetry::SpanEvent> events;
    std::vector<telemetry::SpanLink> links;
    telemetry::SpanStatus status = telemetry::SpanStatus::unset;
    std::string status_message;
    std::uint32_t dropped_attributes = 0;
    std::uint32_t dropped_events = 0;
    std::uint32_t dropped_links = 0;
  };
  Details& details() {
    if (!details_) details_ = std::make_unique<Details>();
    return *details_;
  }

  telemetry::TraceContext context() const { return {trace, id, true, baggage}; }
  /// It ends: what goes on after the part that is still open in it is `outer`.
  void leave_inner_to(std::uintptr_t outer) noexcept;
  /// For what is sent in it.
  Trail::From here() const noexcept { return {trace, id, baggage}; }

  // Two cache lines with the link of the queue: numbers and what lives as long as the process.
  // Texts are made of them by the thread that exports.
  telemetry::TraceId trace;
  telemetry::SpanId id;
  telemetry::SpanId parent;
  std::shared_ptr<const telemetry::TraceBaggage> baggage;
  const ActorType* actor_type = nullptr;      // of a handler or a hook
  const MessageType* message_type = nullptr;  // of a handler
  std::uint64_t actor = 0;
  std::int64_t begin_ns = 0;
  union {
    Span* inner = nullptr;  // the part that was opened in it, until it ends
    std::int64_t end_ns;
  };
  std::int64_t wait_ns = -1;       // in the mailbox; negative if not known
  bool is_linked = false;          // to its parent, which does not wait for it
  bool is_from_elsewhere = false;  // asked for by another process, as is its parent if any
  bool drops_link = false;         // there may be none
  bool is_shadow = false;          // stands for another span, and is not recorded itself

 private:
  std::string_view name() const noexcept;
  telemetry::SpanKind kind() const noexcept;
  void set_own_attributes(telemetry::Attributes& attributes) const;

  std::unique_ptr<Details> details_;
};
static_assert(sizeof(ActiveSpan) <= 2 * pool_granularity);

telemetry::TraceId new_trace_id(Worker& worker) noexcept;

/// A new span of the trace that `parent` names; of no trace but its own without one.
ActiveSpan* new_span(Worker& worker, const telemetry::TraceContext& parent);

/// On a thread that runs no actors: the word of what it does, such as a call of the blocking pool.
extern constinit thread_local std::uintptr_t foreign_trace;
/// The same for messages that it sends.
void attach_foreign_trail(const Cell& target, Node* node);

/// For a task beside its handler: the same trace, without a span of its own.
std::uintptr_t shadow_of(std::uintptr_t trace);

/// The span is over: it is exported, or forgotten if it is a shadow.
void end_span(Core& core, ActiveSpan* span) noexcept;

/// So much of the value of an attribute as may be kept.
std::string_view within_limit(const Core& core, std::string_view text) noexcept;

/// What runs on this worker has thrown.
void record_exception(const Core& core, const std::string& message);
/// The same, and the actor fails with it.
void record_failure(Cell& cell, const std::string& message);

/// What made a hook run: a span, or something that is not recorded, and then the hook is not
/// either; by default nobody has decided.
struct Cause {
  /// What runs on this thread.
  static Cause here();
  /// What sent the message.
  static Cause of(const Node& message);

  bool is_undecided() const noexcept { return !trail && !is_unsampled; }

  std::unique_ptr<Trail> trail;
  bool is_unsampled = false;
};

/// What runs on this worker meanwhile has that cause, without a span of its own.
class WithinCause {
 public:
  WithinCause(Worker& worker, const Cause& cause);
  WithinCause(const WithinCause&) = delete;
  ~WithinCause();

 private:
  Worker& worker_;
  const std::uintptr_t outer_;
  ActiveSpan* shadow_ = nullptr;
};

/// The hook that `cell` runs next is caused by that, unless nobody has decided about it.
void keep_cause(Cell& cell, Cause cause = Cause::here());
/// What was kept.
Cause take_cause(Cell& cell) noexcept;

/// Runs a hook of an actor in a span of its own, if what caused it is recorded.
class HookSpan {
 public:
  HookSpan(Cell& cell, const char* name, const Cause& cause);
  HookSpan(const HookSpan&) = delete;
  ~HookSpan();

  ActiveSpan* get() const noexcept { return span_; }

 private:
  Cell& cell_;
  ActiveSpan* span_ = nullptr;
  std::uintptr_t outer_;
};

}  // namespace weir::internal
