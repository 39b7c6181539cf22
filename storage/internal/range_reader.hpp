#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/row_reader.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage::internal {

/// Some rows in order, in one piece of memory.
class RowChunk {
 public:
  struct Entry {
    std::string_view row_key;
    std::string_view value;
  };

  void add(std::string_view row_key, std::string_view value);
  /// Keeps its memory.
  void clear() noexcept;
  std::size_t size() const noexcept { return ends_.size() / 2; }
  std::size_t bytes() const noexcept { return bytes_.size(); }
  Entry operator[](std::size_t index) const noexcept;
  /// No rows come after these.
  bool is_last = false;
  /// The rest begins here, if there is one.
  std::string rest_begin;

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;  // of keys and values
};

/// A key that the transaction itself has written; without a value if it removed it.
struct OwnWrite {
  std::string row_key;
  std::optional<std::string> value;
};

/// Where a scan is: the rows of a range, with what the transaction has written in their place. Used
/// by one thread at a time: the actor's, or one that may wait.
class RangeReader {
 public:
  /// `own` is in order of the keys.
  RangeReader(std::shared_ptr<StoreCore> core, engine::Family family, RowCursor::Range range,
              Version version, std::vector<OwnWrite> own);

  /// How much to read at once.
  struct Limits {
    std::size_t rows_max;
    std::size_t bytes_max;
  };

  /// The next rows: at least one, unless there are no more. Without waiting it gives those it can
  /// get, and `would_block` if that is none. Uses the memory of a chunk that has been read.
  Result<RowChunk> read(Limits limits, engine::Wait wait, RowChunk used = {});

 private:
  /// A cursor that stands on the next stored row, if there is one.
  struct Place {
    RowCursor cursor;
    bool has_row;
  };
  std::unique_ptr<Place> make_place(engine::Wait wait) const;
  Result<RowChunk> take(Place& place, Limits limits, RowChunk chunk);
  void take_own(Place& place, RowChunk& chunk);
  bool is_own_next(const Place& place) const noexcept;

  std::shared_ptr<StoreCore> core_;
  engine::Family family_;
  RowCursor::Range rest_;
  Version version_;
  std::vector<OwnWrite> own_;
  std::size_t own_taken_ = 0;
  std::unique_ptr<Place> waiting_place_;  // one that may wait, kept between chunks
};

}  // namespace weir::storage::internal
