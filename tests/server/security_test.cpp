// Who may do what, and what is told of it.

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/server/errc.hpp>
#include <weir/server/internal/access.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using test::Reply;
using test::text_of;

constexpr std::string_view insert_one =
    R"({"operations":[{"op":"insert","table":"shop.orders","row":{"id":1,"item":"a"}}]})";

/// What was told of requests.
class Audit {
 public:
  void note(const AuditRecord& record) {
    std::scoped_lock hold(mutex_);
    lines_.push_back(record.caller + " " + record.method + " " + record.target + " " +
                     std::to_string(record.status) + " " + record.problem);
  }
  std::vector<std::string> lines() {
    std::scoped_lock hold(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Told of requests for as long as there is a gateway, which ends after a test's own members.
class Security : private Audit, public test::GatewayTest {
 protected:
  /// Gives the header that its owner sends.
  std::string add_token(const std::string& name, Roles roles,
                        std::vector<std::string> namespaces = {}) {
    NewToken made = make_token(name, roles, std::move(namespaces)).value();
    options_.tokens.push_back(made.token);
    return "Authorization: Bearer " + made.bearer + "\r\n";
  }
  void start_audited() {
    options_.audit = [this](const AuditRecord& record) { note(record); };
    start(options_);
  }
  std::vector<std::string> audit() { return lines(); }

  GatewayOptions options_;
};

TEST_F(Security, OthersAreNotLetInWithoutTokens) {
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1"}) {
    const auto refused = Gateway::start({&store(), &database()}, {.address = address, .port = 0});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error() == Errc::needs_tokens) << refused.error().message();
  }
}

TEST_F(Security, TimesInWhichNobodyCouldAskAnythingAreRefused) {
  for (Duration Limits::* time : {&Limits::header_time, &Limits::body_time, &Limits::write_time,
                                  &Limits::idle_time, &Limits::snapshot_time, &Limits::ping_time}) {
    GatewayOptions options{.port = 0};
    options.limits.*time = Duration::zero();
    const auto refused = Gateway::start({&store(), &database()}, options);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error() == Errc::invalid_argument) << refused.error().message();
  }
}

TEST_F(Security, ATokenIsNeededIfThereAreAny) {
  const std::string reader = add_token("reader", {Role::read});
  start_audited();
  const Reply none = get("/api/v1/tables");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(text_of(none, "code"), "no_token");
  EXPECT_EQ(get("/api/v1/tables", reader).status, 200);
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/api/v1/openapi.json").status, 200);
  EXPECT_EQ(get("/metrics").status, 401);
}

TEST_F(Security, AWrongTokenIsRefusedWhateverIsWrongWithIt) {
  const std::string reader = add_token("reader", {Role::read});
  add_token("writer", {Role::write});
  start_audited();
  const std::string secret = reader.substr(reader.find('.') + 1);
  for (const std::string& header :
       {std::string("Authorization: Bearer reader.wrong\r\n"),
        std::string("Authorization: Bearer reader\r\n"), std::string("Authorization: Bearer .\r\n"),
        std::string("Authorization: Bearer  \r\n"), "Authorization: Bearer nobody." + secret,
        "Authorization: Bearer writer." + secret, "Authorization: Basic reader." + secret,
        reader + reader}) {
    EXPECT_EQ(get("/api/v1/tables", header.ends_with("\n") ? header : header + "\r\n").status, 401)
        << header;
  }
  EXPECT_EQ(get("/api/v1/tables", "authorization: bearer reader." + secret).status, 200);
}

TEST_F(Security, ARoleIncludesNoOther) {
  const std::string reader = add_token("reader", {Role::read});
  const std::string writer = add_token("writer", {Role::write});
  const std::string keeper = add_token("keeper", {Role::operate});
  start_audited();
  const auto statuses = [&](const std::string& token) {
    return std::vector<int>{get("/api/v1/tables", token).status,
                            post("/api/v1/transactions", "{}", token).status,
                            post("/api/v1/views/none/resume", "", token).status};
  };
  EXPECT_EQ(statuses(reader), (std::vector<int>{200, 403, 403}));
  EXPECT_EQ(statuses(writer), (std::vector<int>{403, 422, 403}));
  EXPECT_EQ(statuses(keeper), (std::vector<int>{403, 403, 404}));
}

