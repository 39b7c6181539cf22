#include <weir/runtime/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace weir {

void fail_check(std::string_view message, std::source_location where) noexcept {
  std::fprintf(stderr, "weir: broken invariant: %.*s (%s:%u, %s)\n",
               static_cast<int>(message.size()), message.data(), where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace weir
