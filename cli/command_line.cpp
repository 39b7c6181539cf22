#include <weir/cli/command_line.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <weir/cli/actors.hpp>
#include <weir/cli/backup.hpp>
#include <weir/cli/demo.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/log.hpp>
#include <weir/cli/relations.hpp>
#include <weir/cli/serve.hpp>
#include <weir/cli/token.hpp>
#include <weir/cli/version.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

using Choices = std::vector<std::string>;

constexpr const char* description =
    "Weir: runs a store, looks into one that runs, and keeps copies of it.";

constexpr const char* epilogue = R"(Exit codes:
  0  done
  1  failed, or what was asked is not so, such as that a store is whole
  2  the command line is wrong
  3  nobody answers at the address
  4  the server refuses: no token, a wrong one, or one that may not
  5  no such table, view, execution, file or directory
  6  another process has the store open
  7  the server does not know this yet: it is older than this program

`weir <subcommand> --help` tells more; docs/cli.md has all of it.)";

/// All that the program understands.
class Grammar {
 public:
  Grammar();

  CLI::App& app() noexcept { return app_; }
  const Invocation& invocation() const noexcept { return invocation_; }
  const Choices* choices(const CLI::Option* option) const {
    const auto found = choices_.find(option);
    return found == choices_.end() ? nullptr : &found->second;
  }

 private:
  /// A subcommand that runs `command` with options of its own.
  template <class Options>
  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& what,
                std::shared_ptr<Options> options, Result<> (*command)(const Options&, Output&)) {
    CLI::App* added = parent.add_subcommand(name, what);
    added->add_flag("--json", invocation_.is_json, "Print JSON, for programs");
    added->callback([this, options, command] {
      // Of a subcommand and the one that it is in, the first to be called is the inner one.
      if (invocation_.run) return;
      invocation_.run = [options, command](Output& output) { return command(*options, output); };
    });
    return added;
  }
  void choose(CLI::Option* option, Choices choices) {
    option->check(CLI::IsMember(choices));
    choices_.emplace(option, std::move(choices));
  }
  void add_server(CLI::App* to, ServerOptions& server);
  void add_serve();
  void add_demo();
  void add_token();
  void add_relations(const std::string& name, const std::string& what, const char* kind,
                     Result<> (*command)(const RelationOptions&, Output&));
  void add_repairs(CLI::App* views);
  void add_actors();
  void add_log();
  void add_savepoints();
  void add_progress(CLI::App* to, ShowProgress& show);
  void add_copies();

  CLI::App app_{description, "weir"};
  Invocation invocation_;
  std::map<const CLI::Option*, Choices> choices_;
};

Grammar::Grammar() {
  app_.set_version_flag("--version", std::string("weir ") + version);
  app_.footer(epilogue);
  app_.require_subcommand(1);
  add_serve();
  add_demo();
  add_token();
  add_relations("tables", "Tables: their columns and rows", "TABLE", &show_tables);
  add_relations("views", "Views: what they are doing, their rows; what to do about one that failed",
                "VIEW", &show_views);
  add_repairs(app_.get_subcommand("views"));
  add_actors();
  add_log();
  add_savepoints();
  add_copies();
  for (CLI::App* each : app_.get_subcommands([](CLI::App*) { return true; })) each->footer("");
}

void Grammar::add_server(CLI::App* to, ServerOptions& server) {
  const char* group = "Server";
  to->add_option("--url", server.url, "The server that is asked")
      ->envname("WEIR_URL")
      ->type_name("URL")
      ->capture_default_str()
      ->group(group);
  to->add_option("--token", server.token, "As whom; others may see it in a list of processes")
      ->envname("WEIR_TOKEN")
      ->type_name("TOKEN")
      ->group(group);
  to->add_option("--token-file", server.token_file, "The same, from the first line of a file")
      ->type_name("FILE")
      ->group(group);
  to->add_option("--authority", server.authority_file,
                 "Who signed the server's certificate, in a file of PEM")
      ->type_name("FILE")
      ->group(group);
  to->add_option("--timeout", server.timeout_seconds, "Seconds until an answer must have come")
      ->check(CLI::Range(0.001, 86400.0))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
}