TEST_F(Security, ANamespaceHidesWhatIsInOthers) {
  const std::string shop = add_token("shop", Roles::all(), {"shop"});
  const std::string sho = add_token("sho", Roles::all(), {"sho", "other"});
  start_audited();
  EXPECT_NE(get("/api/v1/tables", shop).body.find("shop.orders"), std::string::npos);
  EXPECT_EQ(get("/api/v1/views", shop).body.find("\"items\""), std::string::npos);
  EXPECT_EQ(get("/api/v1/views/items/rows", shop).status, 404);
  EXPECT_EQ(get("/api/v1/tables", sho).body, R"({"tables":[]})");
  EXPECT_EQ(get("/api/v1/tables/shop.orders", sho).status, 404);
  EXPECT_EQ(post("/api/v1/views/shop.large/rebuild", "", sho).status, 404);
  const Reply write = post("/api/v1/transactions", insert_one, sho);
  EXPECT_EQ(write.status, 422);
  EXPECT_EQ(text_of(write, "code"), "unknown_relation");
  EXPECT_EQ(post("/api/v1/transactions", insert_one, shop).status, 200);
  for (const char* target : {"/api/v1/actors", "/api/v1/log", "/metrics", "/api/v1/savepoints"})
    EXPECT_EQ(text_of(get(target, shop), "code"), "wrong_namespace") << target;
}

TEST_F(Security, EveryWriteIsInTheAuditLogAlsoIfItWasRefused) {
  const std::string reader = add_token("reader", {Role::read});
  const std::string writer = add_token("writer", {Role::write});
  start_audited();
  EXPECT_EQ(post("/api/v1/transactions", insert_one, writer).status, 200);
  EXPECT_EQ(post("/api/v1/transactions", insert_one, writer).status, 409);
  EXPECT_EQ(post("/api/v1/transactions", insert_one, reader).status, 403);
  EXPECT_EQ(post("/api/v1/transactions", insert_one).status, 401);
  EXPECT_EQ(get("/api/v1/tables", reader).status, 200);
  EXPECT_EQ(audit(), (std::vector<std::string>{"writer POST /api/v1/transactions 200 ",
                                               "writer POST /api/v1/transactions 409 duplicate_key",
                                               "reader POST /api/v1/transactions 403 wrong_role",
                                               " POST /api/v1/transactions 401 no_token"}));
}

