#pragma once

#include <chrono>
#include <string>

#include <boost/json/value.hpp>
#include <weir/cli/terminal.hpp>

namespace weir::cli {

/// What a server tells at one moment. Null where it does not know the question, or refuses it.
struct Sample {
  std::chrono::steady_clock::time_point at;
  boost::json::value overview;
  boost::json::value flows;
  boost::json::value actors;
  /// Why something is missing; empty if nothing is.
  std::string trouble;
};

struct ScreenOptions {
  std::string url;
  std::string order;
  TerminalSize size = {};
  bool is_coloured = false;
  /// Shown in the last line, if there is room.
  std::string keys = {};
};

/// At most as many lines as the terminal has; rates are of the time between the samples.
std::string draw_top(const Sample& before, const Sample& now, const ScreenOptions& options);

}  // namespace weir::cli
