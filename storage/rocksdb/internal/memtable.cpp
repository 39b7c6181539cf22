#include <weir/storage/rocksdb/internal/memtable.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace weir::storage::rocksdb::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "tags are little endian");

constexpr std::size_t tag_bytes = 8;

/// Memory of an arena, which is an allocator whose header is not installed.
class ArenaMemory final : public ::rocksdb::MemTableRep {
 public:
  explicit ArenaMemory(::rocksdb::Arena* arena)
      : MemTableRep(reinterpret_cast<::rocksdb::Allocator*>(arena)) {}

  void* allocate(std::size_t bytes, std::size_t alignment) {
    char* memory = nullptr;
    Allocate(bytes + alignment, &memory);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return memory + (alignment - address % alignment) % alignment;
  }

 private:
  void Insert(::rocksdb::KeyHandle) override {}
  bool Contains(const char*) const override { return false; }
  std::size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(::rocksdb::Arena*) override { return nullptr; }
};

}  // namespace

/// RocksDB's way to read it.
class Memtable::Cursor : public Iterator {
 public:
  explicit Cursor(const Memtable* table) noexcept : table_(table) {}

  bool Valid() const override { return at_ != nullptr; }
  const char* key() const override { return at_->entry(); }
  void Next() override { at_ = at_->after(0); }
  void Prev() override { go_to(table_->gap_at(key_of(at_->entry())).before); }
  void Seek(const ::rocksdb::Slice& internal_key, const char* entry) override {
    at_ = table_->gap_at(sought(internal_key, entry)).next;
  }
  void SeekForPrev(const ::rocksdb::Slice& internal_key, const char* entry) override {
    const Key key = sought(internal_key, entry);
    const Gap gap = table_->gap_at(key);
    go_to(gap.next != nullptr && is_at(gap.next, key) ? gap.next : gap.before);
  }
  void SeekToFirst() override { at_ = table_->head_->after(0); }
  void SeekToLast() override { go_to(table_->last()); }

 protected:
  const Memtable* table_;

 private:
  static Key sought(const ::rocksdb::Slice& internal_key, const char* entry) noexcept {
    if (entry != nullptr) return key_of(entry);
    return key_of(std::string_view(internal_key.data(), internal_key.size()));
  }
  void go_to(const Node* node) noexcept { at_ = node == table_->head_ ? nullptr : node; }

  const Node* at_ = nullptr;
};

/// For one read of a key: RocksDB 7.8 asks for an iterator and never gives it back. Each thread has
/// one.
class Memtable::Lookup final : public Cursor {
 public:
  using Cursor::Cursor;
  static void operator delete(void*) noexcept {}
  void set_table(const Memtable* table) noexcept { table_ = table; }
};

Memtable::Memtable(::rocksdb::Allocator* allocator) : MemTableRep(allocator) {
  for (Node& link : links_) link.next.store(nullptr, std::memory_order_relaxed);
  for (Place& place : places_) place.before.fill(head_);
}

Memtable::Key Memtable::key_of(std::string_view internal_key) noexcept {
  const std::size_t size = internal_key.size() - tag_bytes;
  Key key{internal_key.substr(0, size), 0};
  std::memcpy(&key.tag, internal_key.data() + size, tag_bytes);
  return key;
}

Memtable::Key Memtable::key_of(const char* entry) noexcept {
  std::size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*entry++);
    size |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return key_of(std::string_view(entry, size));
}

bool Memtable::is_before(const Node* node, const Key& key) noexcept {
  const Key own = key_of(node->entry());
  const int order = own.bytes.compare(key.bytes);
  return order != 0 ? order < 0 : own.tag > key.tag;
}

bool Memtable::is_at(const Node* node, const Key& key) noexcept {
  const Key own = key_of(node->entry());
  return own.bytes == key.bytes && own.tag == key.tag;
}

int Memtable::random_height() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  int height = 1;
  for (std::uint64_t bits = random_ >> 32; height < levels_max && bits % branching == 0;
       bits /= branching) {
    ++height;
  }
  return height;
}

::rocksdb::KeyHandle Memtable::Allocate(std::size_t bytes, char** entry) {
  const int height = random_height();
  const std::size_t links = static_cast<std::size_t>(height) * sizeof(Node);
  char* memory = nullptr;
  MemTableRep::Allocate(links + bytes + alignof(Node) - 1, &memory);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  memory += (alignof(Node) - address % alignof(Node)) % alignof(Node);
  Node* lowest = nullptr;
  for (int level = height; level > 0; --level, memory += sizeof(Node)) lowest = new (memory) Node();
  // Until it is inserted the link tells how many there are.
  lowest->next.store(reinterpret_cast<Node*>(static_cast<std::uintptr_t>(height)),
                     std::memory_order_relaxed);
  *entry = memory;
  return lowest;
}

