// The program `weir`: see docs/cli.md.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/command_line.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/output.hpp>
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

/// Nothing is done as long as what came of it cannot be read. Who has left is told nothing.
int end(Result<> done, Output& output) {
  if (auto written = output.flush(); done) done = std::move(written);
  if (done) return 0;
  if (done.error() == Errc::closed) return done.error().code().value();
  return fail(done.error(), output.is_json());
}

/// For when the words make no command: who reads the answer is known all the same.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::ranges::find(words.begin(), end, "--json") != end;
}

int run(const std::vector<std::string>& words) {
  Output text(false);
  if (words.size() >= 2 && words[0] == "__complete") {
    text.write(complete_words({words.begin() + 2, words.end()}));
    return end({}, text);
  }
  const Result<Invocation> invocation = parse_command_line(words);
  if (!invocation && !invocation.error().code()) {
    text.write(invocation.error().detail());
    return end({}, text);
  }
  if (!invocation) return fail(invocation.error(), asks_for_json(words));
  Output output(invocation->is_json);
  return end(invocation->run(output), output);
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
