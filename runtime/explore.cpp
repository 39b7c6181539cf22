#include <weir/runtime/explore.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace weir {
namespace {

std::optional<std::uint64_t> number_from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || *text == '\0') return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw std::invalid_argument(std::string(variable) + " is not a number: '" + text + "'");
  }
  return number;
}

std::string quoted(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The words this process was started with.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) words.emplace_back("<program>");
  return words;
}

std::string replay_command(std::uint64_t seed, const std::string& arguments) {
  const std::vector<std::string> words = command_line();
  std::string command = "WEIR_SEED=" + std::to_string(seed) + " " + quoted(words.front());
  if (!arguments.empty()) return command + " " + arguments;
  for (std::size_t i = 1; i < words.size(); ++i) command += " " + quoted(words[i]);
  return command;
}

std::string describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

class Explorer {
 public:
  Explorer(const ExploreOptions& options, const std::function<void(Simulation&)>& scenario)
      : options_(options), scenario_(scenario) {}

  /// What is wrong with a seed, or nothing.
  std::optional<std::string> try_seed(std::uint64_t seed) {
    std::uint64_t hash = 0;
    if (auto failure = run(seed, hash)) return failure;
    if (!options_.runs_twice) return std::nullopt;
    std::uint64_t other_hash = 0;
    if (auto failure = run(seed, other_hash)) return "second run: " + *failure;
    if (hash == other_hash) return std::nullopt;
    return "two runs of the same seed differ: something does not come from the simulation";
  }

 private:
  std::optional<std::string> run(std::uint64_t seed, std::uint64_t& hash) {
    SimulationOptions options = options_.simulation;
    options.seed = seed;
    Simulation simulation(std::move(options));
    try {
      scenario_(simulation);
    } catch (...) {
      return describe(std::current_exception());
    }
    hash = simulation.trace_hash();
    if (options_.has_failed && options_.has_failed()) return "a check failed";
    if (simulation.has_reached_step_limit()) {
      return "the actors were still busy after " + std::to_string(simulation.steps()) + " steps";
    }
    return std::nullopt;
  }

  const ExploreOptions& options_;
  const std::function<void(Simulation&)>& scenario_;
};

void print(const ExploreReport& report) {
  const std::uint64_t passed = report.seeds_run - 1;
  const std::string after = passed > 0 ? " after " + std::to_string(passed) + " that passed" : "";
  std::fprintf(stderr, "weir: seed %llu failed%s: %s\nweir: replay it: %s\n",
               static_cast<unsigned long long>(*report.failed_seed), after.c_str(),
               report.failure.c_str(), report.replay.c_str());
}

}  // namespace

ExploreReport explore(const ExploreOptions& options,
                      const std::function<void(Simulation&)>& scenario) {
  std::uint64_t first = options.first_seed;
  std::uint64_t count = number_from_environment("WEIR_SEEDS").value_or(options.seeds);
  if (const auto only = number_from_environment("WEIR_SEED")) {
    first = *only;
    count = 1;
  }
  Explorer explorer(options, scenario);
  ExploreReport report;
  for (std::uint64_t seed = first; seed - first < count; ++seed) {
    ++report.seeds_run;
    if (auto failure = explorer.try_seed(seed)) {
      report.failed_seed = seed;
      report.failure = std::move(*failure);
      report.replay = replay_command(seed, options.replay_arguments);
      print(report);
      break;
    }
  }
  return report;
}

}  // namespace weir
