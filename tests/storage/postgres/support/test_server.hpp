#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weir::storage::postgres::test {

struct ServerOptions {
  /// Whether the server syncs what it wrote before it answers.
  bool syncs = false;
  /// Whether it writes to a disk. In memory, where its files are otherwise, syncing costs nothing:
  /// who measures has them on a disk.
  bool is_on_disk = false;
  /// Further settings: `max_connections=10`.
  std::vector<std::string> settings = {};
};

/// A PostgreSQL server of its own: in a new directory, reached through a socket there and not
/// through the network. It ends when this object does, or the process that made it, whatever the
/// reason.
///
/// Root cannot run a server, so for root the user `postgres` does. Must be used on the thread that
/// made it: the server ends with that thread.
class TestServer {
 public:
  /// Null if the package `postgresql` is not installed; says so on standard error.
  static std::unique_ptr<TestServer> start(const ServerOptions& options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// What to connect with: `host=... user=...`.
  std::string connection() const;

  /// Ends the server as a crash would: clients lose their connections, and the next start recovers.
  void kill();
  /// Starts a server that was killed, and waits until it answers.
  void revive();
  /// Ends it in order, with all its clients' connections, and starts it again.
  void restart();
  bool is_running() const noexcept { return process_ > 0; }

  /// Runs statements that give nothing, on a connection of its own. Throws `std::runtime_error` if
  /// that fails.
  void execute(const std::string& statements) const;
  /// The first column of the first row, as text; empty if there is none.
  std::string query(const std::string& statement) const;

 private:
  TestServer(std::filesystem::path programs, const ServerOptions& options);
  void initialise() const;
  void launch();
  void end(int signal);
  void wait_until_it_answers();

  const std::filesystem::path programs_;
  const ServerOptions options_;
  std::filesystem::path directory_;
  pid_t process_ = 0;
};

/// A socket that takes connections and never says a word.
class SilentServer {
 public:
  SilentServer();
  ~SilentServer();
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  std::string connection() const;

 private:
  std::filesystem::path directory_;
  int socket_ = -1;
};

}  // namespace weir::storage::postgres::test
