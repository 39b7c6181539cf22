#pragma once

#include <string>
#include <string_view>

namespace weir::telemetry::otel {

/// A text as UTF-8: itself if it is, otherwise a copy with U+FFFD for each byte that is not.
///
/// Collectors refuse a whole batch for one byte that is not UTF-8, and names come from anywhere.
class Utf8Text {
 public:
  /// Refers to `text`, which must outlive this.
  explicit Utf8Text(std::string_view text);
  Utf8Text(const Utf8Text&) = delete;
  Utf8Text& operator=(const Utf8Text&) = delete;

  std::string_view view() const noexcept { return view_; }

 private:
  std::string repaired_;
  std::string_view view_;
};

}  // namespace weir::telemetry::otel
