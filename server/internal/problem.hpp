#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weir/runtime/error.hpp>

namespace weir::server::internal {

/// Why a request was not done, for programs (`code`, which never changes its meaning) and for
/// people
/// (`detail`): RFC 9457.
struct Problem {
  int status = 500;
  std::string code = {};
  std::string detail = {};
  /// The place in a JSON body: of a value that was refused, or where it is no JSON.
  std::optional<std::string> pointer = {};
  std::optional<std::size_t> offset = {};
  /// What it says inside, where `detail` must not: for the log.
  std::string cause = {};
};

/// What an error of the layers below says to a caller: nothing about files, for instance.
Problem problem_of(const Error& error);

/// `application/problem+json`.
std::string print_problem(const Problem& problem);

/// The phrase of a status: `Not Found`.
std::string_view phrase_of(int status) noexcept;

/// A value, or why there is none. For `WEIR_CO_TRY`, as `Result` is.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}
  Outcome(Problem problem) : problem_(std::move(problem)) {}
  /// Of the layers below.
  Outcome(const Error& error) : problem_(problem_of(error)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  T& operator*() & { return *value_; }
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const Problem& error() const& noexcept { return problem_; }
  Problem error() && { return std::move(problem_); }

 private:
  std::optional<T> value_;
  Problem problem_;
};

}  // namespace weir::server::internal
