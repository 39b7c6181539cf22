#include <weir/flow/workflow/signature.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <weir/runtime/check.hpp>

namespace weir::flow::workflow {

std::string sign(std::string_view secret, std::string_view message) {
  std::string signature(32, '\0');
  unsigned int size = 0;
  const auto* made = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          reinterpret_cast<unsigned char*>(signature.data()), &size);
  check(made != nullptr && size == signature.size(), "HMAC-SHA256 gives 32 bytes");
  return signature;
}

bool are_same(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace weir::flow::workflow
