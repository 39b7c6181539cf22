#pragma once

#include <string>
#include <system_error>
#include <utility>

namespace weir {

/// Why an operation of the runtime did not succeed.
enum class Errc : int {
  full = 1,          // the mailbox had no room
  stopped,           // the actor or the system has stopped, or is stopping
  timed_out,         // the deadline passed first
  cancelled,         // the caller gave up or is gone
  failed,            // the handler threw
  deadlock,          // the actor would wait for itself
  not_found,         // no such name or member
  already_exists,    // the name is taken
  wrong_type,        // the named actor does not handle these messages
  invalid_argument,  // a value outside its range
  closed,            // the gate, channel or pool is closed
  unsupported,       // not available here, for instance real I/O under simulation
};

const std::error_category& runtime_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), runtime_category()};
}

/// An error code and, optionally, what was wrong, where, and what to do about it.
///
/// Cheap to move and to copy: the detail is shared and immutable.
class Error {
 public:
  /// No error: `code()` is zero.
  Error() noexcept = default;
  Error(std::error_code code) noexcept : code_(code) {}
  Error(std::error_code code, std::string detail);
  Error(const Error& other) noexcept : code_(other.code_), detail_(other.detail_) {
    if (detail_) share(detail_);
  }
  Error(Error&& other) noexcept
      : code_(other.code_), detail_(std::exchange(other.detail_, nullptr)) {}
  Error& operator=(Error other) noexcept {
    code_ = other.code_;
    std::swap(detail_, other.detail_);
    return *this;
  }
  ~Error() {
    if (detail_) release(detail_);
  }

  template <class Code>
    requires std::is_error_code_enum_v<Code>
  Error(Code code) noexcept : code_(make_error_code(code)) {}

  template <class Code>
    requires std::is_error_code_enum_v<Code>
  Error(Code code, std::string detail) : Error(make_error_code(code), std::move(detail)) {}

  const std::error_code& code() const noexcept { return code_; }

  /// The detail alone; empty if none was given.
  const std::string& detail() const noexcept;

  /// `code: detail`, for people.
  std::string message() const;

  /// By their codes: the details are for people.
  friend bool operator==(const Error& left, const Error& right) noexcept {
    return left.code_ == right.code_;
  }
  friend bool operator==(const Error& error, const std::error_code& code) noexcept {
    return error.code_ == code;
  }
  template <class Code>
    requires std::is_error_code_enum_v<Code>
  friend bool operator==(const Error& error, Code code) noexcept {
    return error.code_ == make_error_code(code);
  }

 private:
  // A count of our own, as <memory> would bring streams into every file that has an actor.
  struct Detail;
  static void share(Detail* detail) noexcept;
  static void release(Detail* detail) noexcept;

  std::error_code code_;
  Detail* detail_ = nullptr;
};

/// Carries an `Error` where only an exception can go: `Result::value()` on a failed result.
class ErrorException : public std::system_error {
 public:
  explicit ErrorException(const Error& error)
      : std::system_error(error.code(), error.detail()), error_(error) {}
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

}  // namespace weir

template <>
struct std::is_error_code_enum<weir::Errc> : std::true_type {};
