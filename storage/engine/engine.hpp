#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/engine/errc.hpp>
#include <weir/storage/engine/family.hpp>

namespace weir::storage::engine {

/// Whether a call may wait for a disk. On an actor's thread none may: it gives `Errc::would_block`
/// instead, and is made again on a thread that may.
enum class Wait : bool { never, allowed };

/// Writes that stand or fall together, in order.
class Batch {
 public:
  virtual ~Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  virtual void put(Family family, std::string_view key, std::string_view value) = 0;
  virtual void erase(Family family, std::string_view key) = 0;
  /// Every key from `begin` up to, not including, `end`.
  virtual void erase_range(Family family, std::string_view begin, std::string_view end) = 0;
  virtual void clear() = 0;

  /// About what it adds to the write-ahead log.
  virtual std::size_t bytes() const = 0;
  virtual bool is_empty() const = 0;

 protected:
  Batch() = default;
};

/// Walks the keys of one family in order, as they were when it was made.
///
/// Confined to one thread at a time; ends before its engine. Views are valid until it moves.
class Cursor {
 public:
  virtual ~Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// To the first key at or after `key`.
  virtual void seek(std::string_view key) = 0;
  /// To the last key at or before `key`.
  virtual void seek_back(std::string_view key) = 0;
  virtual void next() = 0;
  virtual void previous() = 0;

  /// False past the end, and after a failure: `status` tells which.
  virtual bool is_valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual Result<> status() const = 0;

 protected:
  Cursor() = default;
};

/// Where a cursor may go. Empty: no limit on that side.
struct Bounds {
  std::string begin = {};
  std::string end = {};  // exclusive
};

/// How a cursor reads.
struct CursorOptions {
  Bounds bounds = {};
  Wait wait = Wait::allowed;
  /// For long walks: reads ahead, and leaves the cache to those who come back.
  bool is_scan = false;
};

/// Figures that an operator of the store watches; zero where an engine has no such thing.
struct Statistics {
  std::uint64_t log_bytes = 0;       // appended to the write-ahead log since it was opened
  std::uint64_t syncs = 0;           // of the write-ahead log
  std::uint64_t memtable_bytes = 0;  // not yet in a sorted file
  std::uint64_t cache_bytes = 0;     // of blocks in memory
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t file_bytes = 0;  // of all sorted files
  std::uint64_t files = 0;
  std::uint64_t pending_compaction_bytes = 0;
  std::uint64_t compactions = 0;  // ended
  std::uint64_t stall_nanoseconds = 0;
  bool is_stalled = false;
};

/// Something that happened below, worth a line in the log and an event in a trace.
struct Event {
  enum class Kind : std::uint8_t { flush, compaction, stall_begin, stall_end, failure };

  Kind kind;
  Family family;
  std::string detail;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t nanoseconds = 0;
};

/// Told of events on threads of the engine: must be quick, thread-safe, and must not call back.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
};

/// One of several keys that are looked up together.
struct Lookup {
  std::string_view key;
  std::optional<std::string> value = {};  // nothing: not there
  bool is_known = false;                  // whether it was looked up, and `value` tells
};

/// Ordered bytes with atomic batches: all that a store needs of what is below it.
///
/// One thread writes at a time; reading is for any thread at any time, and sees whole batches only.
/// Every failure names the file or key where that is known.
class Engine {
 public:
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual std::unique_ptr<Batch> make_batch() = 0;

  /// Makes a batch of this engine visible to readers. It survives a crash only after a `sync` that
  /// began later. A failure leaves nothing of it, and whether anything can be written afterwards is
  /// unknown, except that `would_block` changes nothing.
  virtual Result<> write(Batch& batch, Wait wait) = 0;
  /// Everything written before is on disk when this returns. Waits for the disk. May run on one
  /// thread while another writes.
  virtual Result<> sync() = 0;

  /// True if the key is there; `value` is replaced then.
  virtual Result<bool> get(Family family, std::string_view key, std::string& value,
                           Wait wait) const = 0;
  /// Looks up what is not known yet. False if some of it is on a disk that may not be waited for;
  /// it stays unknown then. Each key is seen at some moment of the call, not all at the same one.
  virtual Result<bool> get_many(Family family, std::span<Lookup> lookups, Wait wait) const;
  virtual std::unique_ptr<Cursor> make_cursor(Family family, CursorOptions options) const = 0;
  /// About how many bytes the keys between two bounds and their values take, if that is known
  /// without reading them. May wait for the disk.
  virtual std::optional<std::uint64_t> approximate_bytes(Family /*family*/,
                                                         const Bounds& /*bounds*/) const {
    return std::nullopt;
  }

  /// Allows the engine to forget keys of `Family::history` whose last eight bytes, a big endian
  /// number, are at most `horizon`; it does so when it rewrites files, or in `collect`.
  virtual void set_horizon(std::uint64_t horizon) noexcept = 0;
  /// Forgets what the horizon allows, now, and frees the space of ranges that were erased. Waits
  /// for the disk.
  virtual Result<> collect() = 0;

  /// Copies the whole engine, as of some moment during the call, into a new directory on the same
  /// file system. Gives the names of the files, relative to it.
  virtual Result<std::vector<std::string>> copy_to(const std::filesystem::path& directory) = 0;
  /// Reads everything and checks every checksum. Gives the first fault, naming its file.
  virtual Result<> check_files() = 0;

  virtual Statistics statistics() const = 0;
  /// Ends writing: everything goes to disk. Every cursor must have ended.
  virtual Result<> close() = 0;

 protected:
  Engine() = default;
};

}  // namespace weir::storage::engine
