#include <algorithm>
#include <utility>

#include <weir/telemetry/internal/malformed.hpp>
#include <weir/telemetry/internal/text.hpp>
#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry {
namespace {

// Printable ASCII without what has a meaning of its own here.
bool is_baggage_octet(char c) noexcept {
  return c > 0x20 && c < 0x7F && c != '"' && c != ',' && c != ';' && c != '\\';
}

struct KeyAndValue {
  std::string_view key;
  std::optional<std::string_view> value;
};

KeyAndValue split(std::string_view text) noexcept {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {internal::trimmed(text), std::nullopt};
  return {internal::trimmed(text.substr(0, equals)), internal::trimmed(text.substr(equals + 1))};
}

// A percent-encoded byte that belongs to no UTF-8 character is replaced, as the specification
// demands: the rest of the value may still be of use.
std::optional<std::string> decoded(std::string_view value) {
  if (!std::ranges::all_of(value, is_baggage_octet)) return std::nullopt;
  const auto bytes = internal::percent_decoded(value);
  if (!bytes) return std::nullopt;
  return internal::with_utf8_repaired(*bytes);
}

std::optional<BaggageProperty> read_property(std::string_view text) {
  const auto [key, value] = split(text);
  if (!internal::is_token(key)) return std::nullopt;
  if (!value) return BaggageProperty{std::string(key), std::nullopt};
  auto content = decoded(*value);
  if (!content) return std::nullopt;
  return BaggageProperty{std::string(key), std::move(content)};
}

std::optional<BaggageMember> read_member(std::string_view text) {
  const auto properties = std::ranges::count(text, ';');
  const auto [key, value] = split(internal::take_until(text, ';'));
  if (!internal::is_token(key) || !value) return std::nullopt;
  auto content = decoded(*value);
  if (!content) return std::nullopt;
  BaggageMember member{std::string(key), *std::move(content), {}};
  for (std::ptrdiff_t i = 0; i < properties; ++i) {
    auto property = read_property(internal::take_until(text, ';'));
    if (!property) return std::nullopt;
    member.properties.push_back(*std::move(property));
  }
  return member;
}

std::optional<Baggage> read_baggage(std::string_view text) {
  if (text.size() > baggage_bytes_max) return std::nullopt;
  if (internal::trimmed(text).empty()) return Baggage{};
  const auto members = std::ranges::count(text, ',') + 1;
  if (members > std::ptrdiff_t{baggage_members_max}) return std::nullopt;
  Baggage baggage;
  for (std::ptrdiff_t i = 0; i < members; ++i) {
    auto member = read_member(internal::take_until(text, ','));
    if (!member) return std::nullopt;
    baggage.push_back(*std::move(member));
  }
  return baggage;
}

bool append_value(std::string& out, std::string_view value) {
  if (!internal::is_utf8(value)) return false;
  out += '=';
  for (const char c : value) {
    if (is_baggage_octet(c) && c != '%') {
      out += c;
    } else {
      internal::append_percent_encoded(out, c);
    }
  }
  return true;
}

bool append_member(std::string& out, const BaggageMember& member) {
  if (!internal::is_token(member.key)) return false;
  out += member.key;
  if (!append_value(out, member.value)) return false;
  for (const BaggageProperty& property : member.properties) {
    if (!internal::is_token(property.key)) return false;
    out.append(";").append(property.key);
    if (property.value && !append_value(out, *property.value)) return false;
  }
  return true;
}

}  // namespace

std::optional<Baggage> parse_baggage(std::string_view text) {
  auto baggage = read_baggage(text);
  // Repaired values grow, and could grow past what may be sent on.
  if (baggage && !print_baggage(*baggage)) baggage.reset();
  if (!baggage) internal::count_malformed(PropagationHeader::baggage);
  return baggage;
}

std::optional<std::string> print_baggage(const Baggage& baggage) {
  if (baggage.size() > baggage_members_max) return std::nullopt;
  std::string text;
  for (const BaggageMember& member : baggage) {
    if (!text.empty()) text += ',';
    if (!append_member(text, member) || text.size() > baggage_bytes_max) return std::nullopt;
  }
  return text;
}

}  // namespace weir::telemetry
