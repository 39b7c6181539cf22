#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/fwd.hpp>
#include <weir/server/internal/problem.hpp>

namespace weir::server::internal {

/// A value of a JSON document that knows its place in it, so that what is wrong with it can be
/// told. The document outlives it.
class JsonReader {
 public:
  /// Null, a boolean, a number, or a text; `std::monostate` also for arrays and objects.
  using Scalar =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view>;

  JsonReader(const boost::json::value* value, std::string pointer)
      : value_(value), pointer_(std::move(pointer)) {}

  bool is_null() const noexcept;
  /// A number is unsigned only if it is too large to be signed.
  Scalar scalar() const noexcept;
  /// `an object`, as in an error message.
  std::string_view kind() const noexcept;
  /// RFC 6901: `/operations/0/row`.
  const std::string& pointer() const noexcept { return pointer_; }

  Outcome<std::string_view> text() const;
  Outcome<std::vector<JsonReader>> items() const;
  /// Of an object, in their order.
  Outcome<std::vector<std::pair<std::string_view, JsonReader>>> members() const;
  Outcome<JsonReader> required(std::string_view name) const;
  /// Nothing if it is not there, or not in an object.
  std::optional<JsonReader> optional(std::string_view name) const;

  /// A problem if it is no object, or has another field than these, which is named.
  std::optional<Problem> allow_only(std::initializer_list<std::string_view> names) const;
  /// Why this value is not taken.
  Problem refuse(std::string code, std::string detail) const;
  /// The same about a field that it has, or should have.
  Problem refuse_field(std::string_view name, std::string code, std::string detail) const;

 private:
  JsonReader child(std::string_view name, const boost::json::value& value) const;

  const boost::json::value* value_;
  std::string pointer_;
};

/// Text as JSON: strictly RFC 8259, UTF-8, and no deeper than allowed.
class JsonDocument {
 public:
  /// A problem with the offset of the first byte that does not belong there.
  static Outcome<JsonDocument> parse(std::string_view text, std::size_t depth_max);

  JsonReader root() const { return {root_.get(), ""}; }

 private:
  explicit JsonDocument(std::shared_ptr<const boost::json::value> root) noexcept
      : root_(std::move(root)) {}

  std::shared_ptr<const boost::json::value> root_;
};

}  // namespace weir::server::internal
