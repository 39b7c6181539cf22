// Whatever comes over the wire: the right problem, with the place, and the server goes on.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/websocket_client.hpp>

namespace weir::server {
namespace {

using test::Reply;
using test::text_of;

class BadInput : public test::GatewayTest {
 protected:
  BadInput() { start({.limits = {.header_bytes_max = 4096, .body_bytes_max = 65'536}}); }
  /// After whatever came before, on another connection.
  void expect_well() { EXPECT_EQ(get("/healthz").status, 200); }
};

struct BadRequest {
  std::string bytes;
  int status;
  std::string code;
  std::string place = {};  // what the detail names, if the request has it
};

std::string get_line(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::vector<BadRequest> bad_requests() {
  const std::string long_text(10'000, 'x');
  const std::string post = "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\n";
  return {
      // No HTTP at all.
      {"\x16\x03\x01\x02 a TLS client\r\n\r\n", 400, "malformed_request"},
      {"GET\r\n\r\n", 400, "malformed_request"},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "malformed_request"},
      {"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, "malformed_request"},
      {std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), 400, "malformed_request"},
      {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505, "bad_http_version"},
      {"GET / HTTP/1.1\r\n\r\n", 400, "no_host", "Host"},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "no_host", "Host"},
      // Lengths that lie, the way requests are smuggled.
      {post + "Content-Length: -1\r\n\r\n", 400, "malformed_request"},
      {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "malformed_request"},
      {post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       "malformed_request"},
      {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "malformed_request"},
      // Too much of everything.
      {"GET /" + long_text + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431, "header_too_large",
       "4096"},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + long_text + "\r\n\r\n", 431, "header_too_large",
       "4096"},
      {post + "Content-Length: 65537\r\n\r\n", 413, "body_too_large", "65536"},
      {post + "Content-Length: 99999999999999999999999\r\n\r\n", 400, "malformed_request"},
      {post + "Transfer-Encoding: chunked\r\n\r\nfffff\r\n" + std::string(65'536, 'x'), 413,
       "body_too_large", "65536"},
      // Paths.
      {get_line("/api/v1/../../etc/passwd"), 404, "unknown_path"},
      {get_line("/api/v1/tables/../tables"), 404, "unknown_path"},
      {get_line("//api/v1/tables"), 404, "unknown_path"},
      {get_line("/api/v1/tables/"), 404, "unknown_path"},
      {get_line("/api/v1/t%61bles"), 404, "unknown_path"},
      {get_line("/api/v1/tables/%2e%2e"), 404, "unknown_relation", "'..'"},
      {get_line("/api/v1/tables/%2fetc%2fpasswd"), 404, "unknown_relation", "'/etc/passwd'"},
      {get_line("/api/v1/tables/a%00b"), 404, "unknown_relation"},
      {get_line("/api/v1/tables/%ff"), 400, "malformed_target", "a part of the path"},
      {get_line("/api/v1/tables/%4"), 400, "malformed_target", "a part of the path"},
      {get_line("/api/v1/tables/%zz"), 400, "malformed_target", "a part of the path"},
      {get_line("/api/v1/tables#x"), 400, "malformed_target", "fragment"},
      {get_line("api/v1/tables"), 400, "malformed_target", "begins with /"},
      {get_line("/api/v1/savepoints/..%2f..%2fx"), 405, "wrong_method", "PUT"},
      // Queries.
      {get_line("/api/v1/tables?x=1"), 400, "unknown_parameter", "'x'"},
      {get_line("/api/v1/log?limit=1&limit=2"), 400, "duplicate_parameter", "'limit'"},
      {get_line("/api/v1/log?limit=1e3"), 400, "invalid_parameter", "'limit'"},
      {get_line("/api/v1/log?limit=-1"), 400, "invalid_parameter", "'limit'"},
      {get_line("/api/v1/log?after=99999999999999999999"), 400, "invalid_parameter", "'after'"},
      {get_line("/api/v1/log?wait=999999999"), 400, "invalid_parameter", "'wait'"},
      {get_line("/api/v1/log?after=%f"), 400, "malformed_target", "a query parameter"},
      // Methods and types.
      {"BREW /api/v1/tables HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "wrong_method", "GET"},
      {"GET /api/v1/tables HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 400,
       "unexpected_body", "body"},
      {post + "Content-Length: 2\r\n\r\n{}", 415, "not_json", "Content-Type"},
      {post + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415, "not_json",
       "Content-Type"},
  };
}

TEST_F(BadInput, EveryBadRequestGetsItsProblem) {
  for (const BadRequest& bad : bad_requests()) {
    auto client = connect();
    client->send(bad.bytes);
    const Reply reply = client->receive();
    EXPECT_EQ(reply.status, bad.status) << bad.bytes.substr(0, 100) << "\n" << reply.body;
    EXPECT_EQ(text_of(reply, "code"), bad.code) << bad.bytes.substr(0, 100);
    EXPECT_NE(text_of(reply, "detail").find(bad.place), std::string::npos) << reply.body;
    EXPECT_EQ(text_of(reply, "status"), std::to_string(bad.status));
    EXPECT_EQ(text_of(reply, "type"), "urn:weir:problem:" + bad.code);
    EXPECT_EQ(reply.headers.at("content-type"), "application/problem+json");
  }
  expect_well();
}

struct BadBody {
  std::string body;
  int status;
  std::string code;
  std::string place;  // a pointer, or an offset
};

/// One operation with this row.
std::string inserting(const std::string& row) {
  return R"({"operations":[{"op":"insert","table":"shop.orders","row":)" + row + "}]}";
}

std::vector<BadBody> bad_bodies() {
  std::string deep;
  for (int depth = 0; depth < 40; ++depth) deep += "[";
  const std::string at = "/operations/0";
  return {
      {"{", 400, "malformed_json", "1"},
      {"{\"operations\":[}", 400, "malformed_json", "15"},
      {"{} {}", 400, "malformed_json", "3"},
      {"{'a':1}", 400, "malformed_json", "1"},
      {"\xef\xbb\xbf{}", 400, "malformed_json", "0"},
      {"{\"operations\":\"\xff\"}", 400, "malformed_json", "15"},
      {R"({"operations":"\ud800"})", 400, "malformed_json", "21"},
      {deep, 400, "too_deep", "32"},
      {"[]", 422, "wrong_type", ""},
      {"null", 422, "wrong_type", ""},
      {"{}", 422, "missing_field", "/operations"},
      {R"({"operations":{}})", 422, "wrong_type", "/operations"},
      {R"({"operations":[]})", 422, "invalid_value", "/operations"},
      {R"({"operations":[1]})", 422, "wrong_type", at},
      {R"({"operations":[{}]})", 422, "missing_field", at + "/op"},
      {R"({"operation":[]})", 422, "unknown_field", "/operation"},
      {R"({"operations":[{"op":"drop","table":"shop.orders"}]})", 422, "invalid_value", at + "/op"},
      {R"({"operations":[{"op":1,"table":"shop.orders"}]})", 422, "wrong_type", at + "/op"},
      {R"({"operations":[{"op":"insert","row":{}}]})", 422, "missing_field", at + "/table"},
      {R"({"operations":[{"op":"insert","table":"none","row":{}}]})", 422, "unknown_relation",
       at + "/table"},
      {R"({"operations":[{"op":"insert","table":"shop.large","row":{}}]})", 422, "not_a_table",
       at + "/table"},
      {R"({"operations":[{"op":"insert","table":"shop.orders","row":{},"x":1}]})", 422,
       "unknown_field", at + "/x"},
      {R"({"operations":[{"op":"insert","table":"shop.orders","key":{"id":1}}]})", 422,
       "unknown_field", at + "/key"},
      {R"({"operations":[{"op":"delete","table":"shop.orders","key":{}}]})", 422, "missing_field",
       at + "/key/id"},
      {R"({"operations":[{"op":"delete","table":"shop.orders","key":{"id":1,"item":"a"}}]})", 422,
       "unknown_field", at + "/key/item"},
      {R"({"operations":[{"op":"delete","table":"shop.orders","key":{"id":7}}]})", 404,
       "unknown_key", at},
      {R"({"operations":[{"op":"append","table":"shop.orders","row":{"id":1}}]})", 422,
       "append_only", at + "/op"},
      {inserting("1"), 422, "wrong_type", at + "/row"},
      {inserting(R"({"id":1})"), 422, "missing_field", at + "/row/item"},
      {inserting(R"({"id":true,"item":"a"})"), 422, "wrong_type", at + "/row/id"},
      {inserting(R"({"id":1.5,"item":"a"})"), 422, "wrong_type", at + "/row/id"},
      {inserting(R"({"id":99999999999999999999,"item":"a"})"), 422, "out_of_range", at + "/row/id"},
      {inserting(R"({"id":1e400,"item":"a"})"), 422, "out_of_range", at + "/row/id"},
      {inserting(R"({"id":null,"item":"a"})"), 422, "null_not_allowed", at + "/row/id"},
      {inserting(R"({"id":1,"item":2})"), 422, "wrong_type", at + "/row/item"},
      {inserting(R"({"id":1,"item":"a","prise":2})"), 422, "unknown_field", at + "/row/prise"},
  };
}

TEST_F(BadInput, EveryBadBodyIsToldWhereItIsWrong) {
  auto client = connect();
  for (const BadBody& bad : bad_bodies()) {
    const Reply reply = client->request("POST", "/api/v1/transactions", bad.body);
    EXPECT_EQ(reply.status, bad.status) << bad.body << "\n" << reply.body;
    EXPECT_EQ(text_of(reply, "code"), bad.code) << bad.body;
    const char* place = bad.status == 400 ? "offset" : "pointer";
    EXPECT_EQ(text_of(reply, place), bad.place) << bad.body << "\n" << reply.body;
  }
  EXPECT_EQ(client->get("/api/v1/tables/shop.orders/rows").body.find("\"id\""), std::string::npos);
}

struct BadMessage {
  std::string text;
  std::string code;
  std::string place = {};
};

TEST_F(BadInput, EveryBadMessageOfASubscriberIsToldWhatIsWrongBeforeTheClose) {
  const std::vector<BadMessage> bad_messages = {
      {"{", "malformed_json"},
      {"[[[[[[[]]]]]]]", "too_deep"},
      {"[]", "wrong_type", "object"},
      {R"({"type":"credit"})", "missing_field", "'messages'"},
      {R"({"type":"hello","messages":1})", "invalid_value", "credit"},
      {R"({"type":"credit","messages":0})", "out_of_range", "from 1 to"},
      {R"({"type":"credit","messages":"1"})", "out_of_range", "from 1 to"},
      {R"({"type":"credit","messages":1,"more":1})", "unknown_field", "'more'"}};
  for (const BadMessage& bad : bad_messages) {
    test::WebSocketClient client(gateway().port(), "/api/v1/views/shop.large/subscribe");
    ASSERT_TRUE(client.is_open()) << client.reply().body;
    client.send_text(bad.text);
    test::Message message = client.next();
    while (message.type() == "snapshot") message = client.next();
    EXPECT_EQ(message.type(), "end") << bad.text;
    EXPECT_EQ(message.text("code"), bad.code) << bad.text;
    EXPECT_NE(message.text("detail").find(bad.place), std::string::npos) << message.text("detail");
  }
  expect_well();
}

TEST_F(BadInput, UnknownFieldsAreNamed) {
  const Reply reply = post("/api/v1/transactions", R"({"operations":[],"opertions":1})");
  EXPECT_NE(text_of(reply, "detail").find("'opertions'"), std::string::npos) << reply.body;
}

TEST_F(BadInput, ARequestThatEndsTooEarlyIsNoRequest) {
  const std::string whole =
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 81\r\n\r\n" +
      inserting(R"({"id":1,"item":"a"})");
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    auto client = connect();
    client->send(whole.substr(0, size));
    client->finish();
    EXPECT_EQ(client->receive_all(), "") << size;
  }
  EXPECT_EQ(get("/api/v1/tables/shop.orders/rows/1").status, 404);
}

TEST_F(BadInput, NothingOfTheInsideIsTold) {
  for (const BadRequest& bad : bad_requests()) {
    auto client = connect();
    client->send(bad.bytes);
    const std::string body = client->receive().body;
    for (const char* inside : {".cpp", ".hpp", "/tmp", "/build", "boost", "0x"})
      EXPECT_EQ(body.find(inside), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace weir::server
