#include <weir/storage/internal/stored_store.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <weir/storage/change.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/printable.hpp>
#include <weir/storage/internal/row_format.hpp>

namespace weir::storage::internal {
namespace {

using engine::Engine;
using engine::Family;
using engine::Wait;

Result<> read_newest(const Engine& engine, StoredStore& store) {
  const auto cursor = engine.make_cursor(Family::log, {});
  cursor->seek_back(log_key(Version{~std::uint64_t{0}}));
  if (auto status = cursor->status(); !status) return status;
  if (!cursor->is_valid()) return {};
  const auto version = parse_version(cursor->key());
  if (!version) {
    return Error(Errc::corruption, "change log: " + printable(cursor->key()) + ": not a version");
  }
  auto record = ChangeRecord::decode(*version, cursor->value());
  if (!record) return record.error();
  store.newest = *version;
  store.retention.total_bytes = record->total_bytes();
  return {};
}

Result<> read_meta(const Engine& engine, std::string_view key, Version& version) {
  std::string value;
  auto found = engine.get(Family::meta, key, value, Wait::allowed);
  if (!found) return found.error();
  if (!*found) return {};
  const auto parsed = parse_version(value);
  if (!parsed) return Error(Errc::corruption, "meta: " + std::string(key) + ": not a version");
  version = *parsed;
  return {};
}

Result<> read_consumers(const Engine& engine, LogRetention& retention) {
  const auto cursor = engine.make_cursor(Family::checkpoints, {});
  for (cursor->seek({}); cursor->is_valid(); cursor->next()) {
    const auto value = parse_stored(cursor->value());
    const auto checkpoint = value ? parse_checkpoint(value->value) : std::nullopt;
    if (!checkpoint) {
      return Error(Errc::corruption, "checkpoint " + printable(cursor->key()) + ": not one");
    }
    retention.consumers[std::string(cursor->key())] = checkpoint->version;
  }
  return cursor->status();
}

Error broken_meta(std::string_view key) {
  return Error(Errc::corruption, "meta: " + printable(key) + ": not about a key space");
}

Result<> read_dropped(const Engine& engine, StoredStore& store) {
  const auto cursor = engine.make_cursor(Family::meta, {});
  for (cursor->seek(dropped_prefix); cursor->is_valid(); cursor->next()) {
    const std::string_view key = cursor->key();
    if (!key.starts_with(dropped_prefix)) break;
    const auto version = parse_version(cursor->value());
    if (key.size() != dropped_prefix.size() + 4 || !version) return broken_meta(key);
    const auto space = read_big_endian<std::uint32_t>(key.substr(dropped_prefix.size()));
    store.dropped[space] = *version;
  }
  if (auto status = cursor->status(); !status) return status;
  std::string last;
  auto found = engine.get(Family::meta, last_dropped_key, last, Wait::allowed);
  if (!found) return found.error();
  if (*found && last.size() != 4) return broken_meta(last_dropped_key);
  if (*found) store.last_dropped = read_big_endian<std::uint32_t>(last);
  const bool is_beyond =
      !store.dropped.empty() && store.dropped.rbegin()->first > store.last_dropped;
  return is_beyond ? Result<>(broken_meta(last_dropped_key)) : Result<>();
}

}  // namespace

Result<StoredStore> read_stored_store(const Engine& engine) {
  StoredStore store;
  if (auto read = read_newest(engine, store); !read) return read.error();
  if (auto read = read_meta(engine, horizon_key, store.horizon); !read) return read.error();
  if (auto read = read_meta(engine, log_floor_key, store.log_floor); !read) return read.error();
  if (auto read = read_consumers(engine, store.retention); !read) return read.error();
  if (auto read = read_dropped(engine, store); !read) return read.error();
  if (store.horizon > store.newest || store.log_floor > store.newest.next()) {
    return Error(Errc::corruption, "the newest version is " + to_string(store.newest) +
                                       ", but the store says it keeps versions from " +
                                       to_string(store.horizon) + " and changes from " +
                                       to_string(store.log_floor));
  }
  return store;
}

}  // namespace weir::storage::internal
