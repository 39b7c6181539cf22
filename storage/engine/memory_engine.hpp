#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include <weir/storage/engine/engine.hpp>
#include <weir/storage/engine/memory_batch.hpp>
#include <weir/storage/engine/simulated_disk.hpp>

namespace weir::storage::engine {

/// An engine in memory. With a simulated disk it has something to come back to.
class MemoryEngine final : public Engine {
 public:
  explicit MemoryEngine(std::shared_ptr<SimulatedDisk> disk = nullptr);
  ~MemoryEngine() override;

  std::unique_ptr<Batch> make_batch() override;
  Result<> write(Batch& batch, Wait wait) override;
  Result<> sync() override;
  Result<bool> get(Family family, std::string_view key, std::string& value,
                   Wait wait) const override;
  std::unique_ptr<Cursor> make_cursor(Family family, CursorOptions options) const override;
  /// Of ten thousand keys at most.
  std::optional<std::uint64_t> approximate_bytes(Family family,
                                                 const Bounds& bounds) const override;
  void set_horizon(std::uint64_t horizon) noexcept override;
  Result<> collect() override;
  Result<std::vector<std::string>> copy_to(const std::filesystem::path& directory) override;
  Result<> check_files() override { return {}; }
  Statistics statistics() const override;
  Result<> close() override;

 private:
  friend class MemoryCursor;

  struct Version {
    std::uint64_t sequence;  // of the batch that wrote it
    bool is_erased;
    std::string value;
  };
  /// Oldest first; more than one only while a cursor may need them.
  using Versions = std::vector<Version>;
  using Keys = std::map<std::string, Versions, std::less<>>;

  static const Version* visible(const Versions& versions, std::uint64_t sequence) noexcept;
  Keys& keys(Family family) noexcept { return families_[static_cast<std::size_t>(family)]; }
  const Keys& keys(Family family) const noexcept {
    return families_[static_cast<std::size_t>(family)];
  }
  void apply(const MemoryBatch::Operation& operation);
  void set(Keys& family, std::string_view key, Version version);
  void trim(Versions& versions) const;
  void drop_dead_keys();

  const std::shared_ptr<SimulatedDisk> disk_;
  std::uint64_t life_ = 0;  // of the disk

  mutable std::shared_mutex mutex_;
  // Guarded by `mutex_`.
  std::array<Keys, family_count> families_;
  std::uint64_t sequence_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t horizon_ = 0;
  mutable std::multiset<std::uint64_t> cursors_;           // the sequences they see
  std::vector<std::pair<Family, std::string>> dead_keys_;  // erased while a cursor stood there
};

}  // namespace weir::storage::engine
