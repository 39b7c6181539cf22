#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <weir/cli/output.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

/// What the shop of samples/shop takes.
struct DemoOptions {
  std::filesystem::path directory = {};
  bool begins_anew = false;
  double orders_per_second = 200;
  std::optional<unsigned> seconds = {};
  std::optional<std::uint16_t> port = {};
  bool verifies = false;
};

/// Runs the shop.
Result<> run_demo(const DemoOptions& options, Output& output);

}  // namespace weir::cli
