#include <weir/tests/server/support/tls_client.hpp>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace weir::server::test {
namespace {

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using File = std::unique_ptr<std::FILE, Freeing<&std::fclose>>;
using Key = std::unique_ptr<EVP_PKEY, Freeing<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freeing<&X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freeing<&SSL_CTX_free>>;
using Bio = std::unique_ptr<BIO, Freeing<&BIO_free_all>>;

}  // namespace

void write_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  const Key pair(EVP_EC_gen("P-256"));
  const Certificate made(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 86'400);
  X509_set_pubkey(made.get(), pair.get());
  X509_NAME* name = X509_get_subject_name(made.get());
  const auto* host = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  EXPECT_GT(X509_sign(made.get(), pair.get(), EVP_sha256()), 0);
  const File to_certificate(std::fopen(certificate.c_str(), "w"));
  EXPECT_EQ(PEM_write_X509(to_certificate.get(), made.get()), 1);
  const File to_key(std::fopen(key.c_str(), "w"));
  EXPECT_EQ(PEM_write_PrivateKey(to_key.get(), pair.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
}

std::string exchange_over_tls(std::uint16_t port, const std::filesystem::path& certificate,
                              std::string_view request, int version_max) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  EXPECT_EQ(SSL_CTX_load_verify_locations(context.get(), certificate.c_str(), nullptr), 1);
  if (version_max != 0) {
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_max_proto_version(context.get(), version_max);
  }
  const Bio stream(BIO_new_ssl_connect(context.get()));
  BIO_set_conn_hostname(stream.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  if (BIO_do_handshake(stream.get()) != 1) return "";
  BIO_write(stream.get(), request.data(), static_cast<int>(request.size()));
  std::string answer;
  std::array<char, 4096> bytes;
  for (int count = 0; (count = BIO_read(stream.get(), bytes.data(), bytes.size())) > 0;)
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  return answer;
}

}  // namespace weir::server::test
