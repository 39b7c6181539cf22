#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::storage::internal {

enum class WriteKind : std::uint8_t { row, state, checkpoint };

/// One key that a transaction has written. Its bytes are those of a `WriteBytes`.
struct Write {
  WriteKind kind = WriteKind::row;
  std::string_view key;                   // with its space; of a checkpoint: `checkpoint_key`
  std::optional<std::string_view> value;  // nothing: removed
  /// Of rows: the stored value that it replaces, if there is one.
  std::optional<std::string> before = {};
  bool is_before_known = false;
};

/// Bytes that stay where they are until all of them go: those of keys and values, one behind the
/// other, as they are soon read again in that order.
class WriteBytes {
 public:
  std::string_view add(std::string_view bytes);

 private:
  // The first are small, as most transactions are.
  static constexpr std::size_t chunk_min = 512;
  static constexpr std::size_t chunk_max = 256 << 10;

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;  // from there on
  std::size_t chunk_ = chunk_min;
};

/// What a transaction has written: each key once, as it was written last.
///
/// Most keys come in order, if only of their key space, and then cost little more than their bytes.
/// Places in the order of keys are kept in blocks, so that few move when one comes between others.
class WriteSet {
 public:
  bool is_empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  void put(WriteKind kind, std::string_view key, std::optional<std::string_view> value);
  /// Null if it was not written.
  const Write* find(std::string_view key) const noexcept;
  /// Those from `begin` to before `end`, or to the last if that is empty; in order of their keys.
  /// Good until the next write.
  std::vector<Write*> range(std::string_view begin, std::string_view end = {});
  std::vector<const Write*> range(std::string_view begin, std::string_view end = {}) const;
  /// As if those of `range` had never been written.
  void erase(std::string_view begin, std::string_view end);

  /// In order.
  template <class Visit>
  void visit_keys(Visit visit) const {
    for (const Block& block : blocks_)
      for (const std::uint32_t write : block) visit(writes_[write].key);
  }
  /// All of them, in the order in which they were written.
  std::vector<Write> take();
  /// What keys and values are part of, `take`n or not.
  std::shared_ptr<const WriteBytes> bytes() const noexcept { return bytes_; }

 private:
  using Block = std::vector<std::uint32_t>;  // which of `writes_`
  struct Position {
    std::size_t block = 0;
    std::size_t index = 0;
  };
  static constexpr std::size_t block_max = 256;

  std::string_view key_at(Position position) const noexcept {
    return writes_[blocks_[position.block][position.index]].key;
  }
  bool is_end(Position position) const noexcept { return position.block == blocks_.size(); }
  Position next(Position position) const noexcept;
  /// The first whose key is not less.
  Position lower_bound(std::string_view key) const noexcept;
  /// The same, for one that is likely to come behind the last.
  Position place_for(std::string_view key) const noexcept;
  Position insert(Position position, std::uint32_t write);
  template <class Visit>
  void visit(std::string_view begin, std::string_view end, Visit visit) const;

  std::vector<Write> writes_;  // as they were made; without a key if another took the place
  std::vector<Block> blocks_;  // in order of keys; none is empty
  Position last_;              // of the last write, if there is any
  std::size_t size_ = 0;
  std::shared_ptr<WriteBytes> bytes_;
};

}  // namespace weir::storage::internal
