#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>

namespace weir::server {

/// What a caller may do. None includes another: who may resume a view need not see its rows.
enum class Role : std::uint8_t {
  read = 1,     // rows, schemas, states
  write = 2,    // transactions; making executions and workflows, and working on them
  operate = 4,  // resume, skip and rebuild views; savepoints; what is done to executions and lanes
};

const char* to_string(Role role) noexcept;

/// Some roles.
class Roles {
 public:
  Roles() noexcept = default;
  Roles(std::initializer_list<Role> roles) noexcept {
    for (const Role role : roles) add(role);
  }
  static Roles all() noexcept { return {Role::read, Role::write, Role::operate}; }

  void add(Role role) noexcept { bits_ |= static_cast<std::uint8_t>(role); }
  bool contains(Role role) const noexcept { return (bits_ & static_cast<std::uint8_t>(role)) != 0; }
  bool is_empty() const noexcept { return bits_ == 0; }
  friend bool operator==(const Roles&, const Roles&) noexcept = default;

 private:
  std::uint8_t bits_ = 0;
};

/// Who may call a gateway, as it is stored: the secret itself cannot be made of it.
struct Token {
  /// Letters, digits, `-` and `_`. Shown in the audit log.
  std::string name;
  Roles roles;
  /// The tables and views that it is for: those whose names begin with one of these and a point, as
  /// `shop.orders` does with `shop`. The same of executions and workflows: those that are in one of
  /// these. Empty: all of them, and what belongs to none, such as actors.
  std::vector<std::string> namespaces;
  /// 16 bytes, and SHA-256 of them and the secret behind them; both as hexadecimal digits.
  std::string salt;
  std::string hash;
};

/// A token and, once, what its owner sends: `Authorization: Bearer <bearer>`.
struct NewToken {
  Token token;
  std::string bearer;
};

/// With a secret of 32 random bytes. `invalid_argument` if the name is not one, or there is no
/// role.
Result<NewToken> make_token(std::string name, Roles roles,
                            std::vector<std::string> namespaces = {});

/// A file of tokens, which holds no secret:
///
///     {"tokens": [{"name": "shop", "roles": ["read"], "namespaces": [], "salt": "..", "hash":
///     ".."}]}
///
/// `invalid_argument` says where it is malformed.
Result<std::vector<Token>> parse_tokens(std::string_view json);
std::string print_tokens(const std::vector<Token>& tokens);

}  // namespace weir::server
