#include <algorithm>

#include <weir/telemetry/internal/malformed.hpp>
#include <weir/telemetry/internal/text.hpp>
#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

constexpr std::size_t key_bytes_max = 256;
constexpr std::size_t value_bytes_max = 256;

bool is_lower_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// As Trace Context level 2 has it, which includes all that level 1 allows.
bool is_key(std::string_view text) noexcept {
  if (text.empty() || text.size() > key_bytes_max || !is_lower_or_digit(text[0])) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_lower_or_digit(c) || std::string_view("_-*/@").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) noexcept {
  if (text.empty() || text.size() > value_bytes_max || text.back() == ' ') return false;
  return std::ranges::all_of(text,
                             [](char c) { return c >= 0x20 && c <= 0x7E && c != ',' && c != '='; });
}

bool has_key(const TraceState& state, std::string_view key) noexcept {
  return std::ranges::any_of(state, [key](const auto& member) { return member.key == key; });
}

bool add_member(TraceState& state, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (!is_key(key) || !is_value(value) || has_key(state, key)) return false;
  state.push_back({std::string(key), std::string(value)});
  return true;
}

// Members may be empty: that is what joining header lines, some of them empty, leads to.
std::optional<TraceState> read_tracestate(std::string_view text) {
  if (text.size() > trace_state_bytes_max) return std::nullopt;
  if (std::ranges::count(text, ',') >= std::ptrdiff_t{trace_state_members_max}) return std::nullopt;
  TraceState state;
  while (!text.empty()) {
    const std::string_view member = internal::trimmed(internal::take_until(text, ','));
    if (!member.empty() && !add_member(state, member)) return std::nullopt;
  }
  return state;
}

bool is_printable(const TraceState& state) noexcept {
  if (state.size() > trace_state_members_max) return false;
  for (auto member = state.begin(); member != state.end(); ++member) {
    if (!is_key(member->key) || !is_value(member->value)) return false;
    if (std::any_of(state.begin(), member, [&](const auto& m) { return m.key == member->key; })) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<TraceState> parse_tracestate(std::string_view text) {
  auto state = read_tracestate(text);
  if (!state) internal::count_malformed(PropagationHeader::tracestate);
  return state;
}

std::optional<std::string> print_tracestate(const TraceState& state) {
  if (!is_printable(state)) return std::nullopt;
  std::string text;
  for (const TraceStateMember& member : state) {
    if (!text.empty()) text += ',';
    text.append(member.key).append("=").append(member.value);
  }
  if (text.size() > trace_state_bytes_max) return std::nullopt;
  return text;
}

}  // namespace weir::telemetry
