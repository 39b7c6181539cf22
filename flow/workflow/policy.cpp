#include <weir/flow/workflow/policy.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }

/// `^[a-z][a-z0-9_]*\.[a-z0-9_][a-z0-9_.]*$`
bool is_tag_key(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == key.size()) return false;
  const std::string_view first = key.substr(0, dot);
  const std::string_view rest = key.substr(dot + 1);
  return is_lower(first[0]) && std::ranges::all_of(first, is_word) && is_word(rest[0]) &&
         std::ranges::all_of(rest, [](char c) { return is_word(c) || c == '.'; });
}

std::string quoted(std::string_view text) {
  return std::string("'").append(text.substr(0, 100)).append("'");
}

}  // namespace

Duration backoff_before(const RetryPolicy& policy, std::uint32_t retry, std::uint64_t random) {
  Duration pause = std::min(policy.backoff, policy.backoff_max);
  const bool grows = policy.multiplier > 1 && pause > Duration::zero();
  for (std::uint32_t i = 1; grows && i < retry && pause < policy.backoff_max; ++i) {
    const bool is_over = pause > policy.backoff_max / policy.multiplier;
    pause = is_over ? policy.backoff_max : pause * policy.multiplier;
  }
  if (!policy.has_jitter || pause <= Duration::zero()) return pause;
  const auto half = pause.count() / 2;
  const auto spread = static_cast<std::uint64_t>(pause.count() - half) + 1;
  return Duration(half + static_cast<Duration::rep>(random % spread));
}

Result<> validate(const EdgePolicy& policy) {
  using PolicyKind = EdgePolicy::Kind;
  const bool is_known = (policy.kind == PolicyKind::all_of || policy.kind == PolicyKind::any_of ||
                         policy.kind == PolicyKind::quorum) &&
                        (policy.on_satisfied == OnSatisfied::let_run ||
                         policy.on_satisfied == OnSatisfied::cancel_remaining);
  if (!is_known) {
    return Error(Errc::unsupported_policy,
                 "edge policy of kind " + std::to_string(static_cast<int>(policy.kind)) + ", " +
                     std::to_string(static_cast<int>(policy.on_satisfied)));
  }
  if (policy.kind == PolicyKind::quorum && policy.k == 0) {
    return Error(Errc::invalid_argument, "a quorum is of 1 or more: k is 0");
  }
  return {};
}

std::string to_string(const EdgePolicy& policy) {
  std::string text(to_string(policy.kind));
  if (policy.kind == EdgePolicy::Kind::all_of) return text;
  text.append("(");
  if (policy.kind == EdgePolicy::Kind::quorum) text.append(std::to_string(policy.k)).append(", ");
  return text.append(to_string(policy.on_satisfied)).append(")");
}

Result<> validate_tag(std::string_view key, std::string_view value) {
  if (!is_tag_key(key)) {
    return Error(Errc::invalid_argument, "tag key " + quoted(key) +
                                             ": lower-case words with dots between them, such as " +
                                             "'team.name'");
  }
  if (key.size() > name_bytes_max || value.size() > tag_bytes_max) {
    return Error(Errc::too_large, "tag " + quoted(key) + " has a key of " +
                                      std::to_string(key.size()) + " and a value of " +
                                      std::to_string(value.size()) + " bytes");
  }
  return {};
}

Result<> validate(const Tags& tags) {
  if (tags.size() > tags_max) {
    return Error(Errc::too_large,
                 std::to_string(tags.size()) + " tags, of at most " + std::to_string(tags_max));
  }
  for (const auto& [key, value] : tags) {
    if (auto valid = validate_tag(key, value); !valid) return valid;
  }
  return {};
}

}  // namespace weir::flow::workflow
