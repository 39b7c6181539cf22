#include <weir/server/internal/access.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include <weir/runtime/check.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {
namespace {

constexpr std::size_t hash_bytes = 32;

Problem unauthorized(std::string code, std::string detail) {
  return {.status = 401, .code = std::move(code), .detail = std::move(detail)};
}

bool is_same(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

/// Whether all of a text are digits of an address or port.
bool is_made_of(std::string_view text, std::string_view characters) noexcept {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// Who is on this machine may do everything. A page from elsewhere would be let in by the browser
/// of who works here, through a name that was made to point here, or by sending what needs no
/// answer: a browser then says where the page is from.
Outcome<Caller> identify_by_place(const Request& request) {
  if (!is_loopback_host(request.header("host"))) {
    return Problem{.status = 421,
                   .code = "wrong_host",
                   .detail = "without tokens the host is localhost or an address of this machine"};
  }
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && !is_loopback_origin(origin)) {
    return Problem{.status = 403,
                   .code = "wrong_origin",
                   .detail = "without tokens a page is served by this machine"};
  }
  return Caller{.roles = Roles::all()};
}

/// Pages cannot set headers of a WebSocket, but they can offer protocols: `weir.v1,
/// bearer.<token>`. Nothing if there is no such offer, or more than one.
std::string_view token_of_websocket(const Request& request) noexcept {
  constexpr std::string_view prefix = "bearer.";
  if (!names_token(request.header("upgrade"), "websocket") ||
      request.count("sec-websocket-protocol") != 1)
    return {};
  std::string_view offers = request.header("sec-websocket-protocol");
  const std::size_t begin = offers.find(prefix);
  if (begin == std::string_view::npos || offers.find(prefix, begin + 1) != std::string_view::npos)
    return {};
  offers.remove_prefix(begin + prefix.size());
  return offers.substr(0, offers.find_first_of(", \t"));
}

}  // namespace

bool Caller::sees(std::string_view relation) const noexcept {
  if (namespaces.empty()) return true;
  return std::ranges::any_of(namespaces, [&](const std::string& space) {
    return relation.size() > space.size() && relation.starts_with(space) &&
           relation[space.size()] == '.';
  });
}

std::string hash_secret(std::string_view salt, std::string_view secret) {
  std::string input(salt);
  input += secret;
  std::string hash(hash_bytes, '\0');
  unsigned size = 0;
  const int done =
      EVP_Digest(input.data(), input.size(), reinterpret_cast<unsigned char*>(hash.data()), &size,
                 EVP_sha256(), nullptr);
  check(done == 1 && size == hash_bytes, "SHA-256 is there");
  return hash;
}

Result<Access> Access::make(const std::vector<Token>& tokens) {
  Access access;
  for (const Token& token : tokens) {
    const auto salt = decode_hex(token.salt);
    const auto hash = decode_hex(token.hash);
    if (token.name.empty() || token.roles.is_empty() || !salt || salt->size() < 16 || !hash ||
        hash->size() != hash_bytes) {
      return Error(Errc::invalid_argument,
                   "the token '" + token.name + "' has no role, or its salt or hash is malformed");
    }
    Entry entry{{token.name, token.roles, token.namespaces}, *salt, *hash};
    if (!access.by_name_.emplace(token.name, std::move(entry)).second)
      return Error(Errc::invalid_argument, "there are two tokens '" + token.name + "'");
  }
  return access;
}

Outcome<Caller> Access::identify(const Request& request) const {
  if (!has_tokens()) return identify_by_place(request);
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = request.header("authorization");
  if (request.count("authorization") == 0) {
    if (const auto token = token_of_websocket(request); !token.empty()) return check_token(token);
  }
  if (given.empty() || request.count("authorization") > 1)
    return unauthorized("no_token", "send one header `Authorization: Bearer <token>`");
  const bool is_bearer =
      given.size() > scheme.size() &&
      std::equal(scheme.begin(), scheme.end(), given.begin(), [](char expected, char character) {
        return expected == (character >= 'A' && character <= 'Z' ? character + 32 : character);
      });
  if (!is_bearer) return unauthorized("no_token", "the scheme of authorization is Bearer");
  return check_token(given.substr(scheme.size()));
}

/// A name that is not there takes as long as a secret that is wrong.
Outcome<Caller> Access::check_token(std::string_view bearer) const {
  const std::size_t point = bearer.find('.');
  const auto found = by_name_.find(bearer.substr(0, std::min(point, bearer.size())));
  const Entry& entry = found == by_name_.end() ? by_name_.begin()->second : found->second;
  const std::string_view secret =
      point == std::string_view::npos ? std::string_view() : bearer.substr(point + 1);
  const bool is_right = is_same(hash_secret(entry.salt, secret), entry.hash);
  if (!is_right || found == by_name_.end())
    return unauthorized("wrong_token", "the token is not known here");
  return entry.caller;
}

bool is_loopback_origin(std::string_view origin) noexcept {
  const std::size_t begin = origin.find("://");
  return begin != std::string_view::npos && is_loopback_host(origin.substr(begin + 3));
}

bool is_loopback_host(std::string_view host) noexcept {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view rest = host.substr(end + 1);
    return host.substr(0, end + 1) == "[::1]" &&
           (rest.empty() || (rest.starts_with(':') && is_made_of(rest.substr(1), "0123456789")));
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos && !is_made_of(host.substr(colon + 1), "0123456789"))
    return false;
  const std::string_view name = host.substr(0, colon);
  return name == "localhost" || (name.starts_with("127.") && is_made_of(name, "0123456789."));
}

}  // namespace weir::server::internal
