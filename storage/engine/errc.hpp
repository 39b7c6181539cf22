#pragma once

#include <system_error>

namespace weir::storage::engine {

/// Why an operation of the store did not succeed. One list for all of storage.
enum class Errc : int {
  conflict = 1,          // another transaction was faster; retry
  would_block,           // needs the disk, on a thread that must not wait for it
  closed,                // the store has been closed
  failed,                // an earlier write or sync failed; reopen the store
  io_error,              // the file system reported an error
  no_space,              // the disk is full
  corruption,            // stored bytes are not what was written
  locked,                // another process has the directory open
  not_a_store,           // the directory holds something else
  unsupported_format,    // written by a newer version of Weir
  read_only,             // the directory cannot be written to
  too_large,             // a key or value above its limit
  future_version,        // newer than the newest commit
  version_collected,     // older than what is kept
  overtaken,             // the change log no longer reaches back to the consumer
  checkpoint_backwards,  // a checkpoint may only advance
  ended,                 // the transaction has been committed or given up
  unknown_space,         // no key space of that name or number
  wrong_type,            // the key space holds other types
  already_exists,        // the name is taken
  not_found,             // no such thing
  invalid_argument,      // a value outside its range
};

const std::error_category& storage_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), storage_category()};
}

}  // namespace weir::storage::engine

template <>
struct std::is_error_code_enum<weir::storage::engine::Errc> : std::true_type {};