// What it asked for may have been done: whoever reads the audit log must know that it was asked.
TEST_F(Security, AWriteThatIsCutOffIsInTheAuditLog) {
  const std::string writer = add_token("writer", {Role::write});
  open_engine();
  options_.drain = Duration::zero();
  start_audited();
  const std::string body = R"({"worker":"w","wait_seconds":60})";
  auto client = connect();
  // With the first answer the second request is under way.
  client->send(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /api/v1/claims HTTP/1.1\r\n"
      "Host: localhost\r\nContent-Type: application/json\r\n" +
      writer + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(client->receive().status, 200);
  EXPECT_EQ(run(gateway().stop()).value().cut_off, 1u);
  EXPECT_EQ(audit(), (std::vector<std::string>{"writer POST /api/v1/claims 0 unknown_outcome"}));
}

// Whoever may send anything could otherwise fill the memory with bodies that come to nothing.
TEST_F(Security, WhoMayNotIsToldSoBeforeItsBodyHasCome) {
  const std::string reader = add_token("reader", {Role::read});
  const std::string writer = add_token("writer", {Role::write});
  start_audited();
  const auto answer = [&](std::string_view line, std::string_view headers) {
    auto client = connect();
    client->send(std::string(line) + " HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n" +
                 std::string(headers) + "\r\n");
    const Reply reply = client->receive();
    EXPECT_TRUE(reply.headers.contains("connection")) << line << reply.status;
    EXPECT_EQ(client->receive_all(), "") << line;
    return reply.status;
  };
  const std::string length = "Content-Length: 8000000\r\n";
  const std::string json = "Content-Type: application/json\r\n" + length;
  EXPECT_EQ(answer("POST /api/v1/transactions", json), 401);
  EXPECT_EQ(answer("POST /api/v1/transactions", json + "Transfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(answer("POST /api/v1/transactions", reader + json), 403);
  EXPECT_EQ(answer("POST /api/v1/transactions", writer + length), 415);
  EXPECT_EQ(answer("POST /api/v1/none", writer + json), 404);
  EXPECT_EQ(answer("PATCH /api/v1/transactions", writer + json), 405);
  EXPECT_EQ(answer("GET /api/v1/tables", reader + json), 400);
  EXPECT_EQ(audit(), (std::vector<std::string>{" POST /api/v1/transactions 401 no_token",
                                               "reader POST /api/v1/transactions 403 wrong_role",
                                               "writer POST /api/v1/transactions 415 not_json"}));
}

TEST_F(Security, ABodyInChunksIsRefusedWithTheFirstOfThem) {
  start();
  auto client = connect();
  client->send(
      "GET /api/v1/tables HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  client->send("1\r\nx\r\n");
  EXPECT_EQ(text_of(client->receive(), "code"), "unexpected_body");
  auto empty = connect();
  empty->send(
      "GET /api/v1/tables HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  empty->send("0\r\n\r\n");
  EXPECT_EQ(empty->receive().status, 200);
}

// A page from elsewhere reaches a server on this machine through the browser of who works on it.
TEST_F(Security, WithoutTokensTheHostIsThisMachine) {
  start();
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:1", "[::1]"})
    EXPECT_TRUE(internal::is_loopback_host(host)) << host;
  for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "localhost:evil", "[::2]", "[::1]evil", "[::1", "127.0.0.1@evil"})
    EXPECT_FALSE(internal::is_loopback_host(host)) << host;
  auto client = connect();
  client->send("GET /api/v1/tables HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(text_of(client->receive(), "code"), "wrong_host");
}

// A browser sends what needs no answer without asking first, and says where the page is from.
TEST_F(Security, WithoutTokensAPageFromElsewhereIsRefused) {
  start();
  for (const char* origin : {"http://evil.example", "https://127.0.0.1.evil.example", "null",
                             "http://localhost@evil.example", "localhost"}) {
    auto client = connect();
    client->send("GET /api/v1/tables HTTP/1.1\r\nHost: localhost\r\nOrigin: " +
                 std::string(origin) + "\r\n\r\n");
    EXPECT_EQ(text_of(client->receive(), "code"), "wrong_origin") << origin;
  }
  auto client = connect();
  client->send("GET /api/v1/tables HTTP/1.1\r\nHost: [::1]\r\nOrigin: http://[::1]:8080\r\n\r\n");
  EXPECT_EQ(client->receive().status, 200);
}

TEST(Problems, SayNothingAboutWhereADatabaseIs) {
  using WorkflowErrc = flow::workflow::Errc;
  const std::string text = R"(no connection for 7 ms: connection to server on socket )"
                           R"("/run/postgresql/.s.PGSQL.5432" failed: FATAL: role "shop")";
  for (const WorkflowErrc code : {WorkflowErrc::unavailable, WorkflowErrc::retry_exhausted}) {
    const internal::Problem problem = internal::problem_of(weir::Error(code, text));
    EXPECT_EQ(problem.status, 503);
    EXPECT_EQ(problem.detail.find("postgresql"), std::string::npos) << problem.detail;
    EXPECT_NE(problem.detail.find("try again"), std::string::npos) << problem.detail;
    EXPECT_NE(problem.cause.find(text), std::string::npos) << problem.cause;
    EXPECT_EQ(internal::print_problem(problem).find("postgresql"), std::string::npos);
  }
}

TEST(Tokens, HoldNoSecretAndComeBackFromTheirFile) {
  const NewToken made = make_token("shop", {Role::read, Role::operate}, {"a", "b"}).value();
  const std::string file = print_tokens({made.token});
  const std::string secret = made.bearer.substr(made.bearer.find('.') + 1);
  EXPECT_GE(secret.size(), 43u);
  EXPECT_EQ(file.find(secret), std::string::npos);
  const auto tokens = parse_tokens(file).value();
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].name, "shop");
  EXPECT_EQ(tokens[0].roles, made.token.roles);
  EXPECT_EQ(tokens[0].namespaces, made.token.namespaces);
  EXPECT_EQ(tokens[0].salt, made.token.salt);
  EXPECT_EQ(tokens[0].hash, made.token.hash);
  const NewToken second = make_token("shop", {Role::read}).value();
  EXPECT_NE(second.token.salt, made.token.salt);
  EXPECT_NE(second.bearer, made.bearer);
}

TEST(Tokens, SayWhereTheirFileIsWrong) {
  const auto message = [](std::string_view text) { return parse_tokens(text).error().message(); };
  EXPECT_NE(message("{").find("byte 1"), std::string::npos) << message("{");
  EXPECT_NE(message(R"({"tokens":[{"name":"a","roles":["king"],"salt":"","hash":""}]})")
                .find("/tokens/0/roles/0"),
            std::string::npos);
  EXPECT_NE(message(R"({"tokens":[{"nam":"a"}]})").find("'nam'"), std::string::npos);
  EXPECT_NE(message(R"({"tokens":[{}]})").find("/tokens/0/name"), std::string::npos);
  EXPECT_FALSE(make_token("", {Role::read}));
  EXPECT_FALSE(make_token("a.b", {Role::read}));
  EXPECT_FALSE(make_token("a", {}));
}

TEST_F(Security, TokensThatAreMalformedAreRefusedAtTheStart) {
  const Token token = make_token("a", {Role::read}).value().token;
  Token short_hash = token;
  short_hash.hash = "00";
  Token no_salt = token;
  no_salt.salt = "";
  for (const std::vector<Token>& tokens :
       {std::vector<Token>{token, token}, std::vector<Token>{short_hash},
        std::vector<Token>{no_salt}}) {
    const auto refused = Gateway::start({&store(), &database()}, {.port = 0, .tokens = tokens});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error() == Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace weir::server
