#include <weir/telemetry/internal/environment.hpp>

#include <algorithm>
#include <charconv>

namespace weir::telemetry::internal {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::string> decoded_text(std::string_view text) {
  auto decoded = percent_decoded(trimmed(text));
  if (!decoded || !is_utf8(*decoded)) return std::nullopt;
  return decoded;
}

}  // namespace

Variable Environment::read(const std::string& name) const {
  const char* value = (*get_)(name.c_str());
  return {name, value ? value : ""};
}

Variable Environment::read_otlp(std::string_view signal, std::string_view what) const {
  const std::string prefix = "OTEL_EXPORTER_OTLP_";
  Variable own = read(prefix + std::string(signal) + "_" + std::string(what));
  return own ? own : read(prefix + std::string(what));
}

bool is_true(const Variable& variable) {
  static constexpr Choice<bool> choices[] = {{"true", true}, {"false", false}};
  return variable && choice(variable, choices);
}

std::int64_t number(const Variable& variable, std::int64_t min, std::int64_t max) {
  const auto value = parse_number<std::int64_t>(variable.value);
  if (!value || *value < min || *value > max) variable.refuse(number_form(min, max));
  return *value;
}

double ratio(const Variable& variable) {
  const auto value = parse_number<double>(variable.value);
  if (!value || !is_ratio(*value)) variable.refuse(ratio_form);
  return *value;
}

std::optional<Pairs> pairs(std::string_view text) {
  Pairs pairs;
  const auto members = std::ranges::count(text, ',') + 1;
  for (std::ptrdiff_t i = 0; i < members; ++i) {
    std::string_view member = take_until(text, ',');
    if (member.find('=') == std::string_view::npos) return std::nullopt;
    auto name = decoded_text(take_until(member, '='));
    auto value = decoded_text(member);
    if (!name || name->empty() || !value) return std::nullopt;
    pairs.emplace_back(*std::move(name), *std::move(value));
  }
  return pairs;
}

}  // namespace weir::telemetry::internal
