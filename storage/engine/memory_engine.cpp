#include <weir/storage/engine/memory_engine.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <weir/runtime/check.hpp>

namespace weir::storage::engine {
namespace {

/// True if the last eight bytes, a big endian number, are at most `horizon`.
bool is_forgotten(std::string_view key, std::uint64_t horizon) noexcept {
  if (key.size() < 8) return false;
  std::uint64_t number = 0;
  for (const char byte : key.substr(key.size() - 8)) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number <= horizon;
}

}  // namespace

/// Keys stay where they are while any cursor lives, so that it can stand on one without a lock.
class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const MemoryEngine& engine, Family family, Bounds bounds)
      : engine_(engine), keys_(engine.keys(family)), bounds_(std::move(bounds)) {
    const std::unique_lock lock(engine_.mutex_);
    sequence_ = engine_.sequence_;
    engine_.cursors_.insert(sequence_);
    position_ = keys_.end();
    if (engine_.disk_) status_ = engine_.disk_->check_readable(family);
  }
  ~MemoryCursor() override {
    const std::unique_lock lock(engine_.mutex_);
    engine_.cursors_.erase(engine_.cursors_.find(sequence_));
  }

  void seek(std::string_view key) override {
    const std::shared_lock lock(engine_.mutex_);
    position_ = keys_.lower_bound(std::max(key, std::string_view(bounds_.begin)));
    settle_forwards();
  }
  void seek_back(std::string_view key) override {
    const std::shared_lock lock(engine_.mutex_);
    const bool is_past = !bounds_.end.empty() && key >= bounds_.end;
    position_ = is_past ? keys_.lower_bound(bounds_.end) : keys_.upper_bound(key);
    step_back();
  }
  void next() override {
    const std::shared_lock lock(engine_.mutex_);
    ++position_;
    settle_forwards();
  }
  void previous() override {
    const std::shared_lock lock(engine_.mutex_);
    step_back();
  }

  bool is_valid() const override { return is_valid_ && status_; }
  std::string_view key() const override { return position_->first; }
  std::string_view value() const override { return value_; }
  Result<> status() const override { return status_; }

 private:
  bool is_before_end() const {
    return bounds_.end.empty() || std::string_view(position_->first) < bounds_.end;
  }
  /// True if the key is there for this cursor, which then has its value.
  bool take() {
    const auto* version = MemoryEngine::visible(position_->second, sequence_);
    if (!version || version->is_erased) return false;
    value_ = version->value;
    return true;
  }
  void settle_forwards() {
    is_valid_ = false;
    for (; position_ != keys_.end() && is_before_end(); ++position_) {
      if (take()) {
        is_valid_ = true;
        return;
      }
    }
  }
  void step_back() {
    is_valid_ = false;
    while (position_ != keys_.begin()) {
      --position_;
      if (std::string_view(position_->first) < bounds_.begin) return;
      if (take()) {
        is_valid_ = true;
        return;
      }
    }
  }

  const MemoryEngine& engine_;
  const MemoryEngine::Keys& keys_;
  const Bounds bounds_;
  std::uint64_t sequence_ = 0;
  MemoryEngine::Keys::const_iterator position_;
  bool is_valid_ = false;
  std::string value_;
  Result<> status_;  // of the disk when it was made
};

MemoryEngine::MemoryEngine(std::shared_ptr<SimulatedDisk> disk) : disk_(std::move(disk)) {
  if (!disk_) return;
  SimulatedDisk::Content content;
  life_ = disk_->attach(content);
  for (std::size_t family = 0; family < family_count; ++family) {
    for (auto& [key, value] : content[family]) {
      families_[family][key].push_back({0, false, std::move(value)});
    }
  }
}

MemoryEngine::~MemoryEngine() = default;

std::unique_ptr<Batch> MemoryEngine::make_batch() { return std::make_unique<MemoryBatch>(); }

Result<> MemoryEngine::write(Batch& batch, Wait) {
  const auto& operations = static_cast<MemoryBatch&>(batch).operations();
  if (disk_) {
    if (auto written = disk_->write(life_, operations); !written) return written;
  }
  const std::unique_lock lock(mutex_);
  ++sequence_;
  bytes_written_ += batch.bytes();
  if (cursors_.empty()) drop_dead_keys();
  for (const auto& operation : operations) apply(operation);
  return {};
}

