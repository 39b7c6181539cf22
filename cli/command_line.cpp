#include <weir/cli/command_line.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <weir/cli/errc.hpp>
#include <weir/cli/grammar.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty()) names.push_back(each->get_name());
  return names;
}

/// How many letters are to be changed, added or removed.
std::size_t distance(const std::string& left, const std::string& right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t changed = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

std::string suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names = names_of(app);
  const auto nearest =
      std::ranges::min_element(names, {}, [&](const auto& name) { return distance(name, word); });
  if (nearest == names.end() || distance(*nearest, word) > 2) return "";
  return "; did you mean '" + *nearest + "'?";
}

/// The innermost subcommand that the words name, and how many of them do.
CLI::App* descend(CLI::App* app, const std::vector<std::string>& words, std::size_t* taken) {
  for (const std::string& word : words) {
    const auto named =
        app->get_subcommands([&](CLI::App* each) { return each->get_name() == word; });
    if (named.empty()) break;
    app = named.front();
    ++*taken;
  }
  return app;
}

Error explain(Grammar& grammar, const std::vector<std::string>& words, const CLI::Error& error) {
  std::size_t taken = 0;
  const CLI::App* app = descend(&grammar.app(), words, &taken);
  std::string name = "weir";
  for (std::size_t i = 0; i < taken; ++i) name += " " + words[i];
  const std::string help = "; see `" + name + " --help`";
  const bool is_word = taken < words.size() && !words[taken].starts_with('-');
  if (is_word && app->get_require_subcommand_min() > 0) {
    return {Errc::usage,
            "unknown subcommand '" + words[taken] + "'" + suggestion(*app, words[taken]) + help};
  }
  return {Errc::usage, std::string(error.what()) + help};
}

/// Where in the grammar the word is that is being written.
struct Cursor {
  CLI::App* app;
  std::size_t positionals = 0;    // that stand before it
  CLI::Option* option = nullptr;  // whose value it is
  ServerOptions server = {};      // as far as words before it say
};

void note(ServerOptions& server, const std::string& name, const std::string& value) {
  if (name == "--url") server.url = value;
  if (name == "--token") server.token = value;
  if (name == "--token-file") server.token_file = value;
}

Cursor find_cursor(Grammar& grammar, const std::vector<std::string>& words) {
  Cursor cursor{.app = &grammar.app()};
  if (const char* url = std::getenv("WEIR_URL")) cursor.server.url = url;
  if (const char* token = std::getenv("WEIR_TOKEN")) cursor.server.token = token;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with('-')) {
      CLI::Option* option = cursor.app->get_option_no_throw(word);
      if (option == nullptr || option->get_items_expected_max() == 0) continue;
      if (i + 2 == words.size()) cursor.option = option;
      note(cursor.server, word, words[++i]);
      continue;
    }
    const auto named =
        cursor.app->get_subcommands([&](CLI::App* each) { return each->get_name() == word; });
    if (named.empty()) {
      ++cursor.positionals;
    } else {
      cursor.app = named.front();
      cursor.positionals = 0;
    }
  }
  return cursor;
}

/// What may be the value of an option, or stand where a positional does.
std::vector<std::string> values_of(const Grammar& grammar, const CLI::Option* option,
                                   ServerOptions server) {
  if (const Choices* choices = grammar.choices(option)) return *choices;
  const std::string type = option->get_type_name();
  if (type == "FILE") return {":file"};
  if (type == "DIR") return {":directory"};
  server.timeout_seconds = 1;
  if (type == "TABLE") return relation_names(server, "tables");
  if (type == "VIEW") return relation_names(server, "views");
  return {};
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* each) { return each->nonpositional(); }))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::string complete_words(std::vector<std::string> words) {
  // bash takes `--sort=mailbox` for three words.
  if (!words.empty() && words.back() == "=") words.back().clear();
  if (words.size() > 1)
    words.erase(std::remove(words.begin(), words.end() - 1, "="), words.end() - 1);
  if (words.empty()) words.emplace_back();
  Grammar grammar;
  const Cursor cursor = find_cursor(grammar, words);
  std::vector<std::string> found;
  if (cursor.option != nullptr) {
    found = values_of(grammar, cursor.option, cursor.server);
  } else if (words.back().starts_with('-')) {
    found = option_names(*cursor.app);
  } else {
    if (cursor.positionals == 0) found = names_of(*cursor.app);
    const auto places =
        cursor.app->get_options([](const CLI::Option* each) { return each->get_positional(); });
    if (cursor.positionals < places.size()) {
      for (std::string& value : values_of(grammar, places[cursor.positionals], cursor.server))
        found.push_back(std::move(value));
    }
  }
  std::string lines;
  for (const std::string& each : found)
    if (each.starts_with(':') || each.starts_with(words.back())) lines += each + "\n";
  return lines;
}

Result<Invocation> parse_command_line(const std::vector<std::string>& words) {
  Grammar grammar;
  try {
    grammar.app().parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return Error({}, grammar.app().help());
  } catch (const CLI::CallForAllHelp&) {
    return Error({}, grammar.app().help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion& version_asked) {
    return Error({}, std::string(version_asked.what()) + "\n");
  } catch (const CLI::Error& error) {
    return explain(grammar, words, error);
  }
  return grammar.invocation();
}

}  // namespace weir::cli
