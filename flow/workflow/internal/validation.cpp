#include <weir/flow/workflow/internal/validation.hpp>

#include <weir/flow/data/utf8.hpp>
#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow::internal {
namespace {

constexpr std::string_view own_kinds = "weir.";
constexpr Time first_time = Time();
constexpr Time last_time = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);

/// With what cannot be read as its bytes; not the whole of it, if it is long.
std::string escaped(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text.substr(0, 64)) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte < 0x7f) {
      quoted += letter;
    } else {
      quoted.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
    }
  }
  return quoted + "'";
}

std::string nanoseconds(Duration duration) { return std::to_string(duration.count()) + " ns"; }

std::string microseconds(Time time) {
  return std::to_string(time.time_since_epoch().count()) + " us";
}

Result<> validate_capabilities(const std::vector<std::string>& capabilities) {
  std::size_t bytes = 0;
  for (const std::string& capability : capabilities) {
    if (capability.empty()) return Error(Errc::invalid_argument, "a capability is empty");
    if (auto valid = validate_text("capability", capability); !valid) return valid;
    bytes += capability.size() + 1;
  }
  if (capabilities.size() <= capabilities_max && bytes <= capabilities_bytes_max) return {};
  return Error(Errc::too_large, std::to_string(capabilities.size()) + " capabilities of " +
                                    std::to_string(bytes) + " bytes");
}

Result<> validate_limit_keys(const std::vector<std::string>& keys) {
  if (keys.size() > limit_keys_max) {
    return Error(Errc::too_large, std::to_string(keys.size()) + " limit keys, of at most " +
                                      std::to_string(limit_keys_max));
  }
  for (const std::string& key : keys) {
    if (auto valid = validate_name("limit key", key); !valid) return valid;
    if (!key.ends_with(":*")) continue;
    return Error(Errc::invalid_argument, "limit key '" + key + "' stands for many");
  }
  return {};
}

Result<> validate_retry(const RetryPolicy& retry) {
  for (const Duration backoff : {retry.backoff, retry.backoff_max}) {
    if (backoff >= Duration::zero()) continue;
    return Error(Errc::invalid_argument, "a negative backoff: " + nanoseconds(backoff));
  }
  if (retry.multiplier == 0) return Error(Errc::invalid_argument, "a backoff multiplier of 0");
  std::size_t bytes = 0;
  for (const std::string& category : retry.categories) {
    if (auto valid = validate_text("retried category", category); !valid) return valid;
    bytes += category.size() + 1;
  }
  if (bytes <= capabilities_bytes_max) return {};
  return Error(Errc::too_large, std::to_string(retry.categories.size()) +
                                    " retried categories of " + std::to_string(bytes) + " bytes");
}

Result<> validate_times(const NewExecution& request) {
  if (request.attempt_timeout) {
    auto valid = validate_duration("attempt timeout", *request.attempt_timeout);
    if (!valid) return valid;
  }
  if (request.not_before) {
    auto valid = validate_time("time to begin", *request.not_before);
    if (!valid) return valid;
  }
  if (request.deadline) {
    if (auto valid = validate_time("deadline", *request.deadline); !valid) return valid;
  }
  if (request.deadline && request.not_before && *request.deadline <= *request.not_before) {
    return Error(Errc::invalid_argument, "a deadline of " + microseconds(*request.deadline) +
                                             " is not after the time to begin, " +
                                             microseconds(*request.not_before));
  }
  return {};
}

}  // namespace

Result<> validate_name(std::string_view what, std::string_view name, bool may_be_empty) {
  if (name.empty() && !may_be_empty) {
    return Error(Errc::invalid_argument, std::string(what) + " is empty");
  }
  if (name.size() > name_bytes_max) {
    return Error(Errc::too_large, std::string(what) + " has " + std::to_string(name.size()) +
                                      " bytes, of at most " + std::to_string(name_bytes_max));
  }
  return validate_text(what, name);
}

Result<> validate_text(std::string_view what, std::string_view text) {
  if (data::is_utf8(text) && text.find('\0') == std::string_view::npos) return {};
  return Error(Errc::invalid_argument,
               std::string(what) + " " + escaped(text) + ": not UTF-8, or with a character 0");
}

Result<> validate_time(std::string_view what, Time time) {
  if (time >= first_time && time < last_time) return {};
  return Error(Errc::invalid_argument,
               std::string(what) + " of " + microseconds(time) + ": not from 1970 to 9999");
}

Result<> validate_payload(std::string_view what, std::string_view payload) {
  if (payload.size() <= payload_bytes_max) return {};
  return Error(Errc::too_large, std::string(what) + " has " + std::to_string(payload.size()) +
                                    " bytes, of at most " + std::to_string(payload_bytes_max));
}

Result<> validate_priority(std::int32_t priority) {
  if (priority >= 0 && priority <= priority_max) return {};
  return Error(Errc::invalid_argument, "priority " + std::to_string(priority) +
                                           " is not from 0 to " + std::to_string(priority_max));
}

Result<> validate_duration(std::string_view what, Duration duration) {
  if (duration >= std::chrono::microseconds(1)) return {};
  return Error(Errc::invalid_argument,
               std::string(what) + " of " + nanoseconds(duration) + ": below a microsecond");
}

bool is_own_kind(std::string_view kind) { return kind.starts_with(own_kinds); }

Result<> refuse_own_kind(std::string_view kind) {
  if (!is_own_kind(kind)) return {};
  return Error(Errc::invalid_argument,
               "kind '" + std::string(kind) + "': those that begin with 'weir.' are Weir's own");
}

Result<> validate(const NewExecution& request) {
  if (auto valid = validate_name("kind", request.kind); !valid) return valid;
  if (auto valid = validate_name("namespace", request.space); !valid) return valid;
  if (auto valid = validate_name("lane", request.lane); !valid) return valid;
  if (auto valid = validate_name("creator", request.creator, true); !valid) return valid;
  if (auto valid = validate_name("idempotency key", request.idempotency_key, true); !valid) {
    return valid;
  }
  if (auto valid = validate_payload("payload", request.payload); !valid) return valid;
  if (auto valid = validate_priority(request.priority); !valid) return valid;
  if (auto valid = validate_capabilities(request.capabilities); !valid) return valid;
  if (auto valid = validate_limit_keys(request.limit_keys); !valid) return valid;
  if (auto valid = validate_retry(request.retry); !valid) return valid;
  if (auto valid = validate_times(request); !valid) return valid;
  return workflow::validate(request.tags);
}

Result<> validate(const NewWorkflow& request) {
  if (auto valid = validate_name("namespace", request.space); !valid) return valid;
  if (auto valid = validate_name("kind", request.kind, true); !valid) return valid;
  if (to_string(request.on_failure) == "?") {
    return Error(Errc::unsupported_policy,
                 "failure policy " + std::to_string(static_cast<int>(request.on_failure)));
  }
  return workflow::validate(request.tags);
}

Result<> validate(const NewEdge& request) {
  if (auto valid = validate_name("input", request.input, true); !valid) return valid;
  return validate_name("creator", request.creator, true);
}

Result<> validate(const ClaimRequest& request) {
  if (auto valid = validate_name("worker", request.worker); !valid) return valid;
  if (auto valid = validate_name("lane", request.lane); !valid) return valid;
  for (const std::string& space : request.spaces) {
    if (auto valid = validate_name("namespace", space); !valid) return valid;
  }
  if (auto valid = validate_capabilities(request.capabilities); !valid) return valid;
  return validate_duration("lease", request.lease);
}

}  // namespace weir::flow::workflow::internal
