#include <weir/tests/storage/postgres/support/test_server.hpp>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <libpq-fe.h>

namespace weir::storage::postgres::test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// Who runs the server; null: who runs the tests.
const passwd* server_user() {
  if (::geteuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  if (!user) throw std::runtime_error("there is no user postgres, and root cannot run a server");
  return user;
}

constexpr std::string_view directory_prefix = "weir_postgres_";

/// Removes what was left by processes that were killed.
void remove_leftovers(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(directory_prefix)) continue;
    const int owner = std::atoi(name.c_str() + directory_prefix.size());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry, ignored);
  }
}

/// In memory if possible, and if it need not be on a disk. The paths of sockets are short, so it is
/// near the root.
fs::path make_directory(bool is_on_disk) {
  const bool is_in_memory = !is_on_disk && ::access("/dev/shm", W_OK | X_OK) == 0;
  const fs::path parent = is_in_memory ? "/dev/shm" : "/var/tmp";
  remove_leftovers(parent);
  std::string name = parent / (std::string(directory_prefix) + std::to_string(::getpid()));
  name += "_XXXXXX";
  if (!::mkdtemp(name.data())) fail("mkdtemp");
  return name;
}

/// Where the newest server is installed, or nothing.
fs::path find_programs() {
  if (const char* given = ::getenv("WEIR_POSTGRES_PROGRAMS")) return given;
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    if (fs::exists(entry.path() / "bin" / "initdb")) found.push_back(entry.path() / "bin");
  }
  return found.empty() ? fs::path() : *std::max_element(found.begin(), found.end());
}

/// Starts a program as the server's user; what it says goes to `log`.
pid_t launch_program(const std::vector<std::string>& command, const fs::path& log) {
  const passwd* user = server_user();
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child > 0) return child;
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::setsid();
  if (user && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
               ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  // After the change of user, which would forget it.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir("/") != 0) ::_exit(126);
  ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  return status;
}

bool has_succeeded(const std::vector<std::string>& command, const fs::path& log) {
  return wait_for(launch_program(command, log)) == 0;
}

std::ptrdiff_t count_files(const fs::path& path) {
  std::error_code failed;
  return std::distance(fs::recursive_directory_iterator(path, failed), {});
}

/// Whether it is there, is whole, and was made by who runs servers here.
bool is_template(const fs::path& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  const passwd* user = server_user();
  if (found.st_uid != (user ? user->pw_uid : ::geteuid())) return false;
  // Whoever cleans up what is old may have taken some of it.
  std::ptrdiff_t expected = 0;
  std::ifstream(path.string() + ".files") >> expected;
  return expected == count_files(path);
}

/// An empty database to be copied, which takes a tenth of the time of making one. It is made by
/// whoever needs it first, and stays; of those who make it at once, one is kept. On the disk, and
/// synced: it outlives the machine's being switched off.
fs::path find_template(const fs::path& programs, const fs::path& log) {
  std::string name = programs.string();
  std::ranges::replace(name, '/', '_');
  const fs::path path = "/tmp/weir_postgres_template" + name + "_" + std::to_string(::geteuid());
  if (is_template(path)) return path;
  const fs::path fresh = path.string() + "_" + std::to_string(::getpid());
  const bool is_made =
      has_succeeded({programs / "initdb", "--pgdata=" + fresh.string(), "--username=postgres",
                     "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"},
                    log);
  if (!is_made) throw std::runtime_error("initdb failed; see " + log.string());
  std::ofstream(path.string() + ".files") << count_files(fresh);
  std::error_code failed;
  fs::rename(fresh, path, failed);
  if (!failed) return path;
  if (is_template(path)) {
    fs::remove_all(fresh, failed);
    return path;
  }
  // What is there is nobody's: this one is used once.
  return fresh;
}

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};

