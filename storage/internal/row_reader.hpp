#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weir/runtime/result.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

struct StoreCore;

/// Reads one row as of `version`, which is pinned. True if there is one; `value` is replaced then.
Result<bool> read_row(const StoreCore& core, std::string_view row_key, Version version,
                      std::string& value, engine::Wait wait);

/// Reads one entry of `state` or `checkpoints`. `conflict` if it was written after `version`: there
/// is only one version of them.
Result<bool> read_single(const StoreCore& core, engine::Family family, std::string_view key,
                         Version version, std::string& value, engine::Wait wait);

/// Walks the rows of a range in order, as of one version; or the entries of a range of state, of
/// which there is one version only: `conflict` if it is newer.
///
/// The newest version of a row is in one place and those before it in another: the walk merges
/// them. What has not changed since `version` comes from the first alone.
class RowCursor {
 public:
  struct Range {
    std::string begin;  // row keys: with their space
    std::string end;
  };

  RowCursor(const StoreCore& core, engine::Family family, Range range, Version version,
            engine::Wait wait);

  /// To the next row; the first call to the first one. False at the end and on failure.
  bool next();
  std::string_view row_key() const noexcept { return row_key_; }
  std::string_view value() const noexcept { return value_; }
  Result<> status() const;

 private:
  bool fail(engine::Family family, std::string_view key);
  bool take_row(Stored stored);
  bool take_history();
  void leave_history_of(std::string_view row_key);
  std::string_view history_row_key() const;

  const engine::Family family_;
  const Version version_;
  std::unique_ptr<engine::Cursor> rows_;
  std::unique_ptr<engine::Cursor> history_;  // null if nothing has changed since the version
  bool has_begun_ = false;
  bool is_on_row_ = false;  // `row_key_` is where `rows_` stands
  std::string begin_;
  std::string_view row_key_;
  std::string_view value_;
  std::string old_key_;  // of a row that comes from history
  std::string old_value_;
  std::optional<Error> failure_;
};

}  // namespace weir::storage::internal
