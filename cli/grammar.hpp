#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <weir/cli/command_line.hpp>
#include <weir/cli/progress.hpp>
#include <weir/cli/relations.hpp>

namespace weir::cli {

using Choices = std::vector<std::string>;

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
  void add_flows();
  void add_workflows();
  void add_executions();
  void add_top();
  void add_completion();
  void add_savepoints();
  void add_progress(CLI::App* to, ShowProgress& show);
  void add_copies();

  CLI::App app_;
  Invocation invocation_;
  std::map<const CLI::Option*, Choices> choices_;
};

}  // namespace weir::cli
