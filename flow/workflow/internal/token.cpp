#include <weir/flow/workflow/internal/token.hpp>

#include <array>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/check.hpp>

namespace weir::flow::workflow::internal {
namespace {

using Digest = std::array<unsigned char, 32>;

Digest sign(const SigningKey& key, const ExecutionId& execution, std::string_view waitpoint) {
  std::string message = "weir.waitpoint/" + to_string(execution) + "/";
  message.append(waitpoint);
  Digest digest{};
  unsigned int size = digest.size();
  const auto* made = HMAC(EVP_sha256(), key.secret.data(), static_cast<int>(key.secret.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          digest.data(), &size);
  check(made != nullptr && size == digest.size(), "HMAC-SHA256 gives 32 bytes");
  return digest;
}

std::string to_token(const SigningKey& key, const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string token = key.id + ":";
  for (const unsigned char byte : digest) {
    token.push_back(digits[byte >> 4U]);
    token.push_back(digits[byte & 15U]);
  }
  return token;
}

/// Takes as long wherever the first difference is.
bool are_equal(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace

std::string make_token(const Keyring& keyring, const ExecutionId& execution,
                       std::string_view waitpoint) {
  const SigningKey& newest = keyring.keys.back();
  return to_token(newest, sign(newest, execution, waitpoint));
}

Result<> verify_token(const Keyring& keyring, const ExecutionId& execution,
                      std::string_view waitpoint, std::string_view token) {
  const std::string_view id = token.substr(0, token.find(':'));
  for (const SigningKey& key : keyring.keys) {
    if (key.id != id) continue;
    if (are_equal(to_token(key, sign(key, execution, waitpoint)), token)) return {};
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
