// HTTP itself: connections, pipelining, limits, time that is over, and stopping.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weir/server/errc.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using namespace std::chrono_literals;
using test::Client;
using test::Reply;
using test::text_of;

class Http : public test::GatewayTest {};

constexpr std::string_view health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string times(std::string_view text, int count) {
  std::string all;
  for (int index = 0; index < count; ++index) all += text;
  return all;
}

TEST_F(Http, AnswersARequestWithWhatItIsAndHowLongItIs) {
  start();
  const Reply reply = get("/healthz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"status":"ok"})");
  EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  EXPECT_EQ(reply.headers.at("content-length"), "15");
  EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(reply.headers.at("date").size(), std::string("Tue, 17 Nov 2026 18:00:00 GMT").size());
}

TEST_F(Http, KeepsAConnectionForManyRequests) {
  start();
  auto client = connect();
  for (int index = 0; index < 100; ++index) EXPECT_EQ(client->get("/healthz").status, 200);
  EXPECT_EQ(gateway().connections(), 1u);
}

TEST_F(Http, ClosesWhenItIsAskedTo) {
  start();
  auto client = connect();
  EXPECT_EQ(client->get("/healthz", "Connection: close\r\n").headers.at("connection"), "close");
  EXPECT_EQ(client->receive().status, 0);
}

TEST_F(Http, ClosesAfterAnAnswerToHttp10UnlessToldToKeepAlive) {
  start();
  auto client = connect();
  client->send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client->receive_all().substr(0, 15), "HTTP/1.0 200 OK");
  auto other = connect();
  other->send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(other->receive().headers.at("connection"), "keep-alive");
  EXPECT_EQ(other->get("/healthz").status, 200);
}

TEST_F(Http, AnswersRequestsThatComeTogetherInTheirOrder) {
  start();
  insert({{1, "apples", 100}, {2, "pears", 2000}});
  auto client = connect();
  std::string requests;
  for (int index = 0; index < 200; ++index) {
    requests += "GET /api/v1/tables/shop.orders/rows/" + std::to_string(1 + index % 3) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  client->send(requests);
  for (int index = 0; index < 200; ++index)
    EXPECT_EQ(client->receive().status, index % 3 == 2 ? 404 : 200) << index;
}

TEST_F(Http, TakesARequestByteByByte) {
  start();
  auto client = connect();
  for (const char byte : health) client->send(std::string(1, byte));
  EXPECT_EQ(client->receive().status, 200);
}

TEST_F(Http, TakesABodyInChunks) {
  start();
  auto client = connect();
  client->send(
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
      "Content-Type: application/json\r\n\r\n");
  const std::string body =
      R"({"operations":[{"op":"insert","table":"shop.orders","row":{"id":1,"item":"a"}}]})";
  for (const char byte : body) client->send("1\r\n" + std::string(1, byte) + "\r\n");
  client->send("0\r\n\r\n");
  EXPECT_EQ(client->receive().status, 200);
}

TEST_F(Http, TellsAClientThatWaitsToGoOn) {
  start();
  auto client = connect();
  const std::string body = R"({"operations":[]})";
  client->send(
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(client->receive(false).status, 100);
  client->send(body);
  EXPECT_EQ(client->receive().status, 422);
}

TEST_F(Http, HeadHasTheHeadersOfGetAndNoBody) {
  start();
  auto client = connect();
  const Reply reply = client->request("HEAD", "/healthz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-length"), "15");
  const Reply next = client->get("/healthz");
  EXPECT_EQ(next.status, 200);
  EXPECT_EQ(next.body, R"({"status":"ok"})");
}

TEST_F(Http, SaysWhichMethodsThereAre) {
  start();
  auto client = connect();
  const Reply options = client->request("OPTIONS", "/api/v1/tables");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.at("allow"), "GET, HEAD, OPTIONS");
  const Reply wrong = client->request("DELETE", "/api/v1/tables");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(text_of(wrong, "code"), "wrong_method");
  EXPECT_EQ(client->request("OPTIONS", "/api/v1/savepoints/x").headers.at("allow"),
            "PUT, DELETE, OPTIONS");
  EXPECT_EQ(client->request("OPTIONS", "*").status, 204);
}

TEST_F(Http, HangsUpOnWhoSendsNothing) {
  start({.limits = {.idle_time = 20ms}});
  auto client = connect();
  EXPECT_EQ(client->receive_all(), "");
  auto second = connect();
  EXPECT_EQ(second->get("/healthz").status, 200);
  EXPECT_EQ(second->receive_all(), "");
}

// A byte now and then would keep a connection for ever if each of them won time.
TEST_F(Http, HangsUpOnWhoSendsAHeaderTooSlowly) {
  start({.limits = {.header_time = 50ms}});
  auto client = connect();
  client->send("GET /healthz HTTP/1.1\r\n");
  const Reply reply = client->receive();
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(text_of(reply, "code"), "header_too_slow");
  EXPECT_EQ(client->receive().status, 0);
}

TEST_F(Http, EveryByteOfASlowHeaderDoesNotWinTime) {
  start({.limits = {.header_bytes_max = std::size_t{1} << 30, .header_time = 50ms}});
  auto client = connect();
  client->send("GET /healthz HTTP/1.1\r\nX-Long: ");
  while (gateway().connections() == 0) std::this_thread::yield();
  // Until the server has hung up: it must, although it is never idle.
  std::thread writer([&] {
    while (gateway().connections() > 0) client->send("X");
  });
  EXPECT_EQ(client->receive().status, 408);
  client->receive_all();
  writer.join();
}

