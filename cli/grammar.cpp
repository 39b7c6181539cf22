#include <weir/cli/grammar.hpp>

#include <iterator>

#include <weir/cli/actors.hpp>
#include <weir/cli/backup.hpp>
#include <weir/cli/completion.hpp>
#include <weir/cli/demo.hpp>
#include <weir/cli/flows.hpp>
#include <weir/cli/log.hpp>
#include <weir/cli/serve.hpp>
#include <weir/cli/token.hpp>
#include <weir/cli/top.hpp>
#include <weir/cli/version.hpp>
#include <weir/cli/workflows.hpp>

namespace weir::cli {
namespace {

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
  141  whoever read standard output has left: nothing is told then

`weir <subcommand> --help` tells more; docs/cli.md has all of it.)";

template <class Options>
void add_page(CLI::App* to, Options& options) {
  to->add_option("--namespace", options.space, "Of this namespace only")->type_name("NAMESPACE");
  to->add_option("--limit", options.limit, "How many at most")
      ->check(CLI::Range(1, 1'000))
      ->type_name("N")
      ->capture_default_str();
  to->add_option("--after", options.after, "Those after this one: what `more` says")
      ->type_name("ID");
}

}  // namespace

Grammar::Grammar() : app_(description, "weir") {
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
  add_flows();
  add_workflows();
  add_executions();
  add_actors();
  add_log();
  add_top();
  add_savepoints();
  add_copies();
  add_completion();
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
  serve->add_option("--audit", options->audit_file, "Note there who changed what, a line each")
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
  demo->add_option("--port", options->port,
                   "Where its console and its API are; 8080, or any if that is taken, without it")
      ->type_name("PORT");
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

void Grammar::add_flows() {
  auto options = std::make_shared<FlowOptions>();
  CLI::App* flows = add(app_, "flows", "What flows where: tables, the views that read them, rates",
                        options, &show_flows);
  flows->add_option("--interval", options->interval_seconds, "Time of which rates are; 0 for none")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  add_server(flows, options->server);
}

void Grammar::add_workflows() {
  auto options = std::make_shared<WorkflowOptions>();
  CLI::App* workflows = add(app_, "workflows", "Workflows, or one with its executions and edges",
                            options, &show_workflows);
  workflows->add_option("id", options->id, "One of them; all without it")->type_name("ID");
  add_page(workflows, *options);
  add_server(workflows, options->server);
}

void Grammar::add_executions() {
  auto options = std::make_shared<ExecutionOptions>();
  CLI::App* executions =
      add(app_, "executions", "Executions, or one with its attempts", options, &show_executions);
  executions->add_option("id", options->id, "One of them; all without it")->type_name("ID");
  executions->add_option("--state", options->state, "In this state only")->type_name("STATE");
  executions->add_option("--lane", options->lane, "Of this lane only")->type_name("LANE");
  executions->add_option("--workflow", options->workflow, "Of this workflow only")->type_name("ID");
  add_page(executions, *options);
  add_server(executions, options->server);
}

void Grammar::add_top() {
  auto options = std::make_shared<TopOptions>();
  CLI::App* top = add(app_, "top", "A live view: throughput, lag, actors, views, executions",
                      options, &show_top);
  top->add_option("--interval", options->interval_seconds, "Until it is drawn again")
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  choose(top->add_option("--sort", options->order, "What decides about the order of actors")
             ->type_name("BY")
             ->capture_default_str(),
         {std::begin(actor_orders), std::end(actor_orders)});
  add_server(top, options->server);
}

void Grammar::add_completion() {
  auto options = std::make_shared<CompletionOptions>();
  CLI::App* completion = add(app_, "completion", "Print what makes a shell complete words of weir",
                             options, &print_completion);
  choose(
      completion->add_option("shell", options->shell, "Which one")->type_name("SHELL")->required(),
      {"bash", "zsh"});
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

}  // namespace weir::cli
