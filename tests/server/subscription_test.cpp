// Subscriptions over WebSockets: what is sent, how much of it, and how it ends.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/tls_client.hpp>
#include <weir/tests/server/support/websocket_client.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::server {
namespace {

using namespace std::chrono_literals;
using test::client_frame;
using test::Frame;
using test::Message;
using test::Reply;
using test::text_of;
using test::WebSocketClient;

constexpr std::string_view to_large = "/api/v1/views/shop.large/subscribe";

class Subscribing : public test::GatewayTest {
 protected:
  Subscribing()
      : GatewayTest(ActorSystemOptions{},
                    {.history = std::chrono::hours(1), .log = std::chrono::hours(1)}) {}
  using GatewayTest::GatewayTest;

  std::unique_ptr<WebSocketClient> subscribe(std::string_view target,
                                             std::string_view headers = {}) {
    auto client = std::make_unique<WebSocketClient>(gateway().port(), target, headers);
    EXPECT_TRUE(client->is_open()) << client->reply().body;
    return client;
  }
  /// What is answered instead of a WebSocket.
  std::string refused(std::string_view target, std::string_view headers = {}) {
    const WebSocketClient client(gateway().port(), target, headers);
    EXPECT_FALSE(client.is_open()) << target;
    return text_of(client.reply(), "code");
  }
  std::size_t actors_named(std::string_view name) {
    std::size_t count = 0;
    for (const ActorInfo& actor : system().actors()) count += actor.name == name ? 1 : 0;
    return count;
  }
  /// Rows of 1000 cents, each in a commit of its own.
  void insert_each(int first, int count, std::size_t bytes = 1) {
    for (int id = first; id < first + count; ++id) insert({{id, std::string(bytes, 'x'), 1000}});
  }
};

std::size_t rows_of(const Message& message) {
  return message.root().required("rows")->items()->size();
}

/// The first number in the first row.
std::int64_t id_of(const Message& message) {
  const auto rows = *message.root().required("rows")->items();
  return std::get<std::int64_t>(rows.at(0).required("id")->scalar());
}

std::vector<std::int64_t> weights_of(const Message& message) {
  std::vector<std::int64_t> weights;
  const auto values = *message.root().required("weights")->items();
  for (const auto& weight : values) weights.push_back(std::get<std::int64_t>(weight.scalar()));
  return weights;
}

/// Neither of two answers has anything before it: nothing is waiting to be sent.
void expect_silence(WebSocketClient& client) {
  for (const char* text : {"a", "b"}) {
    client.send_frame(0x89, text);
    const Frame frame = client.receive();
    EXPECT_EQ(frame.opcode, 10) << frame.payload;
    EXPECT_EQ(frame.payload, text);
  }
}

/// The next frame that is no text.
Frame receive_other(WebSocketClient& client) {
  for (;;) {
    Frame frame = client.receive();
    if (!frame.is_text()) return frame;
  }
}

TEST_F(Subscribing, TheRowsThatAreThereAndThenEveryChange) {
  start();
  const auto version = insert({{1, "apples", 2000}, {2, "pears", 10}});
  auto client = subscribe(to_large);
  EXPECT_EQ(client->reply().headers.at("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const Message snapshot = client->next();
  EXPECT_EQ(snapshot.type(), "snapshot");
  EXPECT_EQ(snapshot.version(), version.number);
  EXPECT_EQ(rows_of(snapshot), 1u);
  EXPECT_TRUE(snapshot.is_done());
  EXPECT_NE(snapshot.text("token"), "");
  insert({{3, "plums", 3000}});
  const Message change = client->next();
  EXPECT_EQ(change.type(), "change");
  EXPECT_GT(change.version(), version.number);
  EXPECT_EQ(id_of(change), 3);
  EXPECT_EQ(weights_of(change), (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(change.is_done());
  EXPECT_NE(change.text("token"), snapshot.text("token"));
}

TEST_F(Subscribing, TablesCanBeSubscribedToAndEmptyOnesHaveAnEmptySnapshot) {
  start();
  auto client = subscribe("/api/v1/tables/shop.orders/subscribe");
  const Message snapshot = client->next();
  EXPECT_EQ(rows_of(snapshot), 0u);
  EXPECT_TRUE(snapshot.is_done());
  insert({{1, "apples", 1}, {2, "pears", 2}});
  EXPECT_EQ(rows_of(client->next()), 2u);
}

TEST_F(Subscribing, RowsWithoutAPrimaryKeyHaveWeightsInASnapshotToo) {
  insert({{1, "apples", 1}, {2, "apples", 2}});
  start();
  auto client = subscribe("/api/v1/views/items/subscribe");
  EXPECT_EQ(weights_of(client->next()), (std::vector<std::int64_t>{2}));
}

TEST_F(Subscribing, ALargeSnapshotComesInPages) {
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, std::string(200, 'x'), 1000});
  insert(rows);
  start();
  auto client = subscribe(to_large);
  std::size_t count = 0;
  std::size_t pages = 0;
  for (bool is_done = false; !is_done; ++pages) {
    const Message page = client->next();
    count += rows_of(page);
    is_done = page.is_done();
    EXPECT_EQ(page.text("token").empty(), !is_done);
  }
  EXPECT_EQ(count, 1000u);
  EXPECT_GT(pages, 3u);
}

TEST_F(Subscribing, ALargeCommitComesInPartsOfWhichTheLastHasTheToken) {
  start();
  auto client = subscribe(std::string(to_large) + "?snapshot=false");
  EXPECT_EQ(client->next().type(), "position");
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, std::string(200, 'x'), 1000});
  insert(rows);
  std::size_t count = 0;
  std::size_t parts = 0;
  std::uint64_t version = 0;
  for (bool is_done = false; !is_done; ++parts) {
    const Message part = client->next();
    if (parts > 0) EXPECT_EQ(part.version(), version);
    version = part.version();
    EXPECT_EQ(weights_of(part).size(), rows_of(part));
    count += rows_of(part);
    is_done = part.is_done();
    EXPECT_EQ(part.text("token").empty(), !is_done);
  }
  EXPECT_EQ(count, 1000u);
  EXPECT_GT(parts, 3u);
}

TEST_F(Subscribing, WithoutASnapshotItIsToldWhereItIs) {
  const auto version = insert({{1, "apples", 2000}});
  start();
  auto client = subscribe(std::string(to_large) + "?snapshot=false");
  const Message position = client->next();
  EXPECT_EQ(position.type(), "position");
  EXPECT_EQ(position.version(), version.number);
  insert_each(2, 1);
  EXPECT_EQ(id_of(client->next()), 2);
}

TEST_F(Subscribing, ATokenGoesOnBehindWhatWasSeen) {
  start();
  insert_each(1, 2);
  std::string token;
  {
    auto first = subscribe(std::string(to_large));
    EXPECT_EQ(rows_of(first->next()), 2u);
    insert_each(3, 3);
    token = first->next().text("token");
  }
  insert_each(6, 2);
  auto second = subscribe(std::string(to_large) + "?resume=" + token);
  for (int id = 4; id < 8; ++id) EXPECT_EQ(id_of(second->next()), id);
}

TEST_F(Subscribing, RequestsThatAskForNoWebSocketAreToldTo) {
  start();
  const Reply plain = get(to_large);
  EXPECT_EQ(plain.status, 426);
  EXPECT_EQ(text_of(plain, "code"), "upgrade_required");
  EXPECT_EQ(plain.headers.at("upgrade"), "websocket");
  EXPECT_EQ(plain.headers.at("sec-websocket-version"), "13");
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string asks = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const std::string is_13 = "Sec-WebSocket-Version: 13\r\n";
  EXPECT_EQ(get(to_large, asks + key + "Sec-WebSocket-Version: 8\r\n").status, 426);
  EXPECT_EQ(get(to_large, "Connection: Upgrade\r\nUpgrade: h2c\r\n" + key + is_13).status, 426);
  EXPECT_EQ(get(to_large, "Upgrade: websocket\r\n" + key + is_13).status, 426);
  EXPECT_EQ(get(to_large, asks + is_13).status, 400);
  EXPECT_EQ(get(to_large, asks + is_13 + key + key).status, 400);
  EXPECT_EQ(get(to_large, asks + is_13 + "Sec-WebSocket-Key: short\r\n").status, 400);
  EXPECT_EQ(connect()->request("HEAD", to_large, "", asks + is_13 + key).status, 426);
}

TEST_F(Subscribing, NoMoreMessagesComeThanWereGranted) {
  start();
  auto witness = subscribe(std::string(to_large) + "?snapshot=false");
  witness->next();
  auto client = subscribe(std::string(to_large) + "?credit=1");
  EXPECT_EQ(client->next().type(), "snapshot");
  insert_each(1, 5);
  for (int id = 1; id <= 5; ++id) EXPECT_EQ(id_of(witness->next()), id);
  expect_silence(*client);
  client->grant(2);
  EXPECT_EQ(id_of(client->next()), 1);
  EXPECT_EQ(id_of(client->next()), 2);
  expect_silence(*client);
  client->grant(100);
  for (int id = 3; id <= 5; ++id) EXPECT_EQ(id_of(client->next()), id);
}

TEST_F(Subscribing, ACreditOfNoneWaitsWithTheSnapshotToo) {
  start();
  auto client = subscribe(std::string(to_large) + "?credit=0");
  expect_silence(*client);
  client->grant(1);
  EXPECT_EQ(client->next().type(), "snapshot");
}

// More than the feed keeps: what was missed is read from the log.
TEST_F(Subscribing, WhoWasPausedGetsEverythingInItsOrder) {
  start();
  auto witness = subscribe(std::string(to_large) + "?snapshot=false");
  witness->next();
  auto client = subscribe(std::string(to_large) + "?snapshot=false&credit=2");
  client->next();
  insert_each(0, 200, 10'000);
  for (int id = 0; id < 200; ++id) EXPECT_EQ(id_of(witness->next()), id);
  EXPECT_EQ(id_of(client->next()), 0);
  for (int id = 1; id < 200; ++id) {
    client->grant(1);
    EXPECT_EQ(id_of(client->next()), id);
  }
  client->grant(10);
  insert_each(200, 2);
  EXPECT_EQ(id_of(client->next()), 200);
  EXPECT_EQ(id_of(client->next()), 201);
}

// Parts of one commit that the client has taken are not sent again when the rest comes from the
// log.
TEST_F(Subscribing, WhoWasPausedWithinACommitGetsTheRestOfItOnce) {
  start();
  auto witness = subscribe(std::string(to_large) + "?snapshot=false");
  witness->next();
  auto client = subscribe(std::string(to_large) + "?snapshot=false&credit=3");
  client->next();
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, std::string(5000, 'x'), 1000});
  insert(rows);
  std::size_t count = rows_of(client->next());
  count += rows_of(client->next());
  while (!witness->next().is_done()) {
  }
  insert_each(1000, 150, 10'000);
  for (int id = 1000; id < 1150; ++id) EXPECT_EQ(id_of(witness->next()), id);
  client->grant(100'000);
  for (bool is_done = false; !is_done;) {
    const Message part = client->next();
    count += rows_of(part);
    is_done = part.is_done();
  }
  EXPECT_EQ(count, 1000u);
  for (int id = 1000; id < 1150; ++id) EXPECT_EQ(id_of(client->next()), id);
}

TEST_F(Subscribing, ManyShareTheWorkAndAllGetEverything) {
  start();
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  for (int index = 0; index < 50; ++index) clients.push_back(subscribe(to_large));
  for (auto& client : clients) EXPECT_EQ(client->next().type(), "snapshot");
  EXPECT_EQ(actors_named("feeder"), 1u);
  insert_each(0, 20);
  for (auto& client : clients)
    for (int id = 0; id < 20; ++id) ASSERT_EQ(id_of(client->next()), id);
  clients.clear();
  while (actors_named("feeder") > 0) std::this_thread::yield();
}

TEST_F(Subscribing, AnsweredPingsHaveTheirText) {
  start();
  auto client = subscribe(to_large);
  client->next();
  client->send_frame(0x89, "are you there?");
  const Frame pong = client->receive();
  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.payload, "are you there?");
}

TEST_F(Subscribing, FramesRightBehindTheRequestAreHeard) {
  start();
  auto client = connect();
  client->send("GET " + std::string(to_large) + "?credit=0 HTTP/1.1\r\nHost: localhost\r\n" +
               std::string(test::upgrade_headers) + "\r\n" +
               client_frame(0x81, R"({"type":"credit","messages":1})") + client_frame(0x88, ""));
  const std::string all = client->receive_all();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << all;
  EXPECT_TRUE(all.ends_with(std::string("\x88\x00", 2)));
}

TEST_F(Subscribing, AMessageInFragmentsIsOne) {
  start();
  auto client = subscribe(std::string(to_large) + "?credit=0");
  client->send_frame(0x01, R"({"type":"cre)");
  client->send_frame(0x89, "");
  client->send_frame(0x80, R"(dit","messages":1})");
  EXPECT_EQ(client->receive().opcode, 10);
  EXPECT_EQ(client->next().type(), "snapshot");
}

