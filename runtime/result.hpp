#pragma once

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/runtime/error.hpp>

namespace weir {

template <class T>
class Result;

namespace internal {

[[noreturn]] void throw_error(const Error& error);

template <class>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

// What converts to both is ambiguous, unless it is one of them.
template <class From, class T>
concept FailureOf = std::is_same_v<std::remove_cvref_t<From>, Error> ||
                    (std::is_convertible_v<From, Error> && !std::is_convertible_v<From, T>);
template <class From, class T>
concept SuccessOf = std::is_same_v<std::remove_cvref_t<From>, T> ||
                    (std::is_convertible_v<From, T> && !std::is_convertible_v<From, Error> &&
                     !is_result<std::remove_cvref_t<From>>);

}  // namespace internal

/// The value of an operation that can fail in expected ways, or its `Error`.
///
/// `if (result)`, `*result`, `result.error()`. Made from either: `return 5;`, `return Errc::full;`.
/// `*result`, `result->` and `result.value()` throw `ErrorException` on failure. Compares with
/// another result, a value, an `Error` or a code.
template <class T = void>
class [[nodiscard]] Result {
  static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "weir: the value of a Result is an object or void; for a reference use a pointer");
  static_assert(!std::is_same_v<T, Error>, "weir: use Result<> for an operation without a value");

 public:
  using value_type = T;

  /// A success with a default value.
  Result() noexcept(std::is_nothrow_default_constructible_v<T>)
    requires std::is_default_constructible_v<T>
      : value_(), has_value_(true) {}

  template <class From = T>
    requires internal::SuccessOf<From, T>
  Result(From&& value) noexcept(std::is_nothrow_constructible_v<T, From>)
      : value_(std::forward<From>(value)), has_value_(true) {}
  template <class From>
    requires internal::FailureOf<From, T>
  Result(From&& error) noexcept(std::is_nothrow_constructible_v<Error, From>)
      : error_(std::forward<From>(error)), has_value_(false) {}

  template <class Other>
    requires(std::is_convertible_v<const Other&, T> && !std::is_same_v<Other, T>)
  Result(const Result<Other>& other) noexcept(std::is_nothrow_constructible_v<T, const Other&>) {
    construct(other);
  }
  template <class Other>
    requires(std::is_convertible_v<Other, T> && !std::is_same_v<Other, T>)
  Result(Result<Other>&& other) noexcept(std::is_nothrow_constructible_v<T, Other>) {
    construct(std::move(other));
  }

  Result(const Result& other) noexcept(std::is_nothrow_copy_constructible_v<T>)
    requires std::is_copy_constructible_v<T>
  {
    construct(other);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    construct(std::move(other));
  }
  /// If moving the value throws, the result is a failure: `Errc::failed`.
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    destroy();
    try {
      construct(std::move(other));
    } catch (...) {
      ::new (&error_) Error(Errc::failed);
      has_value_ = false;
      throw;
    }
    return *this;
  }
  ~Result() { destroy(); }

  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }

  T& value() & {
    require_value();
    return value_;
  }
  const T& value() const& {
    require_value();
    return value_;
  }
  /// The value itself, not a reference into a result that is about to go.
  T value() && {
    require_value();
    return std::move(value_);
  }
  void value() const&& = delete;

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  void operator*() const&& = delete;

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The value, or `other` if there is none.
  template <class Other>
  T value_or(Other&& other) const& {
    return has_value_ ? value_ : static_cast<T>(std::forward<Other>(other));
  }
  template <class Other>
  T value_or(Other&& other) && {
    return has_value_ ? std::move(value_) : static_cast<T>(std::forward<Other>(other));
  }

  friend bool operator==(const Result& left, const Result& right)
    requires requires(const T& value) { static_cast<bool>(value == value); }
  {
    if (left.has_value_ != right.has_value_) return false;
    return left.has_value_ ? static_cast<bool>(left.value_ == right.value_)
                           : left.error_ == right.error_;
  }

  /// An `Error` whose code is zero, if there is a value.
  Error error() const& noexcept { return has_value_ ? Error() : error_; }
  Error error() && noexcept { return has_value_ ? Error() : std::move(error_); }

 private:
  template <class>
  friend class Result;

  void require_value() const {
    if (!has_value_) [[unlikely]]
      internal::throw_error(error_);
  }
  template <class Other>
  void construct(Other&& other) {
    has_value_ = other.has_value_;
    if (has_value_) {
      ::new (&value_) T(std::forward<Other>(other).value_);
    } else {
      ::new (&error_) Error(std::forward<Other>(other).error_);
    }
  }
  void destroy() noexcept {
    if (has_value_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  union {
    T value_;      // NOLINT(readability-identifier-naming): private, as the union is
    Error error_;  // NOLINT(readability-identifier-naming): private, as the union is
  };
  bool has_value_;
};

/// Success, or the `Error` of an operation without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() noexcept = default;
  template <class From>
    requires std::is_convertible_v<From, Error>
  Result(From&& error) noexcept(std::is_nothrow_constructible_v<Error, From>)
      : error_(std::forward<From>(error)) {}

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return !error_; }

  /// Throws `ErrorException` on failure.
  void value() const {
    if (error_) internal::throw_error(*error_);
  }
  void operator*() const { value(); }

  friend bool operator==(const Result& left, const Result& right) noexcept {
    if (left.has_value() != right.has_value()) return false;
    return left.has_value() || *left.error_ == *right.error_;
  }

  Error error() const& noexcept { return error_ ? *error_ : Error(); }
  Error error() && noexcept { return error_ ? std::move(*error_) : Error(); }

 private:
  std::optional<Error> error_;
};

}  // namespace weir
