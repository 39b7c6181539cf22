#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace weir::server {

/// A request that changed something or would have: every one that needs the role `write` or
/// `operate`, also if it was refused.
struct AuditRecord {
  /// Of the token; empty if there are none, or the caller has shown none that is known.
  std::string caller;
  /// Its address and port.
  std::string peer;
  std::string method;
  /// Path and query as they came.
  std::string target;
  /// Zero if it was cut off before it was answered, as the gateway has stopped: what it asked for
  /// may have been done nevertheless.
  int status = 0;
  /// The code of the problem that was answered; empty if it succeeded. `unknown_outcome` without a
  /// status.
  std::string problem;
  /// Of the commit, if there was one.
  std::uint64_t version = 0;
  /// Of the trace, if it was recorded.
  std::string trace;
};

/// Takes a record away. Called on the threads of actors: it must be quick, and not throw.
using AuditSink = std::function<void(const AuditRecord&)>;

}  // namespace weir::server
