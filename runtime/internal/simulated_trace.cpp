#include <weir/runtime/internal/simulated_trace.hpp>

#include <cstdio>
#include <cstdlib>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/simulated_random.hpp>

namespace weir::internal {
namespace {

constexpr std::size_t failures_kept = 8;

std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return hash;
}

int width(std::string_view text) noexcept { return static_cast<int>(text.size()); }

void print_step(const SimulatedStep& step) {
  const std::string_view message = step.message.empty() ? "(goes on)" : step.message;
  const std::int64_t now = step.time.time_since_epoch().count();
  std::fprintf(stderr, "weir: %lld.%09lld %.*s: %.*s%s%.*s #%llu <- %.*s\n",
               static_cast<long long>(now / 1'000'000'000),
               static_cast<long long>(now % 1'000'000'000), width(step.node), step.node.data(),
               width(step.actor_type), step.actor_type.data(), step.actor_name.empty() ? "" : " ",
               width(step.actor_name), step.actor_name.data(),
               static_cast<unsigned long long>(step.actor.value), width(message), message.data());
}

SimulatedTrace::Listener printer_if_wanted() {
  const char* wish = std::getenv("WEIR_TRACE");
  if (!wish || *wish == '\0' || std::string_view(wish) == "0") return {};
  return &print_step;
}

}  // namespace

SimulatedTrace::SimulatedTrace(Listener listener)
    : listener_(listener ? std::move(listener) : printer_if_wanted()) {}

void SimulatedTrace::begin(Step& step, const Cell& cell) {
  step.actor = cell.id.load(std::memory_order_relaxed);
  step.type = cell.type;
  step.node = &cell.core->options.name;
  if (listener_) {
    if (const Extension* extension = cell.extension_if_any()) step.name = extension->name;
  }
  step.outer = std::exchange(current_, &step);
}

void SimulatedTrace::record(const MessageType* message, std::int64_t now_ns) {
  Step& step = *current_;
  step.is_recorded = true;
  const std::uint64_t what = message ? hash_of(*message) : 0;
  hash_ = scatter((hash_ ^ what) + step.actor * 0x9E3779B97F4A7C15ull +
                  static_cast<std::uint64_t>(now_ns) * 0xD1B54A32D192ED03ull);
  if (!listener_) return;
  listener_({TimePoint(Duration(now_ns)),
             {step.actor},
             *step.node,
             step.type->name,
             step.name,
             message ? message->name() : std::string_view()});
}

void SimulatedTrace::end(std::int64_t now_ns) {
  if (!current_->is_recorded) record(nullptr, now_ns);
  current_ = current_->outer;
}

void SimulatedTrace::add_failure(const ActorFailure& failure) {
  if (failures_.size() == failures_kept) failures_.pop_front();
  std::string line(failure.actor_type);
  if (!failure.actor_name.empty()) line.append(" ").append(failure.actor_name);
  line.append(" #").append(std::to_string(failure.actor.value)).append(": ");
  failures_.push_back(line.append(failure.message));
}

std::uint64_t SimulatedTrace::hash_of(const MessageType& type) {
  const std::uint32_t index = type.index.load(std::memory_order_relaxed);
  if (index >= type_hashes_.size()) type_hashes_.resize(index + 1);
  std::uint64_t& known = type_hashes_[index];
  if (known == 0) known = hash_text(type.name());
  return known;
}

}  // namespace weir::internal
