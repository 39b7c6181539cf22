// What somebody who watches asks for: the whole, the graph of flows, dead letters.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/server/internal/json_reader.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/websocket_client.hpp>

namespace weir::server {
namespace {

using internal::JsonDocument;
using internal::JsonReader;
using test::Reply;
using test::text_of;

ActorSystemOptions quiet() {
  return {.name = "watched", .on_dead_letter = [](const DeadLetter&) {}};
}

class Overview : public test::GatewayTest {
 protected:
  Overview() : GatewayTest(quiet()) { start(); }

  JsonReader read(std::string_view target) {
    const Reply reply = get(target);
    EXPECT_EQ(reply.status, 200) << target << ": " << reply.body;
    documents_.push_back(std::make_unique<JsonDocument>(*JsonDocument::parse(reply.body, 64)));
    return documents_.back()->root();
  }
  static std::uint64_t number(const JsonReader& json, std::string_view name) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(json.required(name)->scalar()));
  }
  static std::string text(const JsonReader& json, std::string_view name) {
    return std::string(*json.required(name)->text());
  }
  /// Of the graph of flows.
  JsonReader node(std::string_view name) {
    for (const JsonReader& one : *read("/api/v1/flows").required("nodes")->items())
      if (text(one, "name") == name) return one;
    ADD_FAILURE() << "there is no node " << name;
    return documents_.back()->root();
  }
  std::string edges() {
    std::string all;
    for (const JsonReader& edge : *read("/api/v1/flows").required("edges")->items()) {
      all += text(edge, "from") + " -> " + text(edge, "to") + " " +
             std::to_string(number(edge, "rows")) + "\n";
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<JsonDocument>> documents_;
};

TEST_F(Overview, CountsWhatIsDone) {
  const JsonReader before = read("/api/v1/overview");
  EXPECT_EQ(text(before, "name"), "watched");
  EXPECT_TRUE(before.required("executions")->is_null());
  insert({{1, "apples", 100}, {2, "pears", 2000}});
  const JsonReader after = read("/api/v1/overview");
  // The commit of the rows, and one at least of the views that follow.
  EXPECT_GE(number(after, "commits"), number(before, "commits") + 2);
  EXPECT_EQ(number(after, "version") - number(before, "version"),
            number(after, "commits") - number(before, "commits"));
  // Two orders, one that is large, two items.
  EXPECT_EQ(number(after, "rows_changed"), number(before, "rows_changed") + 5);
  EXPECT_GT(number(after, "messages_handled"), number(before, "messages_handled"));
  EXPECT_GT(number(after, "actors"), 3u);
  EXPECT_GT(number(after, "resident_bytes"), 1'000'000u);
  EXPECT_EQ(number(*after.required("views"), "total"), 2u);
  EXPECT_EQ(number(*after.required("views"), "quarantined"), 0u);
}

TEST_F(Overview, GivesTablesAndViewsAsAGraphWithTheRowsThatWentAlongIt) {
  insert({{1, "apples", 100}, {2, "pears", 2000}});
  EXPECT_EQ(edges(), "shop.orders -> items 2\nshop.orders -> shop.large 2\n");
  const Reply reply = post("/api/v1/transactions", R"({"operations":[
      {"op":"update","table":"shop.orders","row":{"id":2,"item":"pears","cents":3000}}]})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  insert({{3, "figs", 1}});
  // An update is a row that goes and one that comes.
  EXPECT_EQ(edges(), "shop.orders -> items 5\nshop.orders -> shop.large 5\n");
  EXPECT_EQ(number(node("shop.orders"), "rows_out"), 5u);
  EXPECT_EQ(text(node("shop.orders"), "kind"), "table");
  const JsonReader large = node("shop.large");
  EXPECT_EQ(number(large, "rows_in"), 5u);
  EXPECT_EQ(number(large, "rows_out"), 3u);
  EXPECT_EQ(text(large, "mode"), "deferred");
  EXPECT_EQ(text(large, "state"), "live");
  // Its own commit is seen a moment later.
  while (number(node("shop.large"), "lag_versions") > 0) std::this_thread::yield();
  EXPECT_TRUE(large.required("progress")->is_null());
}

TEST_F(Overview, CountsRowsOfTransactionalViewsToo) {
  const auto plan = from(orders()).filter(flow::data::col("cents") < 10);
  const flow::view::ViewOptions options{.update = flow::view::ViewUpdate::transactional};
  const auto small = run(database().create_view("shop.small", plan, options)).value();
  run(database().fresh(small, store().version())).value();
  insert({{1, "apples", 1}, {2, "pears", 2000}});
  const JsonReader view = node("shop.small");
  EXPECT_EQ(text(view, "mode"), "transactional");
  EXPECT_EQ(number(view, "rows_in"), 2u);
  EXPECT_EQ(number(view, "rows_out"), 1u);
  EXPECT_NE(edges().find("shop.orders -> shop.small 2\n"), std::string::npos);
}

TEST_F(Overview, TellsOfAViewThatStandsStill) {
  using flow::data::col;
  auto shares = from(orders()).map({{"id", col("id")}, {"share", 1000 / col("cents")}});
  const auto view = run(database().create_view("shop.shares", shares)).value();
  run(database().fresh(view, store().version())).value();
  insert({{1, "free", 0}});
  EXPECT_FALSE(run(database().fresh(view, store().version())));
  insert({{2, "apples", 10}});
  const JsonReader stopped = node("shop.shares");
  EXPECT_EQ(text(stopped, "state"), "quarantined");
  EXPECT_TRUE(std::get<bool>(stopped.required("stopped")->scalar()));
  EXPECT_NE(text(stopped, "error").find("division by zero"), std::string::npos);
  EXPECT_GT(number(stopped, "lag_versions"), 0u);
  const JsonReader overview = read("/api/v1/overview");
  EXPECT_EQ(number(*overview.required("views"), "quarantined"), 1u);
  EXPECT_EQ(number(overview, "lag_versions"), number(node("shop.shares"), "lag_versions"));
}

