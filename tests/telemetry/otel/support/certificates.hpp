#pragma once

#include <string>

namespace weir::telemetry::otel {

/// A certificate for 127.0.0.1 that is signed by itself, and its key, as texts and as PEM files,
/// which are removed in the end.
class Certificate {
 public:
  explicit Certificate(const std::string& name);
  ~Certificate();
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  const std::string& text() const noexcept { return text_; }
  const std::string& key_text() const noexcept { return key_text_; }
  const std::string& file() const noexcept { return file_; }
  const std::string& key_file() const noexcept { return key_file_; }

 private:
  std::string text_;
  std::string key_text_;
  std::string file_;
  std::string key_file_;
};

}  // namespace weir::telemetry::otel