Memtable::Place& Memtable::place_of(const Key& key) noexcept {
  const std::size_t last = std::min<std::size_t>(key.bytes.size(), 4);
  const auto byte = last == 0 ? 0 : static_cast<unsigned char>(key.bytes[last - 1]);
  return places_[byte % places_.size()];
}

/// Makes it the place of a key, on as many levels as its node has. Most keys are near the one
/// before: it goes up only as far as it has to.
void Memtable::move(Place& place, const Key& key, int height, int levels) noexcept {
  const auto forward = [&](Node* at, int level, const Node* beyond) {
    for (Node* next = at->after(level); next != beyond && next != nullptr && is_before(next, key);
         next = at->after(level)) {
      at = next;
    }
    return at;
  };
  int level = 0;
  bool is_behind = false;  // of the key, and then on all higher levels too
  for (;; ++level) {
    const Node* before = place.before[static_cast<std::size_t>(level)];
    is_behind = is_behind || before == head_ || is_before(before, key);
    if (is_behind) {
      const Node* next = before->after(level);
      if (next == nullptr || !is_before(next, key)) break;
    }
    if (level + 1 == levels) break;
  }
  // Above, others may have been put behind it since.
  for (int above = level + 1; above < height; ++above) {
    Node*& before = place.before[static_cast<std::size_t>(above)];
    before = forward(before, above, nullptr);
  }
  Node* at = is_behind ? place.before[static_cast<std::size_t>(level)] : head_;
  const Node* beyond = nullptr;  // known not to be before the key
  for (; level >= 0; --level) {
    at = forward(at, level, beyond);
    beyond = at->after(level);
    place.before[static_cast<std::size_t>(level)] = at;
  }
}

void Memtable::Insert(::rocksdb::KeyHandle handle) {
  Node* node = static_cast<Node*>(handle);
  const auto height = static_cast<int>(
      reinterpret_cast<std::uintptr_t>(node->next.load(std::memory_order_relaxed)));
  const int levels = std::max(height, levels_.load(std::memory_order_relaxed));
  levels_.store(levels, std::memory_order_relaxed);
  const Key key = key_of(node->entry());
  Place& place = place_of(key);
  move(place, key, height, levels);
  // A reader that finds it on a level finds it on all below.
  for (int level = 0; level < height; ++level) {
    Node*& before = place.before[static_cast<std::size_t>(level)];
    node->link(level).store(before->after(level), std::memory_order_relaxed);
    before->link(level).store(node, std::memory_order_release);
    before = node;
  }
}

Memtable::Gap Memtable::gap_at(const Key& key) const noexcept {
  const Node* at = head_;
  const Node* beyond = nullptr;  // known not to be before the key
  for (int level = levels_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    const Node* next = at->after(level);
    while (next != beyond && next != nullptr && is_before(next, key)) {
      at = next;
      next = at->after(level);
    }
    beyond = next;
  }
  return {at, beyond};
}

const Memtable::Node* Memtable::last() const noexcept {
  const Node* at = head_;
  for (int level = levels_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    while (const Node* next = at->after(level)) at = next;
  }
  return at;
}

std::uint64_t Memtable::count_before(const Key& key) const noexcept {
  std::uint64_t count = 0;
  const Node* at = head_;
  for (int level = levels_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    count *= branching;
    for (const Node* next = at->after(level); next != nullptr && is_before(next, key);
         next = at->after(level)) {
      at = next;
      ++count;
    }
  }
  return count;
}

bool Memtable::Contains(const char* entry) const {
  const Key key = key_of(entry);
  const Node* next = gap_at(key).next;
  return next != nullptr && is_at(next, key);
}

std::uint64_t Memtable::ApproximateNumEntries(const ::rocksdb::Slice& begin,
                                              const ::rocksdb::Slice& end) {
  const auto count = [&](const ::rocksdb::Slice& key) {
    return count_before(key_of(std::string_view(key.data(), key.size())));
  };
  const std::uint64_t until = count(end);
  return until - std::min(until, count(begin));
}

::rocksdb::MemTableRep::Iterator* Memtable::GetIterator(::rocksdb::Arena* arena) {
  if (arena == nullptr) return new Cursor(this);
  return new (ArenaMemory(arena).allocate(sizeof(Cursor), alignof(Cursor))) Cursor(this);
}

::rocksdb::MemTableRep::Iterator* Memtable::GetDynamicPrefixIterator(::rocksdb::Arena* arena) {
  if (arena != nullptr) return GetIterator(arena);
  static thread_local Lookup lookup(nullptr);
  lookup.set_table(this);
  return &lookup;
}

::rocksdb::MemTableRep* MemtableFactory::CreateMemTableRep(
    const ::rocksdb::MemTableRep::KeyComparator& /*compare*/, ::rocksdb::Allocator* allocator,
    const ::rocksdb::SliceTransform* /*prefixes*/, ::rocksdb::Logger* /*logger*/) {
  return new Memtable(allocator);
}

}  // namespace weir::storage::rocksdb::internal