TEST_F(Subscribing, AClientThatClosesIsAnsweredAndHungUpOn) {
  start();
  auto client = subscribe(to_large);
  client->send_frame(0x88,
                     "\x03\xe8"
                     "bye");
  EXPECT_EQ(client->receive_close().close_code(), 1000);
  EXPECT_EQ(client->receive().opcode, -1);
  while (gateway().connections() > 0) std::this_thread::yield();
}

TEST_F(Subscribing, WhatBreaksTheProtocolIsClosedWithItsCode) {
  start({.limits = {.message_bytes_max = 1000}});
  const std::vector<std::pair<std::string, int>> wrongs = {
      {client_frame(0x81, "{}", false), 1002},
      {client_frame(0x83, ""), 1002},
      {client_frame(0xc1, "{}"), 1002},
      {client_frame(0x80, "{}"), 1002},
      {client_frame(0x09, ""), 1002},
      {client_frame(0x88, "x"), 1002},
      {client_frame(0x82, "{}"), 1003},
      {client_frame(0x81, "\xff"), 1007},
      {client_frame(0x81, std::string(1001, ' ')), 1009},
      {client_frame(0x81, "{"), 4400},
      {client_frame(0x81, "[[[[[[[]]]]]]]"), 4400},
      {client_frame(0x81, "[]"), 4422},
      {client_frame(0x81, R"({"type":"credit"})"), 4422},
      {client_frame(0x81, R"({"type":"hello","messages":1})"), 4422},
      {client_frame(0x81, R"({"type":"credit","messages":0})"), 4422},
      {client_frame(0x81, R"({"type":"credit","messages":"1"})"), 4422},
      {client_frame(0x81, R"({"type":"credit","messages":1,"more":1})"), 4422}};
  for (const auto& [bytes, code] : wrongs) {
    auto client = subscribe(to_large);
    client->send_bytes(bytes);
    EXPECT_EQ(client->receive_close().close_code(), code) << bytes;
    client->send_frame(0x88, "");
    EXPECT_EQ(client->receive().opcode, -1);
  }
}

