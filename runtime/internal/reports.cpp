#include <weir/runtime/internal/reports.hpp>

#include <chrono>
#include <cstdio>
#include <string>

#include <weir/runtime/internal/core.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {
namespace {

using telemetry::Logger;

// Whoever holds a reference may cause a report when the system has ended, and its telemetry with
// it. The end waits for those who are inside.
template <class Write>
bool write_to_log(Core& core, Write write) {
  if (!core.options.telemetry) return false;
  core.reporting.fetch_add(1, std::memory_order_seq_cst);
  const bool can_write = !core.has_ended.load(std::memory_order_seq_cst) &&
                         core.options.telemetry->logger().has_sinks();
  if (can_write) write(core.options.telemetry->logger());
  core.reporting.fetch_sub(1, std::memory_order_seq_cst);
  return can_write;
}

int length(std::string_view text) noexcept { return static_cast<int>(text.size()); }

// Type, name if there is one, and number.
std::string described(std::string_view type, std::string_view name, ActorId id) {
  std::string text(type);
  if (!name.empty()) text.append(" ").append(name);
  return text + " #" + std::to_string(id.value);
}

template <class Of>
std::string described(const Of& event) {
  return described(event.actor_type, event.actor_name, event.actor);
}

}  // namespace

void tell(Core& core, const DeadLetter& letter, std::uint64_t count) noexcept {
  const bool is_logged = write_to_log(core, [&](Logger& logger) {
    logger.warning("dead letter", {{"weir.message.type", letter.message},
                                   {"weir.actor.type", letter.actor_type},
                                   {"weir.actor.name", letter.actor_name},
                                   {"weir.actor.id", letter.actor.value},
                                   {"weir.reason", to_string(letter.reason)},
                                   {"count", count}});
  });
  if (is_logged) return;
  const std::string more = count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "";
  std::fprintf(stderr, "weir: dead letter: %.*s to %s: %s%s\n", length(letter.message),
               letter.message.data(), described(letter).c_str(), to_string(letter.reason),
               more.c_str());
}

void tell(Core& core, const ActorFailure& failure) noexcept {
  const bool is_logged = write_to_log(core, [&](Logger& logger) {
    logger.error("actor failed", {{"weir.actor.type", failure.actor_type},
                                  {"weir.actor.name", failure.actor_name},
                                  {"weir.actor.id", failure.actor.value},
                                  {"weir.actor.restarts", failure.restarts},
                                  {"exception.message", failure.message}});
  });
  if (is_logged) return;
  std::fprintf(stderr, "weir: %s failed: %.*s\n", described(failure).c_str(),
               length(failure.message), failure.message.data());
}

void tell(Core& core, const PhaseEvent& event) noexcept {
  const bool is_overdue = event.kind == PhaseEvent::Kind::overdue;
  const double seconds = std::chrono::duration<double>(event.age).count();
  const bool is_logged = write_to_log(core, [&](Logger& logger) {
    const auto level = is_overdue ? telemetry::Level::warning : telemetry::Level::error;
    logger.log(level, is_overdue ? "phase overdue" : "illegal phase transition",
               {{"weir.actor.type", event.actor_type},
                {"weir.actor.name", event.actor_name},
                {"weir.actor.id", event.actor.value},
                {"weir.phase.from", event.from},
                {"weir.phase.to", event.to},
                {"weir.phase.age", seconds}});
  });
  if (is_logged) return;
  std::fprintf(stderr, "weir: %s: %s%.*s%s%.*s (in it for %.3f s)\n", described(event).c_str(),
               is_overdue ? "overdue in phase " : "illegal transition from phase ",
               length(event.from), event.from.data(), is_overdue ? "" : " to ",
               is_overdue ? 0 : length(event.to), event.to.data(), seconds);
}

void tell_that_it_did_not_stop(Core& core, const ActorInfo& actor) noexcept {
  const bool is_logged = write_to_log(core, [&](Logger& logger) {
    logger.error("actor did not stop in time", {{"weir.system", core.options.name},
                                                {"weir.actor.type", actor.type},
                                                {"weir.actor.name", actor.name},
                                                {"weir.actor.id", actor.id.value},
                                                {"weir.actor.mailbox.depth", actor.mailbox_depth},
                                                {"weir.phase", actor.phase}});
  });
  if (is_logged) return;
  std::fprintf(stderr, "weir: %s: did not stop in time: %s, %u messages queued%s%s\n",
               core.options.name.c_str(), described(actor.type, actor.name, actor.id).c_str(),
               actor.mailbox_depth, actor.phase.empty() ? "" : ", phase ", actor.phase.c_str());
}

void tell_that_posted_function_threw(Core& core, std::string_view message) noexcept {
  const bool is_logged = write_to_log(core, [&](Logger& logger) {
    logger.error("a function posted to the I/O context threw",
                 {{"weir.system", core.options.name}, {"exception.message", message}});
  });
  if (is_logged) return;
  std::fprintf(stderr, "weir: %s: a function posted to the I/O context threw: %.*s\n",
               core.options.name.c_str(), length(message), message.data());
}

}  // namespace weir::internal