std::string run(const std::string& connection, const std::string& statement) {
  const std::unique_ptr<PGconn, FinishConnection> opened(PQconnectdb(connection.c_str()));
  if (PQstatus(opened.get()) != CONNECTION_OK) {
    throw std::runtime_error(PQerrorMessage(opened.get()));
  }
  PQsetNoticeProcessor(opened.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, ClearResult> result(PQexec(opened.get(), statement.c_str()));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQresultErrorMessage(result.get()));
  }
  const bool is_there = PQntuples(result.get()) > 0 && PQnfields(result.get()) > 0;
  return is_there ? PQgetvalue(result.get(), 0, 0) : "";
}

}  // namespace

std::unique_ptr<TestServer> TestServer::start(const ServerOptions& options) {
  const fs::path programs = find_programs();
  if (programs.empty()) {
    std::fputs(
        "\n*** SKIPPED: the package postgresql is not installed, so that NOTHING about PostgreSQL\n"
        "*** is tested here. Install it (scripts/install_dependencies.sh does) and run again.\n\n",
        stderr);
    return nullptr;
  }
  std::unique_ptr<TestServer> server(new TestServer(programs, options));
  server->initialise();
  server->launch();
  return server;
}

TestServer::TestServer(fs::path programs, const ServerOptions& options)
    : programs_(std::move(programs)),
      options_(options),
      directory_(make_directory(options.is_on_disk)) {
  if (const passwd* user = server_user()) {
    if (::chown(directory_.c_str(), user->pw_uid, user->pw_gid) != 0) fail("chown");
  }
}

TestServer::~TestServer() {
  end(SIGQUIT);
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string TestServer::connection() const {
  return "host=" + directory_.string() + " user=postgres dbname=postgres";
}

void TestServer::initialise() const {
  const fs::path log = directory_ / "log";
  const fs::path from = find_template(programs_, log);
  if (!has_succeeded({"/bin/cp", "--archive", from, directory_ / "data"}, log)) {
    throw std::runtime_error("the template was not copied; see " + log.string());
  }
}

void TestServer::launch() {
  const std::string syncs = options_.syncs ? "on" : "off";
  std::vector<std::string> command{programs_ / "postgres",
                                   "-D",
                                   directory_ / "data",
                                   "-k",
                                   directory_,
                                   "-c",
                                   "listen_addresses=",
                                   "-c",
                                   "fsync=" + syncs,
                                   "-c",
                                   "synchronous_commit=" + syncs,
                                   "-c",
                                   "full_page_writes=" + syncs};
  for (const std::string& setting : options_.settings) {
    command.insert(command.end(), {"-c", setting});
  }
  process_ = launch_program(command, directory_ / "log");
  wait_until_it_answers();
}

void TestServer::wait_until_it_answers() {
  constexpr int attempts_max = 6'000;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    if (PQping(connection().c_str()) == PQPING_OK) return;
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      throw std::runtime_error("the server ended; see " + (directory_ / "log").string());
    }
    ::poll(nullptr, 0, 10);
  }
  throw std::runtime_error("the server does not answer; see " + (directory_ / "log").string());
}

void TestServer::end(int signal) {
  if (process_ <= 0) return;
  ::kill(process_, signal);
  wait_for(process_);
  process_ = 0;
}

void TestServer::kill() { end(SIGQUIT); }
void TestServer::revive() { launch(); }

void TestServer::restart() {
  end(SIGINT);
  launch();
}

void TestServer::execute(const std::string& statements) const { run(connection(), statements); }

std::string TestServer::query(const std::string& statement) const {
  return run(connection(), statement);
}

SilentServer::SilentServer() : directory_(make_directory(false)) {
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory_ / ".s.PGSQL.5432";
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fail("bind");
  if (::listen(socket_, 64) != 0) fail("listen");
}

SilentServer::~SilentServer() {
  ::close(socket_);
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string SilentServer::connection() const {
  return "host=" + directory_.string() + " user=postgres dbname=postgres";
}

}  // namespace weir::storage::postgres::test
