#pragma once

#include <system_error>

namespace weir::storage {

/// Why an operation of the store did not succeed.
enum class Errc : int {
  conflict = 1,          // another transaction changed what this one read: run it again
  closed,                // the store is closed, or is closing
  failed,                // an earlier write failed, and the store takes no more
  io_error,              // the disk or the file system refused
  corruption,            // stored bytes are not what was written
  no_space,              // the disk is full
  not_a_store,           // the folder holds something else
  unsupported_format,    // written by another version of Weir
  locked,                // another process has the store open
  too_large,             // a key, a value or a transaction beyond its limit
  future_version,        // no commit has this version yet
  version_collected,     // the version is older than what is kept
  overtaken,             // the reader is further behind than the log is kept
  checkpoint_backwards,  // a consumer's position only advances
  ended,                 // the transaction is committed or abandoned
  unknown_space,         // no such space, or one of another store
  wrong_type,            // the space holds other key or value types
  would_block,           // not possible at once
  invalid_argument,      // a value outside its range
  not_found,             // no such row, consumer or file
  already_exists,        // the name is taken
};

const std::error_category& storage_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), storage_category()};
}

}  // namespace weir::storage

template <>
struct std::is_error_code_enum<weir::storage::Errc> : std::true_type {};