void Grammar::add_serve() {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve =
      add(app_, "serve", "Serve a store over HTTP until Ctrl-C", options, &cli::serve);
  serve->add_option("--directory", options->directory, "The store; made if it is not there")
      ->type_name("DIR")
      ->required();
  serve
      ->add_option("--address", options->address,
                   "Where to listen; others than this machine need --tokens")
      ->type_name("ADDRESS")
      ->capture_default_str();
  serve->add_option("--port", options->port, "0 for any that is free")
      ->type_name("PORT")
      ->capture_default_str();
  serve
      ->add_option("--tokens", options->tokens_file,
                   "Who may call (`weir token make`); all without it")
      ->type_name("FILE");
  serve
      ->add_option("--tls-certificate", options->certificate_file,
                   "Serve over TLS, with this file of PEM")
      ->type_name("FILE");
  serve->add_option("--tls-key", options->key_file, "The key of the certificate")
      ->type_name("FILE");
  choose(serve->add_option("--durability", options->durability, "When a commit is on disk")
             ->type_name("MODE")
             ->capture_default_str(),
         {"durable", "buffered", "memory"});
  serve->add_option("--history", options->history_seconds, "How long old versions of rows are kept")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  serve->add_option("--memory", options->memory_mebibytes, "For what the store keeps in memory")
      ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 20U))
      ->type_name("MIB")
      ->capture_default_str();
  serve->add_option("--threads", options->threads, "That run actors; 0 for one per core")
      ->check(CLI::Range(0U, 1024U))
      ->type_name("N")
      ->capture_default_str();
  serve->add_option("--drain", options->drain_seconds, "How long answers may take in the end")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void Grammar::add_demo() {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* demo =
      add(app_, "demo", "Run a small shop that keeps going, until Ctrl-C", options, &run_demo);
  demo->add_option("--directory", options->directory,
                   "Where its data is; weir-shop in $XDG_STATE_HOME or ~/.local/state without it")
      ->type_name("DIR");
  demo->add_option("--seconds", options->seconds, "End after so long")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  demo->add_option("--orders-per-second", options->orders_per_second, "How many customers come")
      ->check(CLI::Range(0.0, 1e5))
      ->type_name("N")
      ->capture_default_str();
  demo->add_flag(
      "--report", options->verifies,
      "In the end compute everything again and compare: exit code 0 only if all is right");
  demo->add_flag("--fresh", options->begins_anew, "Forget what is there");
}

void Grammar::add_token() {
  CLI::App* token = app_.add_subcommand("token", "Who may call a server");
  token->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();
  CLI::App* make =
      add(*token, "make", "Make a token, and print its secret once", options, &make_token);
  make->add_option("name", options->name, "Shown in the audit log")->type_name("NAME")->required();
  choose(make->add_option("--role", options->roles, "What it may do; once for each")
             ->type_name("ROLE")
             ->capture_default_str(),
         {"read", "write", "operate"});
  make->add_option("--namespace", options->namespaces,
                   "For tables and views of this namespace only; once for each")
      ->type_name("NAMESPACE");
  make->add_option("--file", options->file, "Add it to this file of tokens")->type_name("FILE");
}

void Grammar::add_relations(const std::string& name, const std::string& what, const char* kind,
                            Result<> (*command)(const RelationOptions&, Output&)) {
  auto options = std::make_shared<RelationOptions>();
  CLI::App* relations = add(app_, name, what, options, command);
  CLI::Option* named =
      relations->add_option("name", options->name, "One of them; all without it")->type_name(kind);
  CLI::Option* rows = relations->add_flag("--rows", options->shows_rows, "Its rows")->needs(named);
  relations->add_option("--limit", options->limit, "How many rows at most")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->needs(rows)
      ->capture_default_str();
  relations->add_option("--after", options->after, "Rows after this key: what `more` says")
      ->type_name("KEY")
      ->needs(rows);
  relations->add_option("--at", options->at, "Rows as of this version, if it is kept")
      ->type_name("VERSION")
      ->needs(rows);
  add_server(relations, options->server);
}

