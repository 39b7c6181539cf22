#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

namespace weir::bench::storage {

/// One workload: prints the result line.
struct Workload {
  std::string_view name;
  void (*run)();
};

/// `main` of a program that is called with `weir|raw <workload>`: one workload, done by Weir or by
/// RocksDB alone.
inline int run_beside_raw(int argc, char** argv, const std::vector<Workload>& weir,
                          const std::vector<Workload>& raw) {
  if (argc == 3) {
    const std::string_view subject = argv[1];
    for (const Workload& workload : subject == "raw" ? raw : weir) {
      if (workload.name != argv[2]) continue;
      workload.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s weir|raw <workload>\n", argv[0]);
  return 2;
}

}  // namespace weir::bench::storage
