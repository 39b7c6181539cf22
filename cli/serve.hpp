#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <weir/cli/output.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

/// How a store is served.
struct ServeOptions {
  std::filesystem::path directory = {};
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::filesystem::path tokens_file = {};
  std::filesystem::path certificate_file = {};
  std::filesystem::path key_file = {};
  /// Who changed what is noted there; empty: nowhere but in the log that `OTEL_*` configures.
  std::filesystem::path audit_file = {};
  /// `durable`, `buffered` or `memory`.
  std::string durability = "durable";
  double history_seconds = 0;
  double drain_seconds = 10;
  std::size_t memory_mebibytes = 256;
  /// Zero: one for each core.
  unsigned threads = 0;
};

/// Until SIGINT or SIGTERM. The first line is the address.
Result<> serve(const ServeOptions& options, Output& output);

}  // namespace weir::cli
