#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include <weir/runtime/result.hpp>
#include <weir/storage/engine/engine.hpp>

namespace weir::storage::rocksdb {

/// The least memory an engine works with.
inline constexpr std::size_t memory_budget_min = std::size_t{4} << 20;

/// How to open an engine on disk.
struct EngineOptions {
  /// Made, with its parents, if it is missing. May hold nothing but an engine's files.
  std::filesystem::path directory;
  /// About what the engine keeps in memory: writes not yet in sorted files, blocks, indexes and
  /// filters. A few files being merged come on top.
  std::size_t memory_budget = std::size_t{256} << 20;
  /// False: nothing is logged, `sync` does nothing, and what was written survives only a `close`.
  /// What a crash leaves is some moment between the last two closes.
  bool write_ahead = true;
  /// How many files are kept open. Zero: half of what the process may open, so that sockets have
  /// the other half.
  std::size_t open_files_max = 0;
  /// Nothing is made, locked or changed, and writing gives `read_only`. What only a log holds is
  /// read into memory. Nobody may write there meanwhile.
  bool is_read_only = false;
  /// Told what happens below. Must outlive the engine.
  engine::EventSink* events = nullptr;
};

/// Opens the engine in a directory, after the log of a crashed process has been read again: every
/// batch up to some moment after the last successful sync is there, and none after it.
///
/// Fails with `locked` (names the process), `read_only`, `corruption` (names the file),
/// `not_a_store`, `unsupported_format`, `invalid_argument`, `no_space` or `io_error`; to be read
/// only, also with `not_found` if the making of an engine was begun there at most.
Result<std::unique_ptr<engine::Engine>> open_engine(EngineOptions options);

}  // namespace weir::storage::rocksdb
