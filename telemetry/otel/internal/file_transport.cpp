#include <weir/telemetry/otel/internal/transport.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <weir/telemetry/otel/internal/diagnostics.hpp>
#include <weir/telemetry/otel/internal/json.hpp>

namespace weir::telemetry::otel {
namespace {

class FileTransport final : public Transport {
 public:
  explicit FileTransport(const std::string& path)
      : path_(path),
        descriptor_(path == "-"
                        ? STDOUT_FILENO
                        : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ >= 0) return;
    throw std::invalid_argument("telemetry: file: cannot append to '" + path +
                                "': " + std::generic_category().message(errno));
  }
  FileTransport(const FileTransport&) = delete;
  FileTransport& operator=(const FileTransport&) = delete;
  ~FileTransport() override {
    if (descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  }

  // One write for the whole line, so that several signals can share a file.
  bool send(const google::protobuf::Message& request) override {
    const std::string line = to_json(request) + '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const ::ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        complain("cannot append to '" + path_ + "': " + std::generic_category().message(errno));
        return false;
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  void shut_down(std::chrono::milliseconds) override {}

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

std::unique_ptr<Transport> file_transport(const ExportOptions& options) {
  return std::make_unique<FileTransport>(options.file);
}

}  // namespace weir::telemetry::otel
