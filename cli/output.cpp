#include <weir/cli/output.hpp>

#include <unistd.h>
#include <cstdio>

#include <weir/cli/terminal.hpp>

namespace weir::cli {

Output::Output(bool is_json) : is_json_(is_json) {
  if (::isatty(STDOUT_FILENO) != 1) return;
  layout_ = {.width = terminal_size().columns, .is_coloured = allows_colours()};
}

void Output::write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

void Output::flush() { std::fflush(stdout); }

}  // namespace weir::cli
