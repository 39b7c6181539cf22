#include <weir/cli/audit_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/errc.hpp>
#include <weir/flow/data/calendar.hpp>

namespace weir::cli {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

std::string print_line(const server::AuditRecord& record) {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  boost::json::value line{{"time", flow::data::to_string(now)},
                          {"caller", record.caller},
                          {"peer", record.peer},
                          {"method", record.method},
                          {"target", record.target},
                          {"status", record.status},
                          {"problem", record.problem},
                          {"version", record.version},
                          {"trace", record.trace}};
  return boost::json::serialize(line) + "\n";
}

}  // namespace

Result<std::shared_ptr<AuditFile>> AuditFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error(Errc::failed, path.string() + " cannot be written: " + last_error() +
                                   "; --audit names another file");
  }
  return std::make_shared<AuditFile>(descriptor, path);
}

AuditFile::AuditFile(int descriptor, std::filesystem::path path) noexcept
    : descriptor_(descriptor), path_(std::move(path)) {}

AuditFile::~AuditFile() { ::close(descriptor_); }

void AuditFile::write(const server::AuditRecord& record) {
  std::string line = print_line(record);
  // What is left of a line that did not fit stays one of its own.
  const bool is_behind_rest = is_cut_off_.exchange(false);
  if (is_behind_rest) line.insert(line.begin(), '\n');
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  if (written > 0 || is_behind_rest) is_cut_off_.store(true);
  if (has_failed_.exchange(true)) return;
  std::fprintf(stderr, "weir: %s: writes are not noted any more: %s\n", path_.c_str(),
               last_error().c_str());
}

}  // namespace weir::cli