void MemoryEngine::apply(const MemoryBatch::Operation& operation) {
  using Kind = MemoryBatch::Operation::Kind;
  Keys& family = keys(operation.family);
  if (operation.kind == Kind::put) {
    set(family, operation.key, {sequence_, false, operation.value});
    return;
  }
  const bool is_range = operation.kind == Kind::erase_range;
  auto key = family.lower_bound(operation.key);
  const auto is_in = [&] {
    if (key == family.end()) return false;
    return is_range ? key->first < operation.value : key->first == operation.key;
  };
  while (is_in()) {
    if (cursors_.empty()) {
      key = family.erase(key);
      continue;
    }
    dead_keys_.emplace_back(operation.family, key->first);
    key->second.push_back({sequence_, true, {}});
    trim(key->second);
    ++key;
  }
}

void MemoryEngine::set(Keys& family, std::string_view key, Version version) {
  auto found = family.lower_bound(key);
  if (found == family.end() || found->first != key) {
    found = family.emplace_hint(found, std::string(key), Versions{});
  }
  found->second.push_back(std::move(version));
  trim(found->second);
}

/// Drops what neither the cursors nor those who come later can see.
void MemoryEngine::trim(Versions& versions) const {
  const std::uint64_t oldest = cursors_.empty() ? sequence_ : *cursors_.begin();
  auto needed = versions.end() - 1;
  while (needed != versions.begin() && needed->sequence > oldest) --needed;
  versions.erase(versions.begin(), needed);
}

void MemoryEngine::drop_dead_keys() {
  for (const auto& [family, key] : std::exchange(dead_keys_, {})) {
    const auto found = keys(family).find(key);
    if (found != keys(family).end() && found->second.back().is_erased) keys(family).erase(found);
  }
}

const MemoryEngine::Version* MemoryEngine::visible(const Versions& versions,
                                                   std::uint64_t sequence) noexcept {
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->sequence <= sequence) return &*version;
  }
  return nullptr;
}

Result<> MemoryEngine::sync() {
  if (disk_) {
    if (auto synced = disk_->sync(life_); !synced) return synced;
  }
  const std::unique_lock lock(mutex_);
  ++syncs_;
  return {};
}

Result<bool> MemoryEngine::get(Family family, std::string_view key, std::string& value,
                               Wait) const {
  if (disk_) {
    if (auto readable = disk_->check_readable(family); !readable)
      return std::move(readable).error();
  }
  const std::shared_lock lock(mutex_);
  const auto found = keys(family).find(key);
  if (found == keys(family).end() || found->second.back().is_erased) return false;
  value = found->second.back().value;
  return true;
}

std::unique_ptr<Cursor> MemoryEngine::make_cursor(Family family, CursorOptions options) const {
  return std::make_unique<MemoryCursor>(*this, family, std::move(options.bounds));
}

std::optional<std::uint64_t> MemoryEngine::approximate_bytes(Family family,
                                                             const Bounds& bounds) const {
  constexpr int keys_max = 10'000;
  const std::shared_lock lock(mutex_);
  std::uint64_t bytes = 0;
  int count = 0;
  for (auto key = keys(family).lower_bound(bounds.begin); key != keys(family).end(); ++key) {
    if (!bounds.end.empty() && key->first >= bounds.end) break;
    if (++count > keys_max) return std::nullopt;
    bytes += key->first.size() + key->second.back().value.size();
  }
  return bytes;
}

void MemoryEngine::set_horizon(std::uint64_t horizon) noexcept {
  const std::unique_lock lock(mutex_);
  horizon_ = std::max(horizon_, horizon);
}

Result<> MemoryEngine::collect() {
  const std::unique_lock lock(mutex_);
  if (!cursors_.empty()) return {};
  drop_dead_keys();
  std::erase_if(keys(Family::history),
                [&](const auto& entry) { return is_forgotten(entry.first, horizon_); });
  return {};
}

Result<std::vector<std::string>> MemoryEngine::copy_to(const std::filesystem::path& directory) {
  return Error(Errc::invalid_argument,
               "a store in memory has no files to copy to " + directory.string());
}

Statistics MemoryEngine::statistics() const {
  const std::shared_lock lock(mutex_);
  return {.log_bytes = bytes_written_, .syncs = syncs_};
}

Result<> MemoryEngine::close() {
  {
    const std::shared_lock lock(mutex_);
    check(cursors_.empty(), "a cursor is still open when its engine closes");
  }
  return disk_ ? disk_->sync(life_) : Result<>();
}

}  // namespace weir::storage::engine
