#pragma once

#include <cstdint>
#include <string>

#include <boost/json/array.hpp>
#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

struct ActorOptions {
  ServerOptions server = {};
  /// One of `actor_orders`.
  std::string order = "mailbox";
  /// Zero: all.
  std::uint64_t limit = 0;
};

inline constexpr const char* actor_orders[] = {"mailbox", "handled", "restarts", "name", "phase"};

/// The most, or the first, come first.
void sort_actors(boost::json::array& actors, const std::string& order);
/// Path of names, or the type of one without a name.
std::string actor_name(const boost::json::value& actor);

Result<> show_actors(const ActorOptions& options, Output& output);

}  // namespace weir::cli