TEST_F(Http, HangsUpOnWhoSendsABodyTooSlowly) {
  start({.limits = {.body_time = 50ms}});
  auto client = connect();
  client->send(
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 100\r\n\r\n{");
  EXPECT_EQ(text_of(client->receive(), "code"), "body_too_slow");
}

TEST_F(Http, HangsUpOnWhoDoesNotTakeItsAnswers) {
  start({.limits = {.write_time = 50ms}});
  std::vector<Row> rows;
  for (int id = 0; id < 500; ++id) rows.push_back({id, std::string(10'000, 'x'), 1});
  insert(rows);
  auto client = connect();
  client->send(times(
      "GET /api/v1/tables/shop.orders/rows?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n", 20));
  while (gateway().connections() == 0) std::this_thread::yield();
  // Nothing is read: the answers do not fit into the buffers between.
  while (gateway().connections() > 0) std::this_thread::yield();
  EXPECT_LT(client->receive_all().size(), 20u * 4'000'000u);
}

TEST_F(Http, ServesOthersWhileManyAreSlow) {
  start();
  std::vector<std::unique_ptr<Client>> slow;
  for (int index = 0; index < 200; ++index) {
    slow.push_back(connect());
    slow.back()->send("GET /healthz HTTP/1.1\r\nX-Slow: ");
  }
  auto client = connect();
  for (int index = 0; index < 100; ++index) EXPECT_EQ(client->get("/healthz").status, 200);
}

TEST_F(Http, RefusesMoreConnectionsThanThereMayBe) {
  start({.limits = {.connections_max = 2}});
  auto first = connect();
  auto second = connect();
  EXPECT_EQ(first->get("/healthz").status, 200);
  EXPECT_EQ(second->get("/healthz").status, 200);
  auto third = connect();
  third->send(
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
  third->send(std::string(100'000, 'x'));
  const Reply refused = third->receive();
  EXPECT_EQ(text_of(refused, "code"), "too_many_connections");
  EXPECT_EQ(text_of(refused, "detail"), "there are at most 2 connections at once: try again later");
  EXPECT_EQ(refused.headers.at("date").find("1970"), std::string::npos);
  third.reset();
  first.reset();
  while (gateway().connections() > 1) std::this_thread::yield();
  // The listener learns of it a moment later.
  for (int status = 0; status != 200;) {
    auto again = connect();
    status = again->get("/healthz").status;
  }
}

TEST_F(Http, StoppingAnswersWhatIsUnderWayAndHangsUpOnTheOthers) {
  start({.drain = 60s});
  const auto version = insert({{1, "apples", 100}});
  auto idle = connect();
  EXPECT_EQ(idle->get("/healthz").status, 200);
  // What comes together is read together: with the first answer the server has seen the rest.
  auto waiting = connect();
  waiting->send(std::string(health) + "GET /api/v1/log?wait=60000&after=" + to_string(version) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(waiting->receive().status, 200);
  auto half = connect();
  half->send(std::string(health) + "GET /readyz HTTP/1.1\r\n");
  EXPECT_EQ(half->receive().status, 200);
  std::thread rest([&] {
    // When the others are gone the gateway is stopping, and waits for this one.
    idle->receive_all();
    half->send("Host: localhost\r\n\r\n");
  });
  const auto report = run(gateway().stop());
  rest.join();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->cut_off, 0u);
  const Reply last = half->receive();
  EXPECT_EQ(text_of(last, "code"), "stopping");
  EXPECT_EQ(last.headers.at("connection"), "close");
  EXPECT_EQ(waiting->receive().status, 200);
  EXPECT_EQ(gateway().connections(), 0u);
}

TEST_F(Http, StoppingCutsOffWhoIsNotDoneInTime) {
  start({.drain = 20ms});
  auto half = connect();
  half->send(std::string(health) + "GET /readyz HTTP/1.1\r\n");
  EXPECT_EQ(half->receive().status, 200);
  const auto report = run(gateway().stop());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->cut_off, 1u);
  EXPECT_EQ(half->receive_all(), "");
}

// The database may go right after it: no request may be under way then.
TEST_F(Http, LettingItGoCutsEverybodyOff) {
  start();
  insert({{1, "apples", 100}});
  auto waiting = connect();
  waiting->send(std::string(health) + "GET /api/v1/log?wait=60000&after=" +
                to_string(store().version()) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(waiting->receive().status, 200);
  let_go();
  for (const ActorInfo& actor : system().actors()) EXPECT_NE(actor.name, "connection");
  EXPECT_EQ(waiting->receive_all(), "");
}

TEST_F(Http, APortThatIsTakenIsRefused) {
  start();
  const auto second = Gateway::start({&store(), &database()}, {.port = gateway().port()});
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error() == Errc::cannot_listen) << second.error().message();
}

TEST_F(Http, AnAddressThatIsNoneIsRefused) {
  const auto refused = Gateway::start({&store(), &database()}, {.address = "localhost"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == Errc::invalid_argument) << refused.error().message();
}

}  // namespace
}  // namespace weir::server