TEST_F(Subscribing, ATruncatedFrameAndTheEndLeaveNothingBehind) {
  start();
  for (const std::string& bytes :
       {std::string("\x81"), std::string("\x81\xfe\x01"), client_frame(0x81, "abc").substr(0, 7)}) {
    auto client = subscribe(to_large);
    client->send_bytes(bytes);
    client->finish();
    client->receive_close();
  }
  while (gateway().connections() > 0) std::this_thread::yield();
}

TEST_F(Subscribing, WhoIsSilentIsAskedAndHungUpOnIfThereIsNoAnswer) {
  start({.limits = {.ping_time = 500ms}});
  auto client = subscribe(to_large);
  client->next();
  EXPECT_EQ(receive_other(*client).opcode, 9);
  client->send_frame(0x8a, "");
  EXPECT_EQ(receive_other(*client).opcode, 9);
  EXPECT_EQ(receive_other(*client).opcode, -1);
}

TEST_F(Subscribing, WhoseViewDoesNotChangeIsToldHowFarItIsNowAndThen) {
  start({.limits = {.ping_time = 500ms}});
  auto client = subscribe(to_large);
  const std::string token = client->next().text("token");
  insert({{1, "too cheap", 1}});
  Frame frame = client->receive();
  while (frame.opcode == 9) {
    client->send_frame(0x8a, "");
    frame = client->receive();
  }
  ASSERT_TRUE(frame.is_text());
  EXPECT_EQ(Message(frame.payload).type(), "position");
  EXPECT_NE(Message(frame.payload).text("token"), token);
}

