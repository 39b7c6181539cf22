#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include <weir/runtime/result.hpp>
#include <weir/server/audit.hpp>

namespace weir::cli {

/// Where a server notes who changed what, or wanted to: a line of JSON for each request. Lines are
/// only ever added, each in one call, so that threads and programs that rotate it do not meet.
class AuditFile {
 public:
  /// Made for its owner alone if it is not there. `failed` names it.
  static Result<std::shared_ptr<AuditFile>> open(const std::filesystem::path& path);
  /// Of a file that is open; it is closed in the end.
  AuditFile(int descriptor, std::filesystem::path path) noexcept;
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  /// From any thread. What cannot be written is told on standard error, once.
  void write(const server::AuditRecord& record);

 private:
  const int descriptor_;
  const std::filesystem::path path_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_cut_off_{false};  // the last line
};

}  // namespace weir::cli
