#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weir/storage/internal/conflict_window.hpp>
#include <weir/storage/internal/write_set.hpp>
#include <weir/storage/version.hpp>
#include <weir/telemetry/trace_context.hpp>

namespace weir::storage::internal {

/// Keys that a transaction has read without finding them all: what was not there counts too.
struct ReadRange {
  std::string begin;
  std::string end;  // exclusive
};

/// Everything that a transaction wants to have committed.
struct CommitRequest {
  Version snapshot;
  std::vector<std::uint64_t> reads;  // hashes of keys
  std::vector<ReadRange> ranges;
  std::vector<Write> writes;                // in the order they were made
  std::shared_ptr<const WriteBytes> bytes;  // of those
  ConflictWindow::Writes sorted_keys;       // of all writes
  std::vector<std::uint32_t> read_spaces;   // in which something was read
  std::vector<std::uint32_t> drops;         // key spaces
  std::string origin;
  telemetry::TraceContext trace;
};

}  // namespace weir::storage::internal
