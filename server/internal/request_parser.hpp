#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <weir/server/internal/message.hpp>
#include <weir/server/limits.hpp>

namespace weir::server::internal {

/// Makes requests of bytes. Beast does the work, in one source file.
class RequestParser {
 public:
  explicit RequestParser(const Limits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// Takes what it can of `bytes`, and gives how much that was: the rest, with what comes behind
  /// it, is for the next call. Not after `is_done` or a failure.
  std::size_t put(std::string_view bytes);

  /// Whether something of a request has come.
  bool has_begun() const noexcept;
  bool has_header() const noexcept;
  bool is_done() const noexcept;
  bool has_failed() const noexcept;
  /// After a failure: what to answer before hanging up.
  Problem problem() const;
  /// Whether the client waits for a word before it sends the body. True once.
  bool takes_continue() noexcept;

  Request& request() noexcept;
  /// For the next request.
  void reset();

 private:
  class Parser;
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace weir::server::internal
