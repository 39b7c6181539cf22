#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

extern char** environ;

namespace weir::storage::test {

/// The writer, in a process of its own, which is killed at the latest when this ends.
class Child {
 public:
  Child(const std::filesystem::path& directory, const std::string& mode) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) ADD_FAILURE() << "no pipe";
    output_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe")
                                    .replace_filename("weir_storage_crash_writer");
    std::string arguments[] = {program, directory.string(), mode};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ) != 0) {
      ADD_FAILURE() << "cannot start " << program;
      pid_ = 0;
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    ::close(output_);
  }

  pid_t pid() const noexcept { return pid_; }

  /// The next version that it says was acknowledged; zero when it has ended and said all.
  std::uint64_t next() {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        const std::uint64_t version = std::stoull(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        return version;
      }
      char bytes[4096];
      const ssize_t count = ::read(output_, bytes, sizeof bytes);
      if (count <= 0) return 0;
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "the writer had ended by itself, with status " << status;
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
  std::string buffer_;
};

}  // namespace weir::storage::test
