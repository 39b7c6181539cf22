#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/task.hpp>
#include <weir/server/internal/problem.hpp>

namespace weir::server::internal {

struct NewSubscription;

/// A request as it came. Its texts lie one behind the other, so that the next one on a connection
/// takes their place without a piece of memory for each.
class Request {
 public:
  std::string_view method() const noexcept { return at(method_); }
  std::string_view target() const noexcept { return at(target_); }
  /// By its name in lower case; empty if it is not there. Of several the first.
  std::string_view header(std::string_view name) const noexcept {
    for (const Field& field : fields_)
      if (at(field.name) == name) return at(field.value);
    return {};
  }
  std::size_t count(std::string_view name) const noexcept {
    std::size_t found = 0;
    for (const Field& field : fields_) found += at(field.name) == name ? 1 : 0;
    return found;
  }

  /// All of that name, with commas between them (RFC 9110, 5.3).
  std::string joined(std::string_view name) const {
    std::string values;
    bool is_first = true;
    for (const Field& field : fields_) {
      if (at(field.name) != name) continue;
      if (!std::exchange(is_first, false)) values += ", ";
      values += at(field.value);
    }
    return values;
  }

  void clear() noexcept {
    text_.clear();
    fields_.clear();
    body.clear();
    has_body = false;
  }
  void set_line(std::string_view method, std::string_view target) {
    method_ = add(method);
    target_ = add(target);
  }
  /// The name in any case.
  void add_header(std::string_view name, std::string_view value);

  std::string body;
  bool has_body = false;  // or will have, as its header says
  bool is_http_1_0 = false;
  bool keeps_alive = true;

 private:
  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Field {
    Piece name;
    Piece value;
  };

  std::string_view at(Piece piece) const noexcept {
    return std::string_view(text_).substr(piece.begin, piece.size);
  }
  Piece add(std::string_view text) {
    const Piece piece{static_cast<std::uint32_t>(text_.size()),
                      static_cast<std::uint32_t>(text.size())};
    text_ += text;
    return piece;
  }

  std::string text_;
  Piece method_;
  Piece target_;
  std::vector<Field> fields_;
};

inline void Request::add_header(std::string_view name, std::string_view value) {
  const Piece added = add(name);
  for (std::size_t at = added.begin; at < text_.size(); ++at)
    if (text_[at] >= 'A' && text_[at] <= 'Z') text_[at] = static_cast<char>(text_[at] + 32);
  fields_.push_back({added, add(value)});
}

/// Whether a list with commas has an item, in any case: `keep-alive, Upgrade`.
bool names_token(std::string_view list, std::string_view token) noexcept;

inline constexpr std::string_view json_type = "application/json";

/// An answer before it is written.
struct Response {
  Response() = default;
  Response(const Problem& problem)
      : status(problem.status),
        type("application/problem+json"),
        body(print_problem(problem)),
        problem_code(problem.code),
        cause(problem.cause) {}
  Response(const Error& error) : Response(problem_of(error)) {}
  static Response json(std::string body) {
    Response response;
    response.body = std::move(body);
    return response;
  }

  int status = 200;
  std::string_view type = json_type;  // of constants
  std::string body = {};
  std::string problem_code = {};
  std::string cause = {};  // of the problem, for the log
  /// What is answered depends on the moment and the caller, unless somebody says otherwise.
  std::string_view cache = "no-store";                                 // of constants
  std::vector<std::pair<std::string_view, std::string>> headers = {};  // names of constants
  std::uint64_t version = 0;                           // of what was committed, for the audit log
  std::string trace = {};                              // the same
  std::shared_ptr<NewSubscription> subscription = {};  // what the connection becomes, with a 101
  /// What is done if nobody gets this answer. It then leaves at once, without waiting for others.
  std::function<Task<>()> undo = {};
};

/// Whether an answer has a body, also an empty one.
constexpr bool has_body(int status) noexcept {
  return status != 101 && status != 204 && status != 304;
}

/// What surrounds an answer on the wire.
struct ResponseFrame {
  bool is_head = false;  // without the body
  bool is_http_1_0 = false;
  bool keeps_alive = true;
  std::string_view date;
};

/// `Tue, 17 Nov 2026 18:00:00 GMT`, of seconds since 1970.
std::string print_http_date(std::int64_t second);

void append_response(std::string& out, const Response& response, const ResponseFrame& frame);

}  // namespace weir::server::internal
