#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/server/internal/route.hpp>

namespace weir::server::internal {

/// Finds the route of a request.
class Router {
 public:
  explicit Router(std::vector<Route> routes);

  struct Match {
    /// Null if there is nothing at this path for this method.
    const Route* route = nullptr;
    /// The methods that there are; empty if the path is not known.
    std::string allow = {};
  };

  /// `HEAD` is `GET`.
  Match find(std::string_view method, const Target& target) const;
  const std::vector<Route>& routes() const noexcept { return routes_; }

 private:
  /// Routes that could have a path: as long, and about the same.
  using Key = std::pair<std::size_t, std::string_view>;
  static Key key_of(const std::vector<std::string_view>& segments) noexcept;

  std::vector<Route> routes_;
  std::map<Key, std::vector<std::size_t>> by_key_;  // in their order
};

/// Of a path that begins with `/`.
std::vector<std::string_view> split_path(std::string_view path);
/// Whether a segment of a pattern stands for any: `{table}`.
bool is_parameter(std::string_view segment) noexcept;

/// The description of an API, of OpenAPI 3.1.
std::string print_openapi(const std::vector<Route>& routes);

/// What to answer to a request, whoever sent it. Never throws but for memory.
class Dispatch {
 public:
  Dispatch(GatewayCore* core, const Request* request, CancellationToken drain) noexcept
      : call_{.core = core, .request = request, .drain = std::move(drain)} {}

  /// Everything that can be said without asking anybody: which route it is, whether the caller may,
  /// whether the request has the right form. An answer means that it is over. The body need not be
  /// there yet: what is said without it is said with it.
  std::optional<Response> prepare();
  /// If `prepare` gave none.
  Task<Response> run() { return call_.route->handle(&call_); }

  /// Null if there is none for this request.
  const Route* route() const noexcept { return call_.route; }
  const Caller& caller() const noexcept { return call_.caller; }

 private:
  std::optional<Response> find_route();
  std::optional<Response> check_caller();
  std::optional<Response> check_form() const;

  Call call_;
};

}  // namespace weir::server::internal