TEST_F(Subscribing, WhoDoesNotReadIsHungUpOn) {
  std::vector<Row> rows;
  for (int id = 0; id < 2000; ++id) rows.push_back({id, std::string(10'000, 'x'), 1000});
  insert(rows);
  start({.limits = {.write_time = 50ms}});
  auto client = subscribe(to_large);
  while (gateway().connections() > 0) std::this_thread::yield();
}

TEST_F(Subscribing, WhoDoesNotTakeItsSnapshotIsTooSlow) {
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, "x", 1000});
  insert(rows);
  start({.limits = {.write_time = 50ms}});
  auto client = subscribe(std::string(to_large) + "?credit=1");
  EXPECT_FALSE(client->next().is_done());
  const Message end = client->next();
  EXPECT_EQ(end.type(), "end");
  EXPECT_EQ(end.text("code"), "too_slow");
  EXPECT_EQ(client->receive_close().close_code(), 4408);
}

// Each message that is granted wins time for the next, but not for all of them.
TEST_F(Subscribing, WhoTakesItsSnapshotBitByBitIsTooSlowInTheEnd) {
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, "x", 1000});
  insert(rows);
  start({.limits = {.snapshot_time = 50ms}});
  auto client = subscribe(std::string(to_large) + "?credit=1");
  client->grant(1);
  Message last = client->next();
  while (last.type() == "snapshot") {
    EXPECT_FALSE(last.is_done());
    last = client->next();
  }
  EXPECT_EQ(last.type(), "end");
  EXPECT_EQ(last.text("code"), "too_slow");
  EXPECT_EQ(client->receive_close().close_code(), 4408);
}

