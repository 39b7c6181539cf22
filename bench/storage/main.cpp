// `weir_bench_storage weir|raw <workload>`: one workload, done by Weir's store or by RocksDB alone.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/workloads.hpp>

namespace weir::bench::storage {

std::string value_of(std::uint64_t row) {
  std::string value(value_bytes, '\0');
  std::uint64_t state = row * 0x9E3779B97F4A7C15 + 1;
  for (char& byte : value) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  return value;
}

double sync_us() {
  const Directory directory;
  const int file = ::open((directory.path() / "file").c_str(), O_WRONLY | O_CREAT, 0644);
  const std::string bytes(rows_per_commit * value_bytes * 2, 'x');
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) {
    actors::Stopwatch watch;
    watch.start();
    const bool is_written = ::write(file, bytes.data(), bytes.size()) == std::ssize(bytes);
    if (!is_written || ::fdatasync(file) != 0) std::exit(1);
    watch.stop();
    times.push_back(watch.elapsed_ns() / 1000);
  }
  ::close(file);
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

void settle() {
  for (int quiet = 0; quiet < 5;) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double used_ms = 1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    quiet = used_ms < 5 ? quiet + 1 : 0;
  }
}

double resident_mebibytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

std::string run_in_child(void (*child)(const std::filesystem::path&),
                         const std::filesystem::path& path) {
  int pipe[2];
  if (::pipe(pipe) != 0) std::exit(1);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[0]);
    child(path);
    std::_Exit(1);
  }
  ::close(pipe[1]);
  std::string output;
  char bytes[256];
  for (ssize_t count; (count = ::read(pipe[0], bytes, sizeof bytes)) > 0;) {
    output.append(bytes, static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  ::waitpid(pid, nullptr, 0);
  return output;
}

void measure_opening(void (*load_and_die)(const std::filesystem::path&),
                     double (*open_ms)(const std::filesystem::path&)) {
  const Directory directory;
  const auto path = directory.path() / "store";
  const double resident = std::atof(run_in_child(load_and_die, path).c_str());
  const double killed = open_ms(path);
  const double clean = open_ms(path);
  actors::print_result("open", killed, "ms", {{"clean", clean}, {"resident_mb", resident}});
}

}  // namespace weir::bench::storage

int main(int argc, char** argv) {
  using namespace weir::bench::storage;
  return run_beside_raw(argc, argv, weir_workloads(), raw_workloads());
}
