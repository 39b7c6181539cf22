#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <rocksdb/memtablerep.h>
#include <rocksdb/slice.h>

namespace weir::storage::rocksdb::internal {

/// Where RocksDB keeps what is not yet in sorted files: a skip list for one writer at a time, and
/// any number of readers beside it. Keys compare by their bytes.
///
/// Debian's RocksDB is compiled with its assertions, by which its own list compares each key some
/// forty times. Here a place is looked for from where the last key of the same space was put, which
/// is mostly near. Spaces are the first bytes of keys.
///
///     node    ... next on level 2 | next on level 1 | next on level 0 | entry
///     entry   length:varint key tag:8 length:varint value         by RocksDB; newer tags come
///     first
class Memtable final : public ::rocksdb::MemTableRep {
 public:
  explicit Memtable(::rocksdb::Allocator* allocator);

  ::rocksdb::KeyHandle Allocate(std::size_t bytes, char** entry) override;
  void Insert(::rocksdb::KeyHandle handle) override;
  bool Contains(const char* entry) const override;
  std::uint64_t ApproximateNumEntries(const ::rocksdb::Slice& begin,
                                      const ::rocksdb::Slice& end) override;
  /// All of it is the allocator's, who counts it.
  std::size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(::rocksdb::Arena* arena) override;
  Iterator* GetDynamicPrefixIterator(::rocksdb::Arena* arena) override;

 private:
  class Cursor;
  class Lookup;

  static constexpr int levels_max = 12;
  static constexpr std::uint64_t branching = 4;

  /// The lowest link of a node; those of higher levels are in front of it.
  struct Node {
    std::atomic<Node*> next;

    std::atomic<Node*>& link(int level) noexcept { return (this - level)->next; }
    Node* after(int level) const noexcept {
      return (this - level)->next.load(std::memory_order_acquire);
    }
    const char* entry() const noexcept { return reinterpret_cast<const char*>(this + 1); }
  };
  /// What entries are in order of.
  struct Key {
    std::string_view bytes;
    std::uint64_t tag;
  };
  /// On each level, the node behind which something was put last.
  struct Place {
    std::array<Node*, levels_max> before;
  };

  static Key key_of(std::string_view internal_key) noexcept;
  static Key key_of(const char* entry) noexcept;
  static bool is_before(const Node* node, const Key& key) noexcept;
  static bool is_at(const Node* node, const Key& key) noexcept;

  int random_height() noexcept;
  Place& place_of(const Key& key) noexcept;
  void move(Place& place, const Key& key, int height, int levels) noexcept;
  /// Between which nodes a key is, or would be. Others may be put there at any time.
  struct Gap {
    const Node* before;  // the last whose key is less; the head if there is none
    const Node* next;    // the first of the others; null if there is none
  };
  Gap gap_at(const Key& key) const noexcept;
  const Node* last() const noexcept;
  /// About how many are less.
  std::uint64_t count_before(const Key& key) const noexcept;

  std::array<Node, levels_max> links_;  // of the head, the lowest last
  Node* const head_ = &links_.back();
  std::atomic<int> levels_ = 1;

  // Touched by the writer only.
  std::array<Place, 16> places_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;
};

class MemtableFactory final : public ::rocksdb::MemTableRepFactory {
 public:
  using MemTableRepFactory::CreateMemTableRep;
  ::rocksdb::MemTableRep* CreateMemTableRep(const ::rocksdb::MemTableRep::KeyComparator& compare,
                                            ::rocksdb::Allocator* allocator,
                                            const ::rocksdb::SliceTransform* prefixes,
                                            ::rocksdb::Logger* logger) override;
  const char* Name() const override { return "weir.memtable"; }
};

}  // namespace weir::storage::rocksdb::internal
