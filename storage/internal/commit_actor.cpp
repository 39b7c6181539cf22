#include <weir/storage/internal/commit_actor.hpp>

#include <utility>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/row_format.hpp>

namespace weir::storage::internal {
namespace {

using engine::Family;
using engine::Wait;

}  // namespace

CommitActor::CommitActor(std::shared_ptr<StoreCore> core, StoredStore stored)
    : goodbye_{core->committer_gone},
      core_(std::move(core)),
      accepted_(core_->newest()),
      written_(accepted_),
      synced_(accepted_),
      window_(accepted_, core_->options.conflict_keys_max),
      retention_(std::move(stored.retention)),
      unswept_(std::move(stored.dropped)),
      batch_(core_->engine->make_batch()),
      spare_(core_->engine->make_batch()) {}

Result<Version> CommitActor::on(Commit commit) {
  if (auto end = core_->end()) return *end;
  CommitRequest& request = *commit.request;
  auto accepted = validate(request);
  if (accepted) accepted = refresh(request);
  if (!accepted) {
    if (accepted.error() == Errc::conflict) core_->conflicts.fetch_add(1);
    return accepted.error();
  }
  core_->commits.fetch_add(1);
  accepted_ = accepted_.next();
  append(accepted_, request);
  window_.forget_until(core_->pins.oldest_or(core_->newest()));
  window_.add(accepted_, std::move(request.sorted_keys));
  if (!std::exchange(is_flush_due_, true)) self().send<Flush>();
  return accepted_;
}

Result<bool> CommitActor::on(Validate validation) {
  auto valid = validate(*validation.request);
  if (valid) return true;
  if (valid.error() == Errc::conflict) core_->conflicts.fetch_add(1);
  return valid.error();
}

Result<> CommitActor::validate(const CommitRequest& request) const {
  const Version snapshot = request.snapshot;
  if (snapshot < window_.floor()) {
    return Error(Errc::conflict, "the transaction began at version " + to_string(snapshot) +
                                     ", and conflicts are known since " +
                                     to_string(window_.floor()) + " only");
  }
  for (const std::uint64_t read : request.reads) {
    const Version written = window_.last_write(read);
    if (written > snapshot) {
      return Error(Errc::conflict, "version " + to_string(written) +
                                       " wrote what was read at version " + to_string(snapshot));
    }
  }
  for (const ReadRange& range : request.ranges) {
    if (window_.has_range_write(range.begin, range.end, snapshot)) {
      return Error(Errc::conflict,
                   "a range read at version " + to_string(snapshot) + " has been written since");
    }
  }
  if (auto valid = validate_spaces(request); !valid) return valid;
  return validate_checkpoints(request);
}

/// Nothing is written to what has been dropped, and what was read there is no more.
Result<> CommitActor::validate_spaces(const CommitRequest& request) const {
  for (const std::uint32_t space : request.read_spaces) {
    const auto dropped = core_->dropped.since(space);
    if (!dropped || *dropped <= request.snapshot) continue;
    return Error(Errc::conflict, "version " + to_string(*dropped) + " dropped key space " +
                                     std::to_string(space) + ", which was read at version " +
                                     to_string(request.snapshot));
  }
  const auto check = [&](std::uint32_t space) -> Result<> {
    const auto dropped = core_->dropped.since(space);
    if (!dropped) return {};
    return Error(Errc::unknown_space, "key space " + std::to_string(space) +
                                          " was dropped at version " + to_string(*dropped));
  };
  for (const std::uint32_t space : request.drops) {
    if (auto known = check(space); !known) return known;
  }
  for (const Write& write : request.writes) {
    if (auto known = check(space_of(write.key)); !known) return known;
  }
  return {};
}

Result<> CommitActor::validate_checkpoints(const CommitRequest& request) const {
  for (const Write& write : request.writes) {
    if (write.kind != WriteKind::checkpoint || !write.value) continue;
    const std::string_view name = key_of(write.key);
    const auto wanted = parse_checkpoint(*write.value);
    const auto before = retention_.of(name);
    if (before && *before > wanted->version) {
      return Error(Errc::checkpoint_backwards, std::string(name) + ": from version " +
                                                   to_string(*before) + " to " +
                                                   to_string(wanted->version));
    }
    if (wanted->version > accepted_.next()) {
      return Error(Errc::future_version, std::string(name) + ": version " +
                                             to_string(wanted->version) + ", the newest is " +
                                             to_string(accepted_));
    }
    if (auto reaches = core_->check_log_reaches(wanted->version); !reaches) return reaches;
  }
  return {};
}

/// Rows that others have written since the transaction began, and it did not read, replace what is
/// there now.
Result<> CommitActor::refresh(CommitRequest& request) {
  for (Write& write : request.writes) {
    if (write.kind != WriteKind::row) continue;
    const Version written = window_.last_write(ConflictWindow::hash(write.key));
    if (written <= request.snapshot) continue;
    if (auto flushed = write_now(); !flushed) return flushed;
    auto found = core_->engine->get(Family::rows, write.key, value_, Wait::never);
    if (!found && found.error() == Errc::would_block) {
      return Error(Errc::conflict, "version " + to_string(written) + " wrote row " +
                                       printable(write.key) + ", which is no longer in memory");
    }
    if (!found) return found.error();
    write.before.reset();
    if (*found) write.before = value_;
  }
  return {};
}

void CommitActor::append(Version version, const CommitRequest& request) {
  changes_.clear();
  core_->high_keys.raise(request.writes);
  for (const Write& write : request.writes) {
    switch (write.kind) {
      case WriteKind::row: append_row(version, write); break;
      case WriteKind::state: append_single(version, write, Family::state, write.key); break;
      case WriteKind::checkpoint:
        note_checkpoint(write);
        append_single(version, write, Family::checkpoints, key_of(write.key));
        break;
    }
  }
  for (const std::uint32_t space : request.drops) append_drop(version, space);
  append_record(version, request);
}

/// What it holds goes later, when nobody can read it any more.
void CommitActor::append_drop(Version version, std::uint32_t space) {
  core_->dropped.add(space, version);
  unswept_[space] = version;
  batch_->put(Family::meta, dropped_key(space), encode_version(version));
  std::string last;
  append_big_endian(core_->dropped.last(), last);
  batch_->put(Family::meta, last_dropped_key, last);
}

void CommitActor::append_single(Version version, const Write& write, Family family,
                                std::string_view key) {
  if (!write.value) {
    batch_->erase(family, key);
    return;
  }
  value_.clear();
  append_stored(value_, version, *write.value);
  batch_->put(family, key, value_);
}

void CommitActor::append_row(Version version, const Write& write) {
  if (!write.before && !write.value) return;  // removed what was not there
  Change change{.kind = ChangeKind::insert, .key = key_of(write.key), .before = {}, .after = {}};
  if (write.before) {
    core_->newest_history.store(version.number, std::memory_order_release);
    key_.clear();
    append_history_key(key_, write.key, version);
    batch_->put(Family::history, key_, *write.before);
    change.kind = write.value ? ChangeKind::update : ChangeKind::remove;
    change.before = parse_stored(*write.before)->value;
  }
  if (write.value) {
    value_.clear();
    append_stored(value_, version, *write.value);
    batch_->put(Family::rows, write.key, value_);
    change.after = *write.value;
  } else {
    batch_->erase(Family::rows, write.key);
  }
  changes_.add(space_of(write.key), change);
}

void CommitActor::append_record(Version version, const CommitRequest& request) {
  retention_.total_bytes =
      encode_changes(record_, {core_->microseconds_at(now()), request.origin, &request.trace},
                     retention_.total_bytes, changes_);
  batch_->put(Family::log, log_key(version), record_);
}

void CommitActor::note_checkpoint(const Write& write) {
  if (write.value) {
    retention_.consumers[std::string(key_of(write.key))] = parse_checkpoint(*write.value)->version;
  } else {
    const auto consumer = retention_.consumers.find(key_of(write.key));
    if (consumer != retention_.consumers.end()) retention_.consumers.erase(consumer);
  }
}

}  // namespace weir::storage::internal
