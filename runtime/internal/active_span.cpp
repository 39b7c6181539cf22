#include <weir/runtime/internal/active_span.hpp>

#include <cstring>
#include <utility>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/node.hpp>

namespace weir::internal {
namespace {

// Sets a list from its beginning, in what it has: most of it was the same for the span before, and
// to compare is cheaper than to write.
class AttributeWriter {
 public:
  explicit AttributeWriter(telemetry::Attributes& list) noexcept : list_(list) {}
  AttributeWriter(const AttributeWriter&) = delete;
  ~AttributeWriter() {
    while (list_.size() > used_) list_.pop_back();
  }

  void keep_all() noexcept { used_ = list_.size(); }

  template <std::size_t Size, class Value>
  void add(const char (&name)[Size], Value value) {
    if (used_ == list_.size()) {
      list_.emplace_back(name, value);
    } else {
      telemetry::Attribute& attribute = list_[used_];
      std::string& old = attribute.name;
      const bool is_same = old.size() == Size - 1 && std::memcmp(old.data(), name, Size - 1) == 0;
      if (!is_same) old = name;
      set(attribute.value, value);
    }
    ++used_;
  }

 private:
  template <class Number>
  static void set(telemetry::AttributeValue& value, Number number) {
    if (auto* old = std::get_if<Number>(&value)) {
      *old = number;
    } else {
      value = number;
    }
  }
  static void set(telemetry::AttributeValue& value, std::string_view text) {
    text = telemetry::Attribute::cut(text);
    auto* old = std::get_if<std::string>(&value);
    if (!old) {
      value = std::string(text);
    } else if (*old != text) {
      *old = text;
    }
  }

  telemetry::Attributes& list_;
  std::size_t used_ = 0;
};

constexpr std::size_t own_attributes_max = 5;

// Where `set_own_attributes` puts the numbers of a handler.
constexpr std::size_t actor_place = 1;
constexpr std::size_t handling_place = 3;
constexpr std::size_t wait_place = 4;

void write_numbers(const telemetry::PlainSpan& span, telemetry::SpanRecord& record) noexcept {
  const auto number_at = [&]<class Number>(std::size_t place, Number value) {
    *std::get_if<Number>(&record.attributes[place].value) = value;
  };
  record.context.trace = span.trace;
  record.context.span = span.id;
  record.parent = span.parent;
  record.begin = span.begin;
  record.end = span.end;
  number_at(actor_place, static_cast<std::int64_t>(span.actor));
  number_at(handling_place, to_seconds(span.end - span.begin));
  if (span.form.has_waited) number_at(wait_place, to_seconds(span.wait));
  if (!span.form.is_linked) return;
  record.links.front().context.trace = span.trace;
  record.links.front().context.span = span.parent;
}

void write_plain(const telemetry::PlainSpan& span, telemetry::SpanRecord& record,
                 bool has_same_form) {
  if (has_same_form) {
    write_numbers(span, record);
    return;
  }
  ActiveSpan whole;
  whole.trace = span.trace;
  whole.id = span.id;
  whole.parent = span.parent;
  whole.actor_type = static_cast<const ActorType*>(span.form.actor_type);
  whole.message_type = static_cast<const MessageType*>(span.form.message_type);
  whole.actor = span.actor;
  whole.begin_ns = span.begin;
  whole.end_ns = span.end;
  whole.wait_ns = span.form.has_waited ? span.wait : -1;
  whole.is_linked = span.form.is_linked;
  whole.drops_link = span.form.drops_link;
  whole.move_to(record);
}

// What only few spans have.
void move_details(ActiveSpan::Details& details, telemetry::SpanRecord& record) {
  record.attributes = std::move(details.attributes);
  record.events = std::move(details.events);
  record.status = details.status;
  record.status_message = std::move(details.status_message);
  record.dropped_attributes = details.dropped_attributes;
  record.dropped_events = details.dropped_events;
}

void clear_details(telemetry::SpanRecord& record) {
  // Those of a handler alone are written over each other.
  if (record.attributes.size() > own_attributes_max) record.attributes.clear();
  record.events.clear();
  record.status = telemetry::SpanStatus::unset;
  record.status_message.clear();
  record.dropped_attributes = 0;
  record.dropped_events = 0;
}

}  // namespace

void ActiveSpan::copy_to(telemetry::PlainSpan& plain) const noexcept {
  plain.form = {&write_plain, actor_type, message_type, is_linked, drops_link, wait_ns >= 0};
  plain.trace = trace;
  plain.id = id;
  plain.parent = parent;
  plain.actor = actor;
  plain.begin = begin_ns;
  plain.end = end_ns;
  plain.wait = wait_ns;
}

void ActiveSpan::move_to(telemetry::SpanRecord& record) {
  if (details_) {
    move_details(*details_, record);
  } else {
    clear_details(record);
  }
  set_own_attributes(record.attributes);
  const std::string_view bounded_name = telemetry::Attribute::cut(name());
  if (record.name != bounded_name) record.name = bounded_name;
  record.context.trace = trace;
  record.context.span = id;
  record.context.is_sampled = true;
  record.context.baggage = std::move(baggage);
  record.parent = parent;
  record.parent_is_remote = is_from_elsewhere && parent.is_valid();
  record.kind = kind();
  record.begin = begin_ns;
  record.end = end_ns;
  record.dropped_links = drops_link ? 1 : 0;
  record.links.resize(is_linked ? 1 : 0);
  if (is_linked) {
    record.links.front().context = record.context;
    record.links.front().context.span = parent;
  }
  if (!details_) return;
  for (telemetry::SpanLink& link : details_->links) record.links.push_back(std::move(link));
  record.dropped_links += details_->dropped_links;
}

std::string_view ActiveSpan::name() const noexcept {
  if (details_ && !details_->name.empty()) return details_->name;
  return message_type ? message_type->name() : std::string_view();
}

telemetry::SpanKind ActiveSpan::kind() const noexcept {
  if (is_from_elsewhere) return telemetry::SpanKind::server;
  return message_type ? telemetry::SpanKind::consumer : telemetry::SpanKind::internal;
}

void ActiveSpan::set_own_attributes(telemetry::Attributes& attributes) const {
  AttributeWriter writer(attributes);
  if (details_) writer.keep_all();
  if (actor_type) {
    writer.add("weir.actor.type", actor_type->name);
    writer.add("weir.actor.id", static_cast<std::int64_t>(actor));
  }
  if (!message_type) return;
  writer.add("weir.message.type", message_type->name());
  writer.add("weir.handle.seconds", to_seconds(end_ns - begin_ns));
  if (wait_ns >= 0) writer.add("weir.mailbox.wait.seconds", to_seconds(wait_ns));
}

}  // namespace weir::internal
