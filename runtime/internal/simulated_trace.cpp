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

// Types of tests mostly have no other namespace.
std::string_view short_name(std::string_view type) noexcept {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  const std::size_t at = type.find(anonymous);
  return at > type.find('<') || at == std::string_view::npos ? type
                                                             : type.substr(at + anonymous.size());
}

void print_line(std::string_view node, std::int64_t now_ns, const std::string& text) {
  std::fprintf(stderr, "weir: %lld.%09lld %.*s: %s\n",
               static_cast<long long>(now_ns / 1'000'000'000),
               static_cast<long long>(now_ns % 1'000'000'000), static_cast<int>(node.size()),
               node.data(), text.c_str());
}

std::string describe_actor(std::string_view type, std::string_view name, ActorId id) {
  std::string text(short_name(type));
  if (!name.empty()) text.append(" ").append(name);
  return text.append(" #").append(std::to_string(id.value));
}

// Indented below the actors that it interrupts.
void print_step(const SimulatedStep& step) {
  std::string text(2 * step.interrupted, ' ');
  text.append(describe_actor(step.actor_type, step.actor_name, step.actor)).append(" <- ");
  text.append(step.message.empty() ? "(goes on)" : short_name(step.message));
  print_line(step.node, step.time.time_since_epoch().count(), text);
}

bool is_printing_wanted() {
  const char* wish = std::getenv("WEIR_TRACE");
  return wish && *wish != '\0' && std::string_view(wish) != "0";
}

}  // namespace

SimulatedTrace::SimulatedTrace(Listener listener)
    : prints_(!listener && is_printing_wanted()),
      listener_(prints_ ? Listener(&print_step) : std::move(listener)) {}

void SimulatedTrace::begin(Step& step, const Cell& cell) {
  step.actor = cell.id.load(std::memory_order_relaxed);
  step.type = cell.type;
  step.node = &cell.core->options.name;
  if (listener_) {
    if (const Extension* extension = cell.extension_if_any()) step.name = extension->name;
  }
  step.depth = current_ ? current_->depth + 1 : 0;
  step.outer = std::exchange(current_, &step);
}

void SimulatedTrace::record(const MessageType* message, std::int64_t now_ns) {
  Step& step = *current_;
  step.is_recorded = true;
  fold(step.actor, message ? hash_of(*message) : 0, now_ns);
  if (!listener_) return;
  listener_({TimePoint(Duration(now_ns)),
             {step.actor},
             *step.node,
             step.type->name,
             step.name,
             message ? message->name() : std::string_view(),
             step.depth});
}

void SimulatedTrace::record_crash(const std::string& node, std::int64_t now_ns) {
  fold(0, hash_text(node), now_ns);
  if (prints_) print_line(node, now_ns, "crashed");
}

void SimulatedTrace::end(std::int64_t now_ns) {
  if (!current_->is_recorded) record(nullptr, now_ns);
  current_ = current_->outer;
}

void SimulatedTrace::add_failure(const std::string& node, const ActorFailure& failure,
                                 std::int64_t now_ns) {
  if (failures_.size() == failures_kept) failures_.pop_front();
  std::string line = describe_actor(failure.actor_type, failure.actor_name, failure.actor);
  failures_.push_back(line.append(" failed: ").append(failure.message));
  if (prints_) print_line(node, now_ns, failures_.back());
}

void SimulatedTrace::add_dead_letter(const std::string& node, const DeadLetter& letter,
                                     std::int64_t now_ns) {
  if (!prints_) return;
  std::string line = describe_actor(letter.actor_type, letter.actor_name, letter.actor);
  line.append(" does not get ").append(short_name(letter.message));
  print_line(node, now_ns, line.append(": ").append(to_string(letter.reason)));
}

void SimulatedTrace::fold(std::uint64_t actor, std::uint64_t what, std::int64_t now_ns) noexcept {
  hash_ = scatter((hash_ ^ what) + actor * 0x9E3779B97F4A7C15ull +
                  static_cast<std::uint64_t>(now_ns) * 0xD1B54A32D192ED03ull);
}

std::uint64_t SimulatedTrace::hash_of(const MessageType& type) {
  const std::uint32_t index = type.index.load(std::memory_order_relaxed);
  if (index >= type_hashes_.size()) type_hashes_.resize(index + 1);
  std::uint64_t& known = type_hashes_[index];
  if (known == 0) known = hash_text(type.name());
  return known;
}

}  // namespace weir::internal
