#include <weir/server/internal/router.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <weir/runtime/check.hpp>
#include <weir/server/internal/gateway_core.hpp>

namespace weir::server::internal {
namespace {

bool matches(const std::vector<std::string_view>& pattern,
             const std::vector<std::string_view>& segments) noexcept {
  return std::ranges::equal(pattern, segments,
                            [](std::string_view expected, std::string_view given) {
                              return is_parameter(expected) ? !given.empty() : expected == given;
                            });
}

/// `application/json; charset=utf-8`
bool is_json(std::string_view type) noexcept {
  std::string_view name = type.substr(0, type.find(';'));
  while (name.ends_with(' ')) name.remove_suffix(1);
  return std::ranges::equal(name, json_type, [](char given, char expected) {
    return expected == (given >= 'A' && given <= 'Z' ? given + 32 : given);
  });
}

}  // namespace

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t slash = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, slash));
    path.remove_prefix(slash);
  }
  return segments;
}

bool is_parameter(std::string_view segment) noexcept { return segment.starts_with('{'); }

/// `/api/v1/views/...`: the third one tells, and is no parameter.
Router::Key Router::key_of(const std::vector<std::string_view>& segments) noexcept {
  return {segments.size(), segments.size() < 3 ? std::string_view() : segments[2]};
}

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    Route& route = routes_[index];
    route.segments = split_path(route.path);
    const Key key = key_of(route.segments);
    check(!is_parameter(key.second), "the third segment of a path is a word");
    by_key_[key].push_back(index);
  }
}

Router::Match Router::find(std::string_view method, const Target& target) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Match match;
  const auto found = by_key_.find(key_of(target.segments));
  if (found == by_key_.end()) return match;
  for (const std::size_t index : found->second) {
    const Route& route = routes_[index];
    if (!matches(route.segments, target.segments)) continue;
    if (route.method == wanted) {
      match.route = &route;
      return match;
    }
    match.allow += match.allow.empty() ? "" : ", ";
    match.allow += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (!match.allow.empty()) match.allow += ", OPTIONS";
  return match;
}

std::string_view Call::encoded(std::string_view name) const {
  for (std::size_t index = 0; index < route->segments.size(); ++index) {
    const std::string_view segment = route->segments[index];
    if (is_parameter(segment) && segment.substr(1, segment.size() - 2) == name)
      return target.segments[index];
  }
  return {};
}

std::string Call::parameter(std::string_view name) const {
  return decode_percent(encoded(name)).value_or("");
}

const std::string* Call::query(std::string_view name) const {
  const auto found =
      std::ranges::find(target.query, name, &std::pair<std::string, std::string>::first);
  return found == target.query.end() ? nullptr : &found->second;
}

Outcome<std::uint64_t> Call::number(std::string_view name, std::uint64_t otherwise,
                                    std::uint64_t most) const {
  const std::string* text = query(name);
  if (!text) return otherwise;
  std::uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number > most) {
    return Problem{.status = 400,
                   .code = "invalid_parameter",
                   .detail = "'" + std::string(name) + "' is a number from 0 to " +
                             std::to_string(most) + ", not '" + *text + "'"};
  }
  return number;
}

std::optional<Response> Dispatch::prepare() {
  if (auto response = find_route()) return response;
  if (auto response = check_caller()) return response;
  return check_form();
}

std::optional<Response> Dispatch::find_route() {
  const Request& request = *call_.request;
  if (request.count("host") != 1 && !request.is_http_1_0)
    return Problem{.status = 400, .code = "no_host", .detail = "one header Host is needed"};
  if (request.method() == "OPTIONS" && request.target() == "*") {
    Response response;
    response.status = 204;
    return response;
  }
  auto target = parse_target(request.target());
  if (!target) return std::move(target).error();
  call_.target = *std::move(target);
  Router::Match match = call_.core->router.find(request.method(), call_.target);
  call_.route = match.route;
  if (match.route) return std::nullopt;
  if (match.allow.empty())
    return Problem{.status = 404, .code = "unknown_path", .detail = "there is nothing here"};
  Response response;
  response.status = 204;
  if (request.method() != "OPTIONS") {
    response = Problem{
        .status = 405, .code = "wrong_method", .detail = "this path has only " + match.allow};
  }
  response.headers.emplace_back("Allow", std::move(match.allow));
  return response;
}

std::optional<Response> Dispatch::check_caller() {
  const Route& route = *call_.route;
  if (!route.role) return std::nullopt;
  auto caller = call_.core->access.identify(*call_.request);
  if (!caller) {
    Response response = std::move(caller).error();
    if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  call_.caller = *std::move(caller);
  if (!call_.caller.roles.contains(*route.role)) {
    return Problem{.status = 403,
                   .code = "wrong_role",
                   .detail = std::string("this needs the role ") + to_string(*route.role)};
  }
  if (route.is_global && !call_.caller.sees_everything()) {
    return Problem{.status = 403,
                   .code = "wrong_namespace",
                   .detail = "this is not for tokens of some namespaces only"};
  }
  return std::nullopt;
}

std::optional<Response> Dispatch::check_form() const {
  const Route& route = *call_.route;
  for (const std::string_view segment : call_.target.segments) {
    if (!is_encoded_utf8(segment)) {
      return Problem{.status = 400,
                     .code = "malformed_target",
                     .detail = "a part of the path is not UTF-8, or a % in it is wrong"};
    }
  }
  for (const auto& [name, value] : call_.target.query) {
    if (std::ranges::find(route.query, name, &Parameter::name) == route.query.end()) {
      return Problem{.status = 400,
                     .code = "unknown_parameter",
                     .detail = "there is no query parameter '" + name + "' here"};
    }
  }
  if (route.request.empty()) {
    if (!call_.request->has_body) return std::nullopt;
    return Problem{.status = 400, .code = "unexpected_body", .detail = "this takes no body"};
  }
  if (is_json(call_.request->header("content-type"))) return std::nullopt;
  return Problem{.status = 415,
                 .code = "not_json",
                 .detail = "the body is JSON: Content-Type: application/json"};
}

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (const auto& group : {relation_routes(), view_routes(), subscribe_routes(), write_routes(),
                            log_routes(), system_routes(), overview_routes(), execution_routes(),
                            execution_control_routes(), workflow_routes(), graph_routes(),
                            claim_routes(), lane_routes(), notice_routes(), console_routes()})
    routes.insert(routes.end(), group.begin(), group.end());
  return routes;
}

}  // namespace weir::server::internal
