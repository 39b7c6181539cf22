#include <weir/cli/output.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <weir/cli/errc.hpp>
#include <weir/cli/terminal.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {

Output::Output(bool is_json) : is_json_(is_json) {
  if (::isatty(STDOUT_FILENO) != 1) return;
  layout_ = {.width = terminal_size().columns, .is_coloured = allows_colours()};
}

void Output::write(std::string_view text) {
  errno = 0;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written && failure_ == 0) failure_ = errno;
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

Result<> Output::flush() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  if (!is_flushed && failure_ == 0) failure_ = errno;
  // Others print there as well: why it failed for them is not known any more.
  if (failure_ == 0 && std::ferror(stdout) != 0) failure_ = EIO;
  if (failure_ == 0) return {};
  if (failure_ == EPIPE) return Error(Errc::closed, "nobody reads standard output any more");
  return Error(Errc::failed,
               "standard output cannot be written: " + std::system_category().message(failure_));
}

}  // namespace weir::cli
