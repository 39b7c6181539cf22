#include <weir/storage/internal/row_reader.hpp>

#include <utility>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage::internal {
namespace {

using engine::Family;
using engine::Wait;

Error not_stored(Family family, std::string_view key) {
  return Error(Errc::corruption, std::string(engine::to_string(family)) + ": " + printable(key) +
                                     ": not a stored value");
}

Error too_new(Family family, std::string_view key, Version written, Version version) {
  return Error(Errc::conflict, std::string(engine::to_string(family)) + ": " + printable(key) +
                                   " was written at version " + to_string(written) +
                                   ", after version " + to_string(version) + " of the transaction");
}

/// The version that lived at `version`, if it has been replaced or removed since.
Result<bool> read_history(const StoreCore& core, std::string_view row_key, Version version,
                          std::string& value, Wait wait) {
  std::string wanted;
  append_history_key(wanted, row_key, version.next());
  const auto cursor = core.engine->make_cursor(Family::history, {.wait = wait});
  cursor->seek(wanted);
  if (auto status = cursor->status(); !status) return status.error();
  if (!cursor->is_valid()) return false;
  const std::string_view key = cursor->key();
  if (key.size() != wanted.size() || row_key_of(key) != row_key) return false;
  const auto stored = parse_stored(cursor->value());
  if (!stored) return not_stored(Family::history, key);
  if (stored->version > version) return false;
  value.assign(stored->value);
  return true;
}

}  // namespace

Result<bool> read_row(const StoreCore& core, std::string_view row_key, Version version,
                      std::string& value, Wait wait) {
  auto found = core.engine->get(Family::rows, row_key, value, wait);
  if (!found) return found;
  if (*found) {
    const auto stored = parse_stored(value);
    if (!stored) return not_stored(Family::rows, row_key);
    if (stored->version <= version) {
      value.erase(0, value.size() - stored->value.size());
      return true;
    }
  }
  // Asked after the row was looked for: if a commit took it away, it said so before.
  if (core.has_history_after(version)) return read_history(core, row_key, version, value, wait);
  return false;
}

Result<bool> read_single(const StoreCore& core, Family family, std::string_view key,
                         Version version, std::string& value, Wait wait) {
  auto found = core.engine->get(family, key, value, wait);
  if (!found || !*found) return found;
  const auto stored = parse_stored(value);
  if (!stored) return not_stored(family, key);
  if (stored->version > version) return too_new(family, key, stored->version, version);
  value.erase(0, value.size() - stored->value.size());
  return true;
}

RowCursor::RowCursor(const StoreCore& core, Family family, Range range, Version version, Wait wait)
    : family_(family), version_(version), begin_(range.begin) {
  engine::CursorOptions options{.bounds = {std::move(range.begin), std::move(range.end)},
                                .wait = wait};
  rows_ = core.engine->make_cursor(family, options);
  // In this order: what the first does not show any more, the second shows already.
  if (family == Family::rows && core.has_history_after(version)) {
    history_ = core.engine->make_cursor(Family::history, std::move(options));
  }
}

bool RowCursor::next() {
  if (failure_) return false;
  if (!std::exchange(has_begun_, true)) {
    rows_->seek(begin_);
    if (history_) history_->seek(begin_);
  } else if (is_on_row_) {
    rows_->next();
  }
  is_on_row_ = false;
  for (;;) {
    const bool has_row = rows_->is_valid();
    const bool has_history = history_ && history_->is_valid();
    // One that stopped before its end must not let the other go on alone.
    if (!has_row && !rows_->status()) return false;
    if (history_ && !has_history) {
      if (!history_->status()) return false;
      history_.reset();
    }
    if (!has_row && !has_history) return false;
    if (has_history && (!has_row || history_row_key() < rows_->key())) {
      if (take_history()) return true;
      if (failure_) return false;
      continue;
    }
    const auto stored = parse_stored(rows_->value());
    if (!stored) return fail(family_, rows_->key());
    if (take_row(*stored)) return true;
    if (failure_) return false;
  }
}

/// The row under `rows_`, which is not after that under `history_`.
bool RowCursor::take_row(Stored stored) {
  if (stored.version <= version_) {
    if (history_ && history_->is_valid() && history_row_key() == rows_->key()) {
      leave_history_of(rows_->key());
    }
    row_key_ = rows_->key();
    value_ = stored.value;
    is_on_row_ = true;
    return true;
  }
  if (family_ != Family::rows) {
    failure_ = too_new(family_, rows_->key(), stored.version, version_);
    return false;
  }
  const bool has_older = history_ && history_->is_valid() && history_row_key() == rows_->key();
  const bool is_taken = has_older && take_history();
  rows_->next();
  return is_taken;
}

/// The version of the row under `history_` that lived at the time, if any. Leaves that row.
bool RowCursor::take_history() {
  old_key_.assign(history_row_key());
  if (until_of(history_->key()) <= version_) {
    std::string wanted;
    append_history_key(wanted, old_key_, version_.next());
    history_->seek(wanted);
  }
  // Everything of this row lived before.
  if (!history_->is_valid() || history_row_key() != old_key_) return false;
  const auto stored = parse_stored(history_->value());
  if (!stored) return fail(Family::history, history_->key());
  const bool is_taken = stored->version <= version_;
  if (is_taken) old_value_.assign(stored->value);
  leave_history_of(old_key_);
  row_key_ = old_key_;
  value_ = old_value_;
  return is_taken;
}

void RowCursor::leave_history_of(std::string_view row_key) { history_->seek(after_row(row_key)); }

std::string_view RowCursor::history_row_key() const { return row_key_of(history_->key()); }

bool RowCursor::fail(engine::Family family, std::string_view key) {
  failure_ = not_stored(family, key);
  return false;
}

Result<> RowCursor::status() const {
  if (failure_) return *failure_;
  if (auto status = rows_->status(); !status) return status;
  return history_ ? history_->status() : Result<>();
}

}  // namespace weir::storage::internal