void Grammar::add_repairs(CLI::App* views) {
  const std::pair<const char*, const char*> ways[] = {
      {"resume", "Let a view that failed go on where it stopped"},
      {"skip", "The same, but leave out the first version whose changes fail"},
      {"rebuild", "Build a view again from its sources"}};
  for (const auto& [how, what] : ways) {
    auto options = std::make_shared<RepairOptions>();
    options->how = how;
    CLI::App* repair = add(*views, how, what, options, &repair_view);
    repair->add_option("name", options->name, "The view")->type_name("VIEW")->required();
    add_server(repair, options->server);
  }
}

void Grammar::add_actors() {
  auto options = std::make_shared<ActorOptions>();
  CLI::App* actors =
      add(app_, "actors", "Actors: their phases, mailboxes and failures", options, &show_actors);
  choose(actors->add_option("--sort", options->order, "What decides about the order")
             ->type_name("BY")
             ->capture_default_str(),
         {std::begin(actor_orders), std::end(actor_orders)});
  actors->add_option("--limit", options->limit, "How many at most; 0 for all")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_server(actors, options->server);
}

void Grammar::add_log() {
  auto options = std::make_shared<LogOptions>();
  CLI::App* log =
      add(app_, "log", "Commits: when, by whom, how many rows of what", options, &show_log);
  log->add_flag("-f,--follow", options->follows, "Go on with those that come, until Ctrl-C");
  log->add_option("--after", options->after, "Those after this version; the newest without it")
      ->type_name("VERSION");
  log->add_option("--limit", options->limit, "How many at most, before it follows")
      ->check(CLI::Range(1, 1'000))
      ->type_name("N")
      ->capture_default_str();
  add_server(log, options->server);
}

void Grammar::add_savepoints() {
  auto listed = std::make_shared<SavepointOptions>();
  CLI::App* savepoints =
      add(app_, "savepoints", "Copies inside the directory of a store", listed, &list_savepoints);
  add_server(savepoints, listed->server);
  auto made = std::make_shared<SavepointOptions>();
  CLI::App* make = add(*savepoints, "make", "Copy the store as it is", made, &make_savepoint);
  make->add_option("name", made->name, "How it is called")->type_name("NAME")->required();
  add_server(make, made->server);
  auto removed = std::make_shared<SavepointOptions>();
  CLI::App* remove = add(*savepoints, "remove", "Remove such a copy", removed, &remove_savepoint);
  remove->add_option("name", removed->name, "The savepoint")->type_name("NAME")->required();
  add_server(remove, removed->server);
}

void Grammar::add_progress(CLI::App* to, ShowProgress& show) {
  static const std::map<std::string, ShowProgress> modes = {{"auto", ShowProgress::automatic},
                                                            {"always", ShowProgress::always},
                                                            {"never", ShowProgress::never}};
  CLI::Option* option = to->add_option_function<std::string>(
      "--progress", [&show](const std::string& mode) { show = modes.at(mode); },
      "Whether to draw it: auto does on a terminal, after a second");
  choose(option->type_name("MODE"), {"auto", "always", "never"});
}

void Grammar::add_copies() {
  auto backup = std::make_shared<BackupOptions>();
  CLI::App* made = add(app_, "backup", "Copy a store, also while it is served", backup, &back_up);
  made->add_option("target", backup->target, "The directory to be made")
      ->type_name("DIR")
      ->required();
  made->add_option("--directory", backup->directory, "The store")->type_name("DIR")->required();
  add_progress(made, backup->show);
  add_server(made, backup->server);

  auto restored = std::make_shared<RestoreOptions>();
  CLI::App* restoring = add(app_, "restore", "Make a store of a backup", restored, &restore);
  restoring->add_option("backup", restored->backup, "The backup")->type_name("DIR")->required();
  restoring->add_option("--directory", restored->directory, "The directory to be made")
      ->type_name("DIR")
      ->required();
  add_progress(restoring, restored->show);

  auto verified = std::make_shared<VerifyCommandOptions>();
  CLI::App* verifying =
      add(app_, "verify", "Read all of a store or a backup, and name the first fault", verified,
          &verify_directory);
  verifying->add_option("--directory", verified->directory, "A store that is not open, or a backup")
      ->type_name("DIR")
      ->required();
  add_progress(verifying, verified->show);
}

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

}  // namespace

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