TEST_F(Subscribing, AViewThatIsDroppedOrBuiltAgainEndsIt) {
  start();
  insert_each(1, 1);
  auto client = subscribe(to_large);
  client->next();
  run(database().rebuild(large())).value();
  const Message rebuilt = client->next();
  EXPECT_EQ(rebuilt.type(), "end");
  EXPECT_EQ(rebuilt.text("code"), "not_ready");
  EXPECT_EQ(client->receive_close().close_code(), 4503);
  run(database().fresh(large(), store().version())).value();
  auto again = subscribe(to_large);
  EXPECT_EQ(rows_of(again->next()), 1u);
  run(database().drop_view("shop.large")).value();
  EXPECT_EQ(again->next().text("code"), "stale_relation");
  EXPECT_EQ(again->receive_close().close_code(), 4409);
}

TEST_F(Subscribing, StoppingSaysGoodByeAndWaitsForTheAnswer) {
  start({.drain = 60s});
  auto client = subscribe(to_large);
  client->next();
  std::thread other_side([&] {
    const Message end = client->next();
    EXPECT_EQ(end.text("code"), "stopping");
    EXPECT_EQ(client->receive().close_code(), 1001);
    client->send_frame(0x88, "\x03\xe9");
    EXPECT_EQ(client->receive().opcode, -1);
  });
  const auto report = run(gateway().stop());
  other_side.join();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->cut_off, 0u);
  EXPECT_EQ(actors_named("feeder"), 0u);
}

TEST_F(Subscribing, LettingTheGatewayGoEndsSubscriptionsAndFeeds) {
  start();
  auto client = subscribe(to_large);
  client->next();
  let_go();
  EXPECT_EQ(actors_named("connection"), 0u);
  EXPECT_EQ(actors_named("feeder"), 0u);
}

TEST_F(Subscribing, ATokenMayComeAsAProtocolAsPagesCannotSetHeaders) {
  GatewayOptions options;
  const NewToken reader = make_token("reader", {Role::read}, {"shop"}).value();
  const NewToken writer = make_token("writer", {Role::write}).value();
  options.tokens = {reader.token, writer.token};
  start(options);
  const auto offer = [](const std::string& offers) {
    return "Sec-WebSocket-Protocol: " + offers + "\r\n";
  };
  auto client = subscribe(to_large, offer("weir.v1, bearer." + reader.bearer));
  EXPECT_EQ(client->reply().headers.at("sec-websocket-protocol"), "weir.v1");
  EXPECT_EQ(client->next().type(), "snapshot");
  subscribe(to_large, "Authorization: Bearer " + reader.bearer + "\r\n")->next();
  EXPECT_EQ(refused(to_large), "no_token");
  EXPECT_EQ(refused(to_large, offer("weir.v1")), "no_token");
  EXPECT_EQ(refused(to_large, offer("weir.v1, bearer.reader.wrong")), "wrong_token");
  EXPECT_EQ(refused(to_large, offer("weir.v1, bearer." + writer.bearer)), "wrong_role");
  EXPECT_EQ(refused("/api/v1/views/items/subscribe", offer("bearer." + reader.bearer)),
            "unknown_relation");
  // Only what becomes a WebSocket has its token there.
  EXPECT_EQ(text_of(get("/api/v1/tables", offer("bearer." + reader.bearer)), "code"), "no_token");
}

