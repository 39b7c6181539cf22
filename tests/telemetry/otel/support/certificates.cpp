#include <weir/tests/telemetry/otel/support/certificates.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace weir::telemetry::otel {
namespace {

template <auto function>
struct Calling {
  template <class T>
  void operator()(T* pointer) const noexcept {
    function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Calling<&EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Calling<&X509_free>>;
using Bio = std::unique_ptr<BIO, Calling<&BIO_free_all>>;

void require(bool is_done) {
  if (!is_done) throw std::runtime_error("OpenSSL made no certificate");
}

void extend(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509Pointer self_signed(EVP_PKEY* key, const std::string& name) {
  constexpr long a_day = 86'400;
  X509Pointer made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -a_day);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), a_day);
  X509_set_pubkey(made.get(), key);
  X509_NAME* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), subject);
  extend(made.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(made.get(), NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  require(X509_sign(made.get(), key, EVP_sha256()) != 0);
  return made;
}

template <class Write>
std::string pem_of(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  require(write(bio.get()) == 1);
  char* begin = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &begin);
  return {begin, static_cast<std::size_t>(size)};
}

std::string written(const std::string& name, const std::string& text) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/weir_" + name + "_" +
                     std::to_string(::getpid()) + ".pem";
  std::ofstream(path) << text;
  return path;
}

}  // namespace

Certificate::Certificate(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  require(key != nullptr);
  const X509Pointer made = self_signed(key.get(), name);
  text_ = pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, made.get()); });
  key_text_ = pem_of([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  file_ = written(name, text_);
  key_file_ = written(name + "_key", key_text_);
}

Certificate::~Certificate() {
  std::remove(file_.c_str());
  std::remove(key_file_.c_str());
}

}  // namespace weir::telemetry::otel
