#include <weir/samples/shop/options.hpp>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weir/runtime/error.hpp>

namespace shop {
namespace {

weir::Error wrong(const std::string& what) {
  return {weir::Errc::invalid_argument, what + "; see --help"};
}

std::optional<double> parse_number(std::string_view text, double max) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !(number >= 0 && number <= max)) return {};
  return number;
}

/// Options that take a value.
weir::Result<> set(Options& options, const std::string& name, const std::string& value) {
  if (name == "--directory") {
    if (value.empty()) return wrong("--directory needs the name of a directory");
    options.directory = value;
  } else if (name == "--seconds") {
    const auto number = parse_number(value, 1e6);
    if (!number) return wrong("--seconds is '" + value + "', and not a number of seconds");
    options.seconds = std::chrono::seconds(static_cast<int>(*number));
  } else if (name == "--port") {
    const auto number = parse_number(value, 65'535);
    if (!number) return wrong("--port is '" + value + "', not from 0 to 65535");
    options.port = static_cast<std::uint16_t>(*number);
  } else {
    const auto number = parse_number(value, 1e5);
    if (!number) return wrong("--orders-per-second is '" + value + "', not from 0 to 100000");
    options.orders_per_second = *number;
  }
  return {};
}

bool takes_value(std::string_view name) {
  return name == "--directory" || name == "--seconds" || name == "--orders-per-second" ||
         name == "--port";
}

}  // namespace

// https://specifications.freedesktop.org/basedir-spec
std::filesystem::path default_directory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::filesystem::path(state) / "weir-shop";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local/state/weir-shop";
}

const char* const usage =
    R"(Usage: weir_sample_shop [--seconds N] [--report] [--orders-per-second N] [--directory DIR]
                        [--port N] [--fresh]

A small shop: customers order, views follow, and each paid order is charged and shipped once.
Ctrl-C ends it; started again it goes on where it was, also after `kill -9`.

  --seconds N            ends after so long
  --report               in the end, waits for all checkouts, computes everything again from the
                         tables and compares; the exit code is 0 only if all of it is right
  --orders-per-second N  how many customers come: 200
  --directory DIR        where its data is: weir-shop in $XDG_STATE_HOME or ~/.local/state
  --port N               where its console and its API are: 8080, or any if that is taken
  --fresh                forgets what is there

With OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 everything is traced; docs/operations has the
other variables.
)";

weir::Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    const std::size_t sign = argument.find('=');
    const std::string name = argument.substr(0, sign);
    if (takes_value(name)) {
      const bool is_next = sign == std::string::npos;
      if (is_next && i + 1 == arguments.size()) return wrong(name + " needs a value");
      const std::string value = is_next ? arguments[++i] : argument.substr(sign + 1);
      if (auto done = set(options, name, value); !done) return done.error();
    } else if (argument == "--fresh") {
      options.begins_anew = true;
    } else if (argument == "--report") {
      options.verifies = true;
    } else if (argument == "--help" || argument == "-h") {
      options.asks_for_help = true;
    } else {
      return wrong("unknown option '" + argument + "'");
    }
  }
  if (options.directory.empty()) options.directory = default_directory();
  if (options.directory.empty()) return wrong("there is no HOME: say --directory");
  return options;
}

}  // namespace shop
