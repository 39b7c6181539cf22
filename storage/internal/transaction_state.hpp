#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/change.hpp>
#include <weir/storage/internal/commit_request.hpp>
#include <weir/storage/internal/pin.hpp>
#include <weir/storage/internal/range_reader.hpp>
#include <weir/storage/internal/read.hpp>
#include <weir/storage/space.hpp>

namespace weir::storage::internal {

/// What a read-write transaction has read and written so far. Confined to one actor.
class TransactionState {
 public:
  explicit TransactionState(Pin pin) : pin_(std::move(pin)) {}
  TransactionState(TransactionState&&) = delete;

  Version snapshot() const noexcept { return pin_.version(); }
  const std::shared_ptr<StoreCore>& core() const noexcept { return pin_.core(); }
  void set_origin(std::string origin) { origin_ = std::move(origin); }

  PendingRead read(engine::Family family, std::string key);
  PendingRead read_checkpoint(std::string_view name);
  /// Mistakes are told by `commit`.
  void write(WriteKind kind, std::string_view key, std::optional<std::string_view> value);
  void note_error(Error error) {
    if (!error_) error_ = std::move(error);
  }

  /// The key space, which is in the catalog under `catalog_key`, is to be no more: with what has
  /// been written to it here.
  void drop(std::uint32_t space, std::string catalog_key);
  bool has_dropped(std::uint32_t space) const noexcept;
  /// Something in the space is being read.
  void note_read_of(std::uint32_t space);

  /// For scans: a range that has been read up to its beginning; how far it has been read since.
  std::size_t begin_range(std::string begin);
  void extend_range(std::size_t index, std::string end);
  /// What it has written from `begin` to before `end`.
  std::vector<OwnWrite> own_writes(std::string_view begin, std::string_view end) const;

  /// What it does to the rows from `begin` to before `end`, which are then counted as read.
  Task<Result<std::vector<Change>>> find_changes(std::string begin, std::string end);
  /// `conflict` if what it has read does not hold any more.
  Task<Result<>> validate() const;

  /// The transaction ends with it. The version is certain, but perhaps not to be seen yet.
  static Task<Result<Version>> submit(std::unique_ptr<TransactionState> state);
  static Task<Result<Version>> commit(std::unique_ptr<TransactionState> state);

 private:
  std::unique_ptr<CommitRequest> make_request();

  Pin pin_;
  WriteSet writes_;
  std::vector<std::uint64_t> reads_;
  std::vector<ReadRange> ranges_;
  std::vector<std::uint32_t> read_spaces_;
  std::vector<std::uint32_t> drops_;
  std::string origin_;
  std::optional<Error> error_;
  std::size_t bytes_ = 0;
};

}  // namespace weir::storage::internal
