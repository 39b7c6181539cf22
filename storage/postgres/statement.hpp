#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/storage/postgres/bytes.hpp>
#include <weir/storage/postgres/internal/codec.hpp>

namespace weir::storage::postgres {

/// A value for `$1`, `$2`, ... of a statement, in PostgreSQL's binary format.
///
/// | C++ | PostgreSQL |
/// |---|---|
/// | `bool` | `boolean` |
/// | integers, up to 63 bits | `int8` |
/// | `double` | `float8` |
/// | `std::string`, `std::string_view`, `const char*` | `text` |
/// | `Bytes` | `bytea` |
/// | `Timestamp` | `timestamptz` |
/// | `nullptr` | null of the type that the statement needs |
/// | `std::optional<T>` | as `T`, or null |
/// | `std::vector<T>`, `std::vector<std::optional<T>>` | an array of those |
///
/// The server converts where it would convert a column of that type; elsewhere cast: `$1::jsonb`.
class Parameter {
 public:
  Parameter(std::nullptr_t) noexcept {}
  Parameter(std::same_as<bool> auto value) : Parameter(Tag{}, value) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && (std::signed_integral<Int> || sizeof(Int) < 8))
  Parameter(Int value) : Parameter(Tag{}, static_cast<std::int64_t>(value)) {}
  Parameter(double value) : Parameter(Tag{}, value) {}
  Parameter(std::string value)
      : type_(internal::TypeOf<std::string>::single), bytes_(std::move(value)) {}
  Parameter(std::string_view value) : Parameter(std::string(value)) {}
  Parameter(const char* value) : Parameter(std::string(value)) {}
  Parameter(Bytes value) : type_(internal::TypeOf<Bytes>::single), bytes_(std::move(value.value)) {}
  Parameter(Timestamp value) : Parameter(Tag{}, value) {}

  template <internal::Element T>
  Parameter(const std::optional<T>& value) : type_(internal::TypeOf<T>::single) {
    if (value) internal::append_value(bytes_.emplace(), *value);
  }
  template <internal::Element T>
  Parameter(const std::vector<T>& values) : type_(internal::TypeOf<T>::array) {
    internal::append_array<T>(bytes_.emplace(), values);
  }
  template <internal::Element T>
  Parameter(const std::vector<std::optional<T>>& values) : type_(internal::TypeOf<T>::array) {
    internal::append_array<T>(bytes_.emplace(), values);
  }

  internal::Type type() const noexcept { return type_; }
  /// Nothing: null.
  const std::optional<std::string>& bytes() const noexcept { return bytes_; }

 private:
  struct Tag {};
  template <class T>
  Parameter(Tag, T value) : type_(internal::TypeOf<T>::single) {
    internal::append_value(bytes_.emplace(), value);
  }

  internal::Type type_ = internal::Type::unspecified;
  std::optional<std::string> bytes_;
};

/// One SQL statement with its parameters.
///
///     Statement("insert into jobs select * from unnest($1::int8[], $2::text[])", ids, names)
///
/// Its text is prepared once on each connection, so let it be one of few: what varies are
/// parameters. It neither begins nor ends a transaction.
class Statement {
 public:
  template <class... Args>
    requires(std::convertible_to<Args, Parameter> && ...)
  Statement(std::string text, Args&&... parameters) : text_(std::move(text)) {
    parameters_.reserve(sizeof...(Args));
    (parameters_.emplace_back(std::forward<Args>(parameters)), ...);
  }
  template <class... Args>
    requires(std::convertible_to<Args, Parameter> && ...)
  Statement(const char* text, Args&&... parameters)
      : Statement(std::string(text), std::forward<Args>(parameters)...) {}

  /// Adds the next parameter, for statements with as many as it takes.
  void add(Parameter parameter) { parameters_.push_back(std::move(parameter)); }

  /// What its errors are about, usually a table: `executions.state: ...`.
  Statement about(std::string subject) && {
    subject_ = std::move(subject);
    return std::move(*this);
  }
  /// Sends its text whole, and keeps nothing of it: for what is run once, and for what depends on
  /// statements before it in the same batch, such as the table that they create.
  Statement unprepared() && {
    is_prepared_ = false;
    return std::move(*this);
  }

  const std::string& text() const noexcept { return text_; }
  const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  const std::string& subject() const noexcept { return subject_; }
  bool is_prepared() const noexcept { return is_prepared_; }

 private:
  std::string text_;
  std::vector<Parameter> parameters_;
  std::string subject_;
  bool is_prepared_ = true;
};

/// Statements that stand or fall together.
using Batch = std::vector<Statement>;

}  // namespace weir::storage::postgres
