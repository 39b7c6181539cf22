#include <weir/telemetry/otel/internal/pem.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weir::telemetry::otel {
namespace {

bool is_pem(const std::string& text) noexcept {
  return text.find("-----BEGIN ") != std::string::npos;
}

}  // namespace

std::string read_pem(const std::string& path) {
  if (path.empty()) return {};
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  if (is_pem(text.str())) return text.str();
  throw std::invalid_argument("telemetry: certificate is '" + path +
                              "'; expected a PEM file that can be read");
}

void check_pem_files(const ExportOptions& options) {
  for (const std::string* path :
       {&options.certificate, &options.client_certificate, &options.client_key}) {
    static_cast<void>(read_pem(*path));
  }
  if (options.client_certificate.empty() == options.client_key.empty()) return;
  throw std::invalid_argument(
      "telemetry: client_certificate and client_key belong together; there is only one of them");
}

}  // namespace weir::telemetry::otel