TEST_F(Overview, CountsThoseWhoSubscribe) {
  const auto subscriptions = [&] { return number(read("/api/v1/overview"), "subscriptions"); };
  EXPECT_EQ(subscriptions(), 0u);
  {
    test::WebSocketClient client(gateway().port(), "/api/v1/views/items/subscribe");
    ASSERT_TRUE(client.is_open()) << client.reply().body;
    EXPECT_EQ(client.next().type(), "snapshot");
    EXPECT_EQ(subscriptions(), 1u);
  }
  while (subscriptions() > 0) std::this_thread::yield();
}

struct Note {};
class Sink final : public Actor<Note> {
 public:
  void on(Note) {}
};

TEST_F(Overview, ListsTheNewestDeadLetters) {
  EXPECT_EQ(number(read("/api/v1/dead_letters"), "total"), 0u);
  auto sink = system().spawn<Sink>(SpawnOptions{.name = "drain"});
  sink.stop();
  while (sink.is_alive()) std::this_thread::yield();
  for (int sent = 0; sent < 200; ++sent) sink.send<Note>();
  const JsonReader letters = read("/api/v1/dead_letters");
  EXPECT_EQ(number(letters, "total"), 200u);
  EXPECT_EQ(number(*letters.required("counts"), "actor_stopped"), 200u);
  for (const char* reason : {"mailbox_full", "dropped_newest", "dropped_oldest", "abandoned"})
    EXPECT_EQ(number(*letters.required("counts"), reason), 0u) << reason;
  const auto newest = *letters.required("newest")->items();
  ASSERT_EQ(newest.size(), 128u);
  EXPECT_EQ(text(newest[0], "reason"), "actor_stopped");
  EXPECT_EQ(text(newest[0], "actor_name"), "drain");
  EXPECT_NE(text(newest[0], "message").find("Note"), std::string::npos);
  EXPECT_EQ(number(newest[0], "actor"), sink.id().value);
  EXPECT_EQ(number(read("/api/v1/overview"), "dead_letters"), 200u);
}

TEST_F(Overview, ShowsATokenOfANamespaceOnlyWhatIsThere) {
  const NewToken made = make_token("shop", {Role::read}, {"shop"}).value();
  let_go();
  start({.tokens = {made.token}});
  const std::string bearer = "Authorization: Bearer " + made.bearer + "\r\n";
  const std::string flows = get("/api/v1/flows", bearer).body;
  EXPECT_NE(flows.find(R"("from":"shop.orders","to":"shop.large")"), std::string::npos) << flows;
  EXPECT_EQ(flows.find("items"), std::string::npos) << flows;
  for (const char* target : {"/api/v1/overview", "/api/v1/dead_letters"})
    EXPECT_EQ(text_of(get(target, bearer), "code"), "wrong_namespace") << target;
}

// The page.

class Console : public test::GatewayTest {
 protected:
  Console() { start({.tokens = {make_token("somebody", {Role::read}).value().token}}); }
};

TEST_F(Console, IsForEverybodyAndLetsNothingElseIn) {
  const Reply page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<title>Weir</title>"), std::string::npos);
  const std::string policy = page.headers.at("content-security-policy");
  EXPECT_NE(policy.find("default-src 'none'; script-src 'self';"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(get("/api/v1/overview").status, 401);
  EXPECT_EQ(get("/console/main.js").headers.at("content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/console/console.css").headers.at("content-type"), "text/css; charset=utf-8");
  EXPECT_EQ(get("/console/icon.svg").headers.at("content-type"), "image/svg+xml");
  EXPECT_EQ(get("/console/").status, 404);
  EXPECT_EQ(get("/console/../gateway.hpp").status, 404);
}

TEST_F(Console, IsNotSentAgainToWhoHasIt) {
  const Reply first = get("/console/main.js");
  EXPECT_EQ(first.headers.at("cache-control"), "no-cache");
  const std::string tag = first.headers.at("etag");
  auto client = connect();
  client->send("GET /console/main.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: W/" + tag +
               "\r\n\r\n");
  const Reply again = client->receive(false);
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.headers.at("etag"), tag);
  EXPECT_FALSE(again.headers.contains("content-length"));
  // And the connection goes on.
  EXPECT_EQ(client->get("/console/main.js", "If-None-Match: \"other\"\r\n").body, first.body);
  EXPECT_NE(get("/console/dom.js").headers.at("etag"), tag);
}

// What is asked for must be there: a page that names a file which is not embedded stays empty.
TEST_F(Console, HasEveryFileThatItNames) {
  std::size_t named = 0;
  for (const char* file : {"/", "/console/main.js", "/console/overview.js", "/console/views.js",
                           "/console/workflows.js", "/console/graph.js"}) {
    const std::string text = get(file).body;
    for (const std::string_view begin : {"\"/console/", "'./"}) {
      for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        at += begin.size();
        const std::string name = text.substr(at, text.find_first_of("\"'", at) - at);
        EXPECT_EQ(get("/console/" + name).status, 200) << file << " names " << name;
        ++named;
      }
    }
  }
  EXPECT_GT(named, 20u);
}

}  // namespace
}  // namespace weir::server
