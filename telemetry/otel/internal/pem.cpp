#include <weir/telemetry/otel/internal/pem.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weir::telemetry::otel {
namespace {

constexpr const char* pem_form = "a PEM file that can be read";

struct Option {
  std::string name;
  std::string path;
};

[[noreturn]] void refuse(const Option& option, const std::string& accepted) {
  throw std::invalid_argument(option.name + " is '" + option.path + "'; expected " + accepted);
}

bool is_pem(const std::string& text) noexcept {
  return text.find("-----BEGIN ") != std::string::npos;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void check(const Option& option) {
  if (!option.path.empty() && !is_pem(text_of(option.path))) refuse(option, pem_form);
}

}  // namespace

std::string read_pem(const std::string& path) {
  if (path.empty()) return {};
  std::string text = text_of(path);
  if (is_pem(text)) return text;
  throw std::invalid_argument("telemetry: '" + path + "' is not " + pem_form);
}

void check_pem_files(const std::string& signal, const ExportOptions& options) {
  const Option certificate{signal + ".client_certificate", options.client_certificate};
  const Option key{signal + ".client_key", options.client_key};
  check({signal + ".certificate", options.certificate});
  check(certificate);
  check(key);
  if (certificate.path.empty() == key.path.empty()) return;
  const Option& given = key.path.empty() ? certificate : key;
  const Option& missing = key.path.empty() ? key : certificate;
  refuse(given, std::string(pem_form) + ", and " + missing.name + " beside it");
}

}  // namespace weir::telemetry::otel
