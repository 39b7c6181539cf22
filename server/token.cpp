#include <weir/server/token.hpp>

#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include <weir/runtime/check.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/internal/access.hpp>
#include <weir/server/internal/base64.hpp>
#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/json_writer.hpp>

namespace weir::server {
namespace {

using internal::JsonReader;
using internal::Outcome;
using internal::Problem;

constexpr std::array roles_in_order = {Role::read, Role::write, Role::operate};

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  const int done =
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count));
  check(done == 1, "the system has random bytes");
  return bytes;
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_';
  });
}

Outcome<Roles> read_roles(const JsonReader& list) {
  Roles roles;
  auto items = list.items();
  if (!items) return std::move(items).error();
  for (const JsonReader& item : *items) {
    auto name = item.text();
    if (!name) return std::move(name).error();
    const auto found =
        std::ranges::find_if(roles_in_order, [&](Role role) { return *name == to_string(role); });
    if (found == roles_in_order.end()) return item.refuse("invalid_value", "no role is called so");
    roles.add(*found);
  }
  return roles;
}

Outcome<std::vector<std::string>> read_texts(const JsonReader& list) {
  std::vector<std::string> texts;
  auto items = list.items();
  if (!items) return std::move(items).error();
  for (const JsonReader& item : *items) {
    auto text = item.text();
    if (!text) return std::move(text).error();
    texts.emplace_back(*text);
  }
  return texts;
}

Outcome<Token> read_token(const JsonReader& entry) {
  Token token;
  if (auto problem = entry.allow_only({"name", "roles", "namespaces", "salt", "hash"}))
    return *std::move(problem);
  for (const auto& [name, member] :
       {std::pair("name", &Token::name), std::pair("salt", &Token::salt),
        std::pair("hash", &Token::hash)}) {
    auto field = entry.required(name);
    if (!field) return std::move(field).error();
    auto text = field->text();
    if (!text) return std::move(text).error();
    token.*member = *text;
  }
  auto roles_field = entry.required("roles");
  if (!roles_field) return std::move(roles_field).error();
  auto roles = read_roles(*roles_field);
  if (!roles) return std::move(roles).error();
  token.roles = *roles;
  if (const auto spaces = entry.optional("namespaces")) {
    auto texts = read_texts(*spaces);
    if (!texts) return std::move(texts).error();
    token.namespaces = *std::move(texts);
  }
  return token;
}

Outcome<std::vector<Token>> read_tokens(std::string_view text) {
  auto document = internal::JsonDocument::parse(text, 8);
  if (!document) return std::move(document).error();
  const JsonReader root = document->root();
  if (auto problem = root.allow_only({"tokens"})) return *std::move(problem);
  auto list = root.required("tokens");
  if (!list) return std::move(list).error();
  auto items = list->items();
  if (!items) return std::move(items).error();
  std::vector<Token> tokens;
  for (const JsonReader& item : *items) {
    auto token = read_token(item);
    if (!token) return std::move(token).error();
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

}  // namespace

const char* to_string(Role role) noexcept {
  switch (role) {
    case Role::read: return "read";
    case Role::write: return "write";
    case Role::operate: return "operate";
  }
  return "none";
}

Result<NewToken> make_token(std::string name, Roles roles, std::vector<std::string> namespaces) {
  if (!is_name(name)) {
    return Error(Errc::invalid_argument,
                 "the name of a token is made of up to 64 letters, digits, '-' and '_'");
  }
  if (roles.is_empty())
    return Error(Errc::invalid_argument, "the token '" + name + "' has no role");
  const std::string salt = random_bytes(16);
  const std::string secret = internal::encode_base64(random_bytes(32), internal::Base64::url);
  NewToken made;
  made.bearer = name + "." + secret;
  made.token = {.name = std::move(name),
                .roles = roles,
                .namespaces = std::move(namespaces),
                .salt = internal::encode_hex(salt),
                .hash = internal::encode_hex(internal::hash_secret(salt, secret))};
  return made;
}

Result<std::vector<Token>> parse_tokens(std::string_view json) {
  auto tokens = read_tokens(json);
  if (tokens) return *std::move(tokens);
  const Problem& problem = tokens.error();
  std::string place;
  if (problem.pointer) place = *problem.pointer + ": ";
  if (problem.offset) place = "byte " + std::to_string(*problem.offset) + ": ";
  return Error(Errc::invalid_argument, "tokens: " + place + problem.detail);
}

std::string print_tokens(const std::vector<Token>& tokens) {
  std::string text;
  internal::JsonWriter json(&text);
  json.begin_object().key("tokens").begin_array();
  for (const Token& token : tokens) {
    json.begin_object().key("name").text(token.name).key("roles").begin_array();
    for (const Role role : roles_in_order)
      if (token.roles.contains(role)) json.text(to_string(role));
    json.end_array().key("namespaces").begin_array();
    for (const std::string& space : token.namespaces) json.text(space);
    json.end_array().key("salt").text(token.salt).key("hash").text(token.hash).end_object();
  }
  json.end_array().end_object();
  text += '\n';
  return text;
}

}  // namespace weir::server
