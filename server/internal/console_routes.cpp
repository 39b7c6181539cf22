// The console: a page for browsers, with its scripts and its style. They hold no data, so everybody
// may have them; what the page then asks for needs a role.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <weir/runtime/check.hpp>
#include <weir/server/internal/console_files.hpp>
#include <weir/server/internal/gateway_core.hpp>

namespace weir::server::internal {
namespace {

/// Nothing from elsewhere, nothing inside the page that could be a script, and in no other page.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".svg", "image/svg+xml"},
  };
  for (const auto& [ending, type] : types)
    if (name.ends_with(ending)) return type;
  fail_check("a file of the console has a type that is known");
}

/// Where a file is, and what the route is called. Both live as long as the program.
struct Place {
  std::string path;
  std::string operation;
};

const std::vector<Place>& places() {
  static const std::vector<Place> all = [] {
    std::vector<Place> made;
    for (const EmbeddedFile& file : console_files()) {
      const std::string name(file.name);
      std::string operation = "get_console_" + name;
      std::ranges::replace(operation, '.', '_');
      made.push_back({name == "index.html" ? "/" : "/console/" + name, operation});
    }
    return made;
  }();
  return all;
}

const EmbeddedFile& file_of(const Route& route) {
  const auto place = std::ranges::find(places(), route.path, &Place::path);
  return console_files()[static_cast<std::size_t>(place - places().begin())];
}

/// Whether the client has it already: one of the tags of `If-None-Match`, weak or not.
bool has_tag(std::string_view header, std::string_view tag) {
  return header == "*" || header.find(tag) != std::string_view::npos;
}

Task<Response> serve_file(const Call* call) {
  const EmbeddedFile& file = file_of(*call->route);
  Response response;
  // Kept, but asked about each time: a page goes with its server.
  response.cache = "no-cache";
  response.headers.emplace_back("ETag", file.tag);
  if (has_tag(call->request->joined("if-none-match"), file.tag)) {
    response.status = 304;
    co_return response;
  }
  response.type = type_of(file.name);
  response.body.assign(file.bytes.begin(), file.bytes.end());
  response.headers.emplace_back("Content-Security-Policy", policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  co_return response;
}

}  // namespace

std::vector<Route> console_routes() {
  std::vector<Route> routes;
  for (std::size_t index = 0; index < places().size(); ++index) {
    routes.push_back({.method = "GET",
                      .path = places()[index].path,
                      .operation = places()[index].operation,
                      .summary = "A file of the console, the page for browsers.",
                      .role = std::nullopt,
                      .response_type = type_of(console_files()[index].name),
                      .handle = &serve_file});
  }
  return routes;
}

}  // namespace weir::server::internal
