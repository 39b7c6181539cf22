#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include <weir/runtime/result.hpp>

namespace weir::storage::internal {

/// A directory that is a store, held for this process alone.
///
///     FORMAT     "weir store\nformat 1\n"
///     IDENTITY   16 digits in hexadecimal, drawn when it is first opened; no backup has it
///     LOCK       locked while it is open; holds the number of the process that opened it last
///     data/      the engine's files
///     savepoints/<name>/   backups by name
class StoreDirectory {
 public:
  static constexpr int format = 1;

  /// Makes it if it is not there. Refuses one that holds something else, has a format that this
  /// version does not know, cannot be written to, or is open elsewhere.
  static Result<StoreDirectory> open(std::filesystem::path path);
  /// Neither makes nor changes anything: for tools that read. Several may, while nobody writes.
  static Result<StoreDirectory> open_to_read(std::filesystem::path path);

  StoreDirectory(StoreDirectory&& other) noexcept
      : path_(std::move(other.path_)),
        lock_(std::exchange(other.lock_, -1)),
        identity_(other.identity_) {}
  StoreDirectory& operator=(StoreDirectory&&) = delete;
  ~StoreDirectory();

  const std::filesystem::path& path() const noexcept { return path_; }
  /// As `Store::identity`; zero for who only reads.
  std::uint64_t identity() const noexcept { return identity_; }
  std::filesystem::path data() const { return path_ / "data"; }
  std::filesystem::path savepoints() const { return path_ / "savepoints"; }

  /// Marks a directory as a store.
  static Result<> write_format(const std::filesystem::path& path);
  /// Reads the format of a directory that is not opened; for tools.
  static Result<> check_format(const std::filesystem::path& path);

 private:
  static Result<> check_store(const std::filesystem::path& path);
  StoreDirectory(std::filesystem::path path, int lock) noexcept
      : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_ = -1;  // descriptor; none of one that is read and was never opened
  std::uint64_t identity_ = 0;
};

/// What tells a store from all others.
std::uint64_t draw_identity();

}  // namespace weir::storage::internal
