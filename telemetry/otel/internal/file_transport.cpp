#include <weir/telemetry/otel/internal/transport.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/telemetry/otel/internal/diagnostics.hpp>
#include <weir/telemetry/otel/internal/json.hpp>
#include <weir/telemetry/otel/internal/quiet_writing.hpp>

namespace weir::telemetry::otel {
namespace {

// Standard output is shared with the whole process, so that it cannot be made not to block.
int opened(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), flags, 0644);
  if (descriptor >= 0) return descriptor;
  throw std::invalid_argument("telemetry: file: cannot append to '" + path +
                              "': " + std::generic_category().message(errno));
}

bool is_regular(int descriptor) noexcept {
  struct ::stat status{};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// What those share who write to one file, or pipe: they may have to wait in the middle of a line,
// or to leave it as it is, so that they take turns.
struct SharedFile {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_taken = false;  // guarded by mutex

  // Of the one whose turn it is.
  bool is_cut_short = false;
};

// Files are told apart by what they are, as one may have several names.
std::shared_ptr<SharedFile> shared_file_of(int descriptor) {
  using Identity = std::pair<::dev_t, ::ino_t>;
  static std::mutex mutex;
  static std::map<Identity, std::weak_ptr<SharedFile>> files;
  struct ::stat status{};
  if (::fstat(descriptor, &status) != 0) return std::make_shared<SharedFile>();
  const std::lock_guard lock(mutex);
  std::erase_if(files, [](const auto& known) { return known.second.expired(); });
  std::weak_ptr<SharedFile>& known = files[{status.st_dev, status.st_ino}];
  std::shared_ptr<SharedFile> file = known.lock();
  if (!file) known = file = std::make_shared<SharedFile>();
  return file;
}

class FileTransport final : public Transport {
 public:
  explicit FileTransport(const std::string& path)
      : path_(path),
        descriptor_(opened(path)),
        is_regular_(is_regular(descriptor_)),
        shared_(shared_file_of(descriptor_)),
        called_(::eventfd(0, EFD_CLOEXEC)) {}
  FileTransport(const FileTransport&) = delete;
  FileTransport& operator=(const FileTransport&) = delete;
  ~FileTransport() override {
    if (descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    ::close(called_);
  }

  bool send(const google::protobuf::Message& request) override {
    const std::string line = to_json(request) + '\n';
    if (!begin()) return false;
    const bool is_written = write_in_turn(line);
    end();
    return is_written;
  }

  void shut_down(std::chrono::milliseconds within) override {
    {
      std::unique_lock lock(mutex_);
      is_closed_ = true;
      idle_.wait_for(lock, within, [this] { return !is_sending_; });
    }
    {
      const std::lock_guard lock(shared_->mutex);
      gives_up_.store(true, std::memory_order_release);
    }
    shared_->changed.notify_all();
    ::eventfd_write(called_, 1);
  }

 private:
  bool begin() {
    const std::lock_guard lock(mutex_);
    is_sending_ = !is_closed_;
    return is_sending_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    is_sending_ = false;
    idle_.notify_all();
  }

  bool gives_up() const noexcept { return gives_up_.load(std::memory_order_acquire); }

  bool write_in_turn(std::string_view line) {
    {
      std::unique_lock lock(shared_->mutex);
      shared_->changed.wait(lock, [this] { return !shared_->is_taken || gives_up(); });
      if (gives_up()) return false;
      shared_->is_taken = true;
    }
    const bool is_written = append(line);
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->is_taken = false;
    }
    shared_->changed.notify_all();
    return is_written;
  }

  // What was cut short stays a line of its own, which a reader can leave out.
  bool append(std::string_view line) {
    if (shared_->is_cut_short && !write_all("\n")) return false;
    return write_all(line);
  }

  // To a file in one piece, so that several processes can share it. Elsewhere as much as there is
  // room for once the reader has read.
  bool write_all(std::string_view rest) {
    const QuietWriting quiet;
    while (!rest.empty()) {
      if (!is_regular_ && !wait_for_room()) return refuse("nobody read it before the shutdown");
      const std::size_t most = is_regular_ ? rest.size() : std::size_t{PIPE_BUF};
      const ::ssize_t written = ::write(descriptor_, rest.data(), std::min(rest.size(), most));
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (written < 0) return refuse(std::generic_category().message(errno));
      rest.remove_prefix(static_cast<std::size_t>(written));
      shared_->is_cut_short = !rest.empty();
    }
    return true;
  }

  bool wait_for_room() noexcept {
    ::pollfd events[] = {{descriptor_, POLLOUT, 0}, {called_, POLLIN, 0}};
    while (!gives_up()) {
      if (::poll(events, 2, -1) > 0 && events[0].revents != 0) return true;
    }
    return false;
  }

  bool refuse(const std::string& reason) const noexcept {
    complain("cannot append to '" + path_ + "': " + reason);
    return false;
  }

  const std::string path_;
  const int descriptor_;
  const bool is_regular_;
  const std::shared_ptr<SharedFile> shared_;
  const int called_;  // readable once `gives_up_`

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable idle_;
  bool is_sending_ = false;
  bool is_closed_ = false;

  std::atomic<bool> gives_up_{false};
};

}  // namespace

std::unique_ptr<Transport> file_transport(const ExportOptions& options) {
  return std::make_unique<FileTransport>(options.file);
}

}  // namespace weir::telemetry::otel
