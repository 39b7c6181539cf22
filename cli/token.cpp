#include <weir/cli/token.hpp>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/files.hpp>
#include <weir/cli/json.hpp>
#include <weir/runtime/error.hpp>
#include <weir/server/token.hpp>

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

server::Roles roles_of(const TokenOptions& options) {
  server::Roles roles;
  for (const server::Role role : {server::Role::read, server::Role::write, server::Role::operate})
    if (std::ranges::count(options.roles, to_string(role)) > 0) roles.add(role);
  return roles;
}

Error cannot_write(const fs::path& file) {
  return {Errc::failed, file.string() + " cannot be written: look at --file"};
}

/// The file with it, beside what is there. It takes its place when the secret was shown; a server
/// never reads half of it.
Result<fs::path> write_aside(const server::Token& token, const fs::path& file) {
  std::error_code failed;
  std::vector<server::Token> tokens;
  if (fs::exists(file, failed)) {
    const auto content = read_file(file);
    if (!content) return content.error();
    auto parsed = server::parse_tokens(*content);
    if (!parsed) return Error(Errc::failed, file.string() + ": " + parsed.error().detail());
    tokens = *std::move(parsed);
  }
  if (std::ranges::count(tokens, token.name, &server::Token::name) > 0) {
    return Error(Errc::failed, file.string() + " has a token '" + token.name +
                                   "' already: take another name, or remove that line");
  }
  tokens.push_back(token);
  fs::path aside = file;
  aside += ".new";
  std::ofstream stream(aside, std::ios::trunc);
  fs::permissions(aside, fs::perms::owner_read | fs::perms::owner_write, failed);
  stream << server::print_tokens(tokens);
  stream.close();
  if (!stream) return cannot_write(file);
  return aside;
}

/// The secret is nowhere else: a token that was shown to nobody is not added.
Result<> add_if_shown(const fs::path& aside, const fs::path& file, Output& output) {
  std::error_code failed;
  if (auto shown = output.flush(); !shown) {
    fs::remove(aside, failed);
    return shown;
  }
  fs::rename(aside, file, failed);
  return failed ? Result<>(cannot_write(file)) : Result<>();
}

void tell_token(const server::NewToken& made, bool is_added, Output& output) {
  const boost::json::value file = boost::json::parse(server::print_tokens({made.token}));
  const boost::json::value& entry = items(file, "tokens").at(0);
  if (output.is_json()) {
    output.line(
        boost::json::serialize(boost::json::value{{"bearer", made.bearer}, {"token", entry}}));
    return;
  }
  output.line(made.bearer);
  output.line(
      "Shown once: whoever has it sends `Authorization: Bearer` with it, or sets WEIR_TOKEN.");
  if (is_added) return;
  output.line("For the list `tokens` of the file that `weir serve --tokens` reads:");
  output.line(boost::json::serialize(entry));
}

}  // namespace

Result<> make_token(const TokenOptions& options, Output& output) {
  const auto made = server::make_token(options.name, roles_of(options), options.namespaces);
  if (!made) return Error(Errc::usage, made.error().detail());
  if (options.file.empty()) {
    tell_token(*made, false, output);
    return {};
  }
  const auto aside = write_aside(made->token, options.file);
  if (!aside) return aside.error();
  tell_token(*made, true, output);
  if (auto added = add_if_shown(*aside, options.file, output); !added) return added;
  if (!output.is_json())
    output.line("Added to " + options.file.string() + "; a server reads it when it starts.");
  return {};
}

}  // namespace weir::cli
