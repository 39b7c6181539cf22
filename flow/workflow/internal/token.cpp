#include <weir/flow/workflow/internal/token.hpp>

#include <openssl/rand.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/signature.hpp>
#include <weir/runtime/check.hpp>

namespace weir::flow::workflow::internal {
namespace {

std::string token_of(const SigningKey& key, const ExecutionId& execution,
                     std::string_view waitpoint) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string message = "weir.waitpoint/" + to_string(execution) + "/";
  message.append(waitpoint);
  std::string token = key.id + ":";
  for (const char signed_byte : sign(key.secret, message)) {
    const auto byte = static_cast<unsigned char>(signed_byte);
    token.push_back(digits[byte >> 4U]);
    token.push_back(digits[byte & 15U]);
  }
  return token;
}

}  // namespace

std::string make_token(const Keyring& keyring, const ExecutionId& execution,
                       std::string_view waitpoint) {
  return token_of(keyring.keys.back(), execution, waitpoint);
}

Result<> verify_token(const Keyring& keyring, const ExecutionId& execution,
                      std::string_view waitpoint, std::string_view token) {
  const std::string_view id = token.substr(0, token.find(':'));
  for (const SigningKey& key : keyring.keys) {
    if (key.id != id) continue;
    if (are_same(token_of(key, execution, waitpoint), token)) return {};
  }
  return Error(Errc::invalid_token,
               "for waitpoint '" + std::string(waitpoint) + "' of " + to_string(execution));
}

std::string make_secret() {
  std::string secret(32, '\0');
  const int made =
      RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), static_cast<int>(secret.size()));
  check(made == 1, "the system has random bytes");
  return secret;
}

}  // namespace weir::flow::workflow::internal
