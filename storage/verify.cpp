#include <weir/storage/verify.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weir/storage/change.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/printable.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/internal/store_directory.hpp>
#include <weir/storage/internal/stored_store.hpp>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage {
namespace {

using engine::Engine;
using engine::Family;
using engine::Wait;
using internal::printable;

Error fault(Family family, std::string_view key, const std::string& what) {
  return Error(Errc::corruption,
               std::string(engine::to_string(family)) + ": " + printable(key) + ": " + what);
}

class Verifier {
 public:
  Verifier(Engine& engine, VerifyOptions options) : engine_(engine), options_(std::move(options)) {}

  Result<VerifyReport> run() {
    if (auto files = engine_.check_files(); !files) return files.error();
    auto store = internal::read_stored_store(engine_);
    if (!store) return store.error();
    report_.newest = store->newest;
    report_.oldest_logged = store->log_floor;
    for (const auto step :
         {&Verifier::check_rows, &Verifier::check_history, &Verifier::check_states,
          &Verifier::check_checkpoints, &Verifier::check_log}) {
      if (auto checked = (this->*step)(); !checked) return checked.error();
    }
    return report_;
  }

 private:
  template <class Check>
  Result<> walk(Family family, std::uint64_t& count, Check check) {
    const auto cursor = engine_.make_cursor(family, {.is_scan = true});
    for (cursor->seek({}); cursor->is_valid(); cursor->next()) {
      if (auto checked = check(cursor->key(), cursor->value()); !checked) return checked;
      if (++count % 100'000 == 0 && options_.on_progress) {
        options_.on_progress(engine::to_string(family).data(), count);
      }
    }
    return cursor->status();
  }

  /// A key with its space and a value with a version that has been committed.
  Result<internal::Stored> check_entry(Family family, std::string_view key,
                                       std::string_view value) const {
    if (key.size() < 4) return fault(family, key, "the key has no key space");
    const auto stored = internal::parse_stored(value);
    if (!stored) return fault(family, key, "not a stored value");
    if (stored->version > report_.newest) {
      return fault(family, key,
                   "version " + to_string(stored->version) + " is newer than the newest, " +
                       to_string(report_.newest));
    }
    return *stored;
  }

  Result<> check_singles(Family family, std::uint64_t& count) {
    return walk(family, count, [&](std::string_view key, std::string_view value) {
      auto stored = check_entry(family, key, value);
      return stored ? Result<>() : Result<>(stored.error());
    });
  }
  Result<> check_rows() { return check_singles(Family::rows, report_.rows); }
  Result<> check_states() { return check_singles(Family::state, report_.states); }

  Result<> check_checkpoints() {
    return walk(Family::checkpoints, report_.checkpoints,
                [&](std::string_view name, std::string_view value) -> Result<> {
                  const auto stored = internal::parse_stored(value);
                  const auto checkpoint =
                      stored ? internal::parse_checkpoint(stored->value) : std::nullopt;
                  if (!checkpoint) return fault(Family::checkpoints, name, "not a checkpoint");
                  if (checkpoint->version <= report_.newest) return {};
                  return fault(Family::checkpoints, name,
                               "at version " + to_string(checkpoint->version) +
                                   ", newer than the newest, " + to_string(report_.newest));
                });
  }

  /// The lives of a row follow one another, and end before that of the newest begins.
  Result<> check_history() {
    return walk(Family::history, report_.old_versions,
                [&](std::string_view key, std::string_view value) -> Result<> {
                  if (key.size() < 12) return fault(Family::history, key, "the key is too short");
                  return check_life(key, value);
                });
  }

