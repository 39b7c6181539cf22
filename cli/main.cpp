// The program `weir`: see docs/cli.md.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/command_line.hpp>
#include <weir/cli/errc.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

int fail(const Error& error, bool is_json) {
  const int code = error.code().category() == cli_category() ? error.code().value() : 1;
  const std::string what = error.detail().empty() ? error.message() : error.detail();
  if (is_json) {
    const boost::json::value told = {
        {"error", {{"code", cli_category().message(code)}, {"exit_code", code}, {"detail", what}}}};
    std::fprintf(stderr, "%s\n", boost::json::serialize(told).c_str());
  } else {
    std::fprintf(stderr, "weir: %s\n", what.c_str());
  }
  return code;
}

/// For when the words make no command: who reads the answer is known all the same.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::ranges::find(words.begin(), end, "--json") != end;
}

int run(const std::vector<std::string>& words) {
  if (words.size() >= 2 && words[0] == "__complete") {
    std::fputs(complete_words({words.begin() + 2, words.end()}).c_str(), stdout);
    return 0;
  }
  const Result<Invocation> invocation = parse_command_line(words);
  if (!invocation && !invocation.error().code()) {
    std::fputs(invocation.error().detail().c_str(), stdout);
    return 0;
  }
  if (!invocation) return fail(invocation.error(), asks_for_json(words));
  Output output(invocation->is_json);
  const Result<> done = invocation->run(output);
  output.flush();
  return done ? 0 : fail(done.error(), invocation->is_json);
}

}  // namespace
}  // namespace weir::cli

int main(int argc, char** argv) {
  try {
    return weir::cli::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return 1;
  }
}
