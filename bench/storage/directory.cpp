#include <weir/bench/storage/directory.hpp>

#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace weir::bench::storage {

Directory::Directory() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent ? parent : "/tmp") + "/weir_bench_XXXXXX";
  if (!::mkdtemp(name.data())) {
    std::perror(name.c_str());
    std::exit(1);
  }
  path_ = name;
}

Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weir::bench::storage
