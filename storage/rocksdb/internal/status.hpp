#pragma once

#include <string>
#include <string_view>

#include <rocksdb/status.h>
#include <weir/runtime/error.hpp>
#include <weir/storage/engine/errc.hpp>
#include <weir/storage/engine/family.hpp>

namespace weir::storage::rocksdb::internal {

/// What a failed status means for users of the engine in `directory`. The detail names the file if
/// RocksDB does, else `place`, within the directory.
Error to_error(const ::rocksdb::Status& status, std::string_view directory,
               std::string_view place = {});

/// A key as part of a message: `family 'rows', key 0x6b31`.
std::string describe_key(engine::Family family, std::string_view key);

}  // namespace weir::storage::rocksdb::internal
