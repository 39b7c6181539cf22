#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::server::test {

/// An answer as it came over the wire.
struct Reply {
  int status = 0;
  /// By their names in lower case.
  std::map<std::string, std::string> headers = {};
  std::string body = {};
};

/// A connection to a server on this machine that sends whatever bytes a test likes: no library
/// would. Blocking; reads time out after a minute, and the test fails then.
class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Also to one who has hung up.
  void send(std::string_view bytes);
  /// Nothing more comes from here.
  void finish();
  /// Both at once: whoever has read these bytes sees the end.
  void send_and_finish(std::string_view bytes);
  /// The same, and nobody is here to take an answer. Nothing else can be done then.
  void send_and_leave(std::string_view bytes);
  /// The next answer; `status` zero if the server has hung up instead.
  Reply receive(bool has_body = true);
  /// Whatever comes until the server hangs up.
  std::string receive_all();
  /// So many bytes; fewer if the server hangs up before.
  std::string receive_bytes(std::size_t count);

  /// Sends a request and gives the answer to it. `body` without a type is JSON.
  Reply request(std::string_view method, std::string_view target, std::string_view body = {},
                std::string_view headers = {});
  Reply get(std::string_view target, std::string_view headers = {}) {
    return request("GET", target, {}, headers);
  }

 private:
  /// Bytes that leave with what comes next.
  void hold_back(std::string_view bytes);
  bool receive_more();
  /// Up to and with `end`; nothing if the server hangs up before.
  std::optional<std::string> receive_until(std::string_view end);

  int socket_ = -1;
  std::string received_;
};

/// `field` of an answer that is a problem: `code`, `pointer`.
std::string text_of(const Reply& reply, std::string_view field);
/// What stands at a place in an answer, `/claims/0/handle`, as text: a number by its digits, others
/// by what they are, `an array`. Empty if there is nothing.
std::string text_at(const Reply& reply, std::string_view place);
/// How many entries the array there has.
std::size_t size_at(const Reply& reply, std::string_view place);

}  // namespace weir::server::test