TEST_F(Subscribing, PagesFromElsewhereAreRefusedWhereNobodyNeedsAToken) {
  start();
  EXPECT_EQ(refused(to_large, "Origin: http://evil.example\r\n"), "wrong_origin");
  subscribe(to_large, "Origin: http://localhost:3000\r\n")->next();
}

TEST_F(Subscribing, WorksOverTls) {
  const storage::test::TemporaryDirectory directory;
  const std::string certificate = directory / "certificate.pem";
  const std::string key = directory / "key.pem";
  test::write_certificate(certificate, key);
  insert_each(1, 3);
  start({.tls = TlsOptions{certificate, key}});
  const std::string all = test::exchange_over_tls(
      gateway().port(), certificate,
      "GET " + std::string(to_large) + "?credit=0 HTTP/1.1\r\nHost: localhost\r\n" +
          std::string(test::upgrade_headers) + "\r\n" + client_frame(0x89, "ping") +
          client_frame(0x81, R"({"type":"hello"})") + client_frame(0x88, ""));
  EXPECT_TRUE(all.starts_with("HTTP/1.1 101 ")) << all;
  EXPECT_NE(all.find("ping"), std::string::npos);
  EXPECT_NE(all.find(R"({"type":"end","code":"invalid_value")"), std::string::npos) << all;
}

class Forgetting : public Subscribing {
 protected:
  // Of the log nothing is kept that the views have seen.
  Forgetting() : Subscribing(ActorSystemOptions{}, {.history = std::chrono::hours(1)}) {}
};

TEST_F(Forgetting, ATokenThatIsOlderThanTheLogIsOvertaken) {
  start();
  insert_each(1, 1);
  const std::string token = subscribe(to_large)->next().text("token");
  // Until its feed has gone, which keeps what it has not read.
  while (actors_named("feeder") > 0) std::this_thread::yield();
  insert_each(2, 3);
  run(store().collect()).value();
  EXPECT_EQ(refused(std::string(to_large) + "?resume=" + token), "overtaken");
}

// What is collected as soon as the views have seen it must wait for subscribers who take it.
TEST_F(Forgetting, WhoFollowsIsNotOvertakenHoweverLittleIsKept) {
  start();
  auto client = subscribe(to_large);
  client->next();
  constexpr int count = 300;
  std::thread writer([&] {
    for (int id = 0; id < count; ++id) {
      insert({{id, "x", 1000}});
      run(store().collect()).value();
    }
  });
  for (int rows = 0; rows < count;) {
    const Message change = client->next();
    ASSERT_EQ(change.type(), "change") << change.text("code");
    rows += static_cast<int>(rows_of(change));
  }
  writer.join();
}

TEST_F(Forgetting, WhoIsPausedForTooLongIsToldThatItWasOvertaken) {
  start({.limits = {.ping_time = 500ms}});
  auto witness = subscribe(std::string(to_large) + "?snapshot=false");
  witness->next();
  auto client = subscribe(std::string(to_large) + "?snapshot=false&credit=1");
  EXPECT_EQ(client->next().type(), "position");
  // Both answer pings, however long the rest takes: who does not is hung up on.
  std::future<Message> told = std::async(std::launch::async, [&] { return client->next(); });
  for (int id = 0; id < 150; ++id) {
    insert_each(id, 1, 10'000);
    Message change = witness->next();
    while (change.type() == "position") change = witness->next();
    EXPECT_EQ(id_of(change), id);
  }
  run(store().collect()).value();
  EXPECT_EQ(told.get().text("code"), "overtaken");
  EXPECT_EQ(client->receive_close().close_code(), 4410);
}

}  // namespace
}  // namespace weir::server
