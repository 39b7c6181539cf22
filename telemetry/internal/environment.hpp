#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/telemetry/internal/option_forms.hpp>
#include <weir/telemetry/internal/text.hpp>
#include <weir/telemetry/options.hpp>

namespace weir::telemetry::internal {

/// One variable of the environment; an empty value counts as none, as OpenTelemetry demands.
struct Variable {
  explicit operator bool() const noexcept { return !value.empty(); }
  /// Throws that the value is not what was `accepted`.
  [[noreturn]] void refuse(std::string_view accepted) const {
    refuse_option(name, value, accepted);
  }

  std::string name;
  std::string value;
};

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

/// Variables by name, read as the types that OpenTelemetry gives them. What is malformed throws.
class Environment {
 public:
  explicit Environment(const GetVariable& get) noexcept : get_(&get) {}

  Variable read(const std::string& name) const;
  /// The signal's own `OTEL_EXPORTER_OTLP_TRACES_<what>`, else `OTEL_EXPORTER_OTLP_<what>`.
  Variable read_otlp(std::string_view signal, std::string_view what) const;

 private:
  const GetVariable* get_;
};

bool is_true(const Variable& variable);
std::int64_t number(const Variable& variable, std::int64_t min, std::int64_t max = number_max);
double ratio(const Variable& variable);

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// `name=value,name=value`, both percent-encoded; nothing if it is not that.
std::optional<Pairs> pairs(std::string_view text);

/// The value whose name the variable has, in upper or lower case.
template <class Value, std::size_t Count>
Value choice(const Variable& variable, const Choice<Value> (&choices)[Count]) {
  std::string names;
  for (const Choice<Value>& candidate : choices) {
    if (equal_in_any_case(variable.value, candidate.name)) return candidate.value;
    names.append(names.empty() ? "" : ", ").append(candidate.name);
  }
  variable.refuse("one of " + names);
}

}  // namespace weir::telemetry::internal
