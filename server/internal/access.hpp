#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/server/internal/message.hpp>
#include <weir/server/token.hpp>

namespace weir::server::internal {

/// Who calls, and what is theirs to see.
struct Caller {
  std::string name = {};
  Roles roles = {};
  std::vector<std::string> namespaces = {};  // empty: all

  bool sees_everything() const noexcept { return namespaces.empty(); }
  /// Whether a table or view is in one of its namespaces.
  bool sees(std::string_view relation) const noexcept;
};

/// The tokens of a gateway.
class Access {
 public:
  Access() = default;
  /// `invalid_argument` if one is malformed, or a name is there twice.
  static Result<Access> make(const std::vector<Token>& tokens);

  bool has_tokens() const noexcept { return !by_name_.empty(); }
  /// Who it is that sends this request; a problem if that is not known.
  Outcome<Caller> identify(const Request& request) const;

 private:
  struct Entry {
    Caller caller;
    std::string salt;  // bytes, as the hash is
    std::string hash;
  };

  Outcome<Caller> check_token(std::string_view bearer) const;

  std::map<std::string, Entry, std::less<>> by_name_;
};

/// What a client of a subscription speaks, if it says so in `Sec-WebSocket-Protocol`.
inline constexpr std::string_view websocket_protocol = "weir.v1";

/// Whether a `Host` names the machine itself: `localhost`, `127.0.0.1:8080`, `[::1]`.
bool is_loopback_host(std::string_view host) noexcept;
/// The same of an `Origin`: `http://localhost:8080`.
bool is_loopback_origin(std::string_view origin) noexcept;

/// Of SHA-256.
std::string hash_secret(std::string_view salt, std::string_view secret);

}  // namespace weir::server::internal