  Result<> check_life(std::string_view key, std::string_view value) {
    const std::string_view row = internal::row_key_of(key);
    const Version until = internal::until_of(key);
    auto stored = check_entry(Family::history, row, value);
    if (!stored) return stored.error();
    const bool is_overlap = row == last_key_ && stored->version < last_until_;
    if (stored->version >= until || until > report_.newest || is_overlap) {
      return fault(Family::history, key,
                   "lives from version " + to_string(stored->version) + " to " + to_string(until) +
                       (is_overlap ? ", but another lived then" : ""));
    }
    last_key_ = row;
    last_until_ = until;
    auto found = engine_.get(Family::rows, row, value_, Wait::allowed);
    if (!found) return found.error();
    if (!*found || internal::parse_stored(value_)->version >= until) return {};
    return fault(Family::rows, row,
                 "is older than version " + to_string(until) + ", which replaced or removed it");
  }

  Result<> check_log() {
    Version expected = report_.oldest_logged;
    // Of what came before a log that has been collected only its total is known.
    std::optional<std::uint64_t> total;
    if (expected == Version{1}) total = 0;
    std::uint64_t records = 0;
    auto walked =
        walk(Family::log, records, [&](std::string_view key, std::string_view value) -> Result<> {
          if (key != internal::log_key(expected)) {
            return fault(Family::log, key, "version " + to_string(expected) + " is missing");
          }
          auto record = ChangeRecord::decode(expected, value);
          if (!record) return record.error();
          if (total && record->total_bytes() != *total + value.size()) {
            return fault(Family::log, key, "does not go on where the record before it ends");
          }
          total = record->total_bytes();
          expected = expected.next();
          return check_changes(*record);
        });
    if (!walked) return walked;
    if (expected == report_.newest.next() || report_.newest == Version{}) return {};
    return fault(Family::log, {}, "version " + to_string(expected) + " is missing");
  }

  Result<> check_changes(const ChangeRecord& record) {
    for (const SpaceChanges& changes : record.spaces()) {
      for (const Change& change : changes) {
        ++report_.changes;
        if (auto checked = check_change(record.version(), changes.space(), change); !checked) {
          return checked;
        }
      }
    }
    return {};
  }

  /// The row is what the change made it, or newer.
  Result<> check_change(Version version, std::uint32_t space, const Change& change) {
    const std::string key = internal::row_key(space, change.key);
    auto found = engine_.get(Family::rows, key, value_, Wait::allowed);
    if (!found) return found.error();
    if (!*found) return {};
    const auto row = internal::parse_stored(value_);
    const bool is_removed = change.kind == ChangeKind::remove;
    if (row->version > version) return {};
    if (row->version == version && !is_removed && row->value == change.after) return {};
    return fault(Family::rows, key,
                 "is not what the " + std::string(to_string(change.kind)) + " of version " +
                     to_string(version) + " made it");
  }

  Engine& engine_;
  const VerifyOptions options_;
  VerifyReport report_;
  std::string last_key_;  // of the history
  Version last_until_;
  std::string value_;
};

}  // namespace

Result<VerifyReport> verify(Engine& engine, VerifyOptions options) {
  return Verifier(engine, std::move(options)).run();
}

Result<VerifyReport> verify(const std::filesystem::path& directory, VerifyOptions options) {
  auto held = internal::StoreDirectory::open_to_read(directory);
  if (!held) return held.error();
  auto engine = rocksdb::open_engine({.directory = held->data(), .is_read_only = true});
  if (!engine && engine.error() == Errc::not_found) {
    // A crash came before the first commit: nothing is in it yet.
    engine::MemoryEngine empty;
    return verify(empty, std::move(options));
  }
  if (!engine) return engine.error();
  return verify(**engine, std::move(options));
}

Result<VerifyReport> verify_backup(const std::filesystem::path& directory, VerifyOptions options) {
  if (auto format = internal::StoreDirectory::check_format(directory); !format)
    return format.error();
  auto engine = rocksdb::open_engine({.directory = directory / "data", .is_read_only = true});
  if (!engine) return engine.error();
  return verify(**engine, std::move(options));
}

}  // namespace weir::storage
