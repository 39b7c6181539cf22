#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/value.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

class Output;
class Signals;

/// Which server is asked, and as whom.
struct ServerOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string token = {};
  std::filesystem::path token_file = {};
  /// Who signed the server's certificate, in PEM; those that the machine trusts without it.
  std::filesystem::path authority_file = {};
  /// Until an answer has come.
  double timeout_seconds = 10;
};

struct Answer {
  std::string body;
  boost::json::value json;  // the same
};

/// How far a request came.
enum class Reach {
  nobody,    // nothing listens there
  unsent,    // something kept it from being asked: a certificate, a name, the time
  lost,      // asked, but not answered: what it was to do may be done all the same
  answered,  // which may be a refusal
};

/// A client of a gateway, over one connection. It blocks; confined to one thread.
class Client {
 public:
  /// Asks nobody yet. `usage` if the address is none, `not_found` if a file is not there.
  static Result<Client> open(const ServerOptions& options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) = delete;
  ~Client();

  /// `cancelled` is given as soon as one of these comes.
  void obey(Signals* signals) noexcept;
  /// No progress is shown: for who draws the screen, or waits on purpose.
  void be_quiet() noexcept;
  const std::string& url() const noexcept;

  /// An error says what to do: `unreachable`, `refused`, `not_found`,
  /// `unsupported` if the server does not know the path, `failed`.
  /// `wait` is what the server was asked to wait before it answers.
  Result<Answer> get(const std::string& path, std::chrono::milliseconds wait = {});
  /// The answer may be empty.
  Result<Answer> send(const char* method, const std::string& path,
                      std::chrono::milliseconds wait = {});
  /// Of the newest request.
  Reach reach() const noexcept;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state) noexcept;
  Result<std::string> request(const char* method, const std::string& path,
                              std::chrono::milliseconds wait);

  std::unique_ptr<State> state_;
};

/// Asks once and prints the answer: as it came if that is JSON, else by `print`.
Result<> show(const ServerOptions& server, const std::string& path, Output& output,
              const std::function<void(const boost::json::value& answer)>& print);

/// As a part of a path or a value of a query.
std::string encoded(std::string_view text);

/// Ends a path with what is asked for: `?limit=7&after=a%2Cb`.
class Query {
 public:
  explicit Query(std::string path) : text_(std::move(path)) {}
  Query& add(std::string_view name, std::string_view value);
  /// Only if there is one.
  Query& add_if_any(std::string_view name, std::string_view value);
  const std::string& path() const noexcept { return text_; }

 private:
  std::string text_;
  char separator_ = '?';
};

}  // namespace weir::cli
