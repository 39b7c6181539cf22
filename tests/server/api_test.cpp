// What callers ask for: tables, views, transactions, changes, the log, the process.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using test::Reply;
using test::text_of;

class Api : public test::GatewayTest {
 protected:
  Api() { start(); }

  std::string body(std::string_view target) {
    const Reply reply = get(target);
    EXPECT_EQ(reply.status, 200) << target << ": " << reply.body;
    return reply.body;
  }
  std::string code(std::string_view target, int status) {
    const Reply reply = get(target);
    EXPECT_EQ(reply.status, status) << target << ": " << reply.body;
    EXPECT_EQ(reply.headers.at("content-type"), "application/problem+json") << target;
    return text_of(reply, "code");
  }
  static std::string with(const storage::Version& version, std::string text) {
    const std::size_t at = text.find('#');
    return text.replace(at, 1, to_string(version));
  }
};

TEST_F(Api, ListsTablesWithTheirSchemas) {
  const std::string table =
      R"({"name":"shop.orders","appended":false,"schema":{"columns":[)"
      R"({"name":"id","type":"int64","nullable":false},)"
      R"({"name":"item","type":"text","nullable":false},)"
      R"({"name":"cents","type":"int64","nullable":true}],"primary_key":["id"]}})";
  EXPECT_EQ(body("/api/v1/tables"), R"({"tables":[)" + table + "]}");
  EXPECT_EQ(body("/api/v1/tables/shop.orders"), table);
  EXPECT_EQ(code("/api/v1/tables/shop.large", 404), "unknown_relation");
  EXPECT_EQ(code("/api/v1/tables/none", 404), "unknown_relation");
}

TEST_F(Api, GivesARowByItsKey) {
  const auto version = insert({{1, "apples", 100}, {2, "pears", 2000}});
  EXPECT_EQ(body("/api/v1/views/shop.large/rows/2"),
            with(version, R"({"version":#,"row":{"id":2,"item":"pears","cents":2000}})"));
  EXPECT_EQ(code("/api/v1/views/shop.large/rows/1", 404), "unknown_key");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows/x", 400), "malformed_key");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows/1,2", 400), "malformed_key");
  EXPECT_EQ(code("/api/v1/views/items/rows/pears", 400), "malformed_key");
}

// Relations are kept open between requests; what was altered meanwhile must show at once.
TEST_F(Api, SeesATableThatWasAlteredDroppedOrMadeAnew) {
  insert({{1, "apples", 100}});
  EXPECT_EQ(get("/api/v1/tables/shop.orders/rows/1").body.find("note"), std::string::npos);
  ASSERT_TRUE(run(database().add_column("shop.orders", {"note", flow::data::Kind::text, "new"})));
  EXPECT_NE(body("/api/v1/tables/shop.orders/rows/1").find(R"("note":"new")"), std::string::npos);
  ASSERT_TRUE(run(database().create_table("shop.more", orders().schema())));
  EXPECT_NE(body("/api/v1/tables/shop.more/rows").find(R"("rows":[])"), std::string::npos);
  ASSERT_TRUE(run(database().drop_table("shop.more")));
  EXPECT_EQ(code("/api/v1/tables/shop.more/rows", 404), "unknown_relation");
  using flow::data::Kind;
  auto schema = std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make({{"name", Kind::text, false}}, {"name"}).value());
  ASSERT_TRUE(run(database().create_table("shop.more", schema)));
  EXPECT_EQ(code("/api/v1/tables/shop.more/rows/1", 404), "unknown_key");
}

TEST_F(Api, GivesRowsPageByPage) {
  std::vector<Row> rows;
  for (int id = 1; id <= 5; ++id) rows.push_back({id, "item", id});
  insert(rows);
  std::string ids;
  std::string target = "/api/v1/tables/shop.orders/rows?limit=2";
  for (int pages = 1;; ++pages) {
    const Reply reply = get(target);
    for (int id = 1; id <= 5; ++id) {
      if (reply.body.find("\"id\":" + std::to_string(id)) != std::string::npos)
        ids += std::to_string(id);
    }
    ids += ' ';
    const std::string next = text_of(reply, "next");
    if (next == "null") {
      EXPECT_EQ(pages, 3);
      break;
    }
    target = "/api/v1/tables/shop.orders/rows?limit=2&after=" + next;
  }
  EXPECT_EQ(ids, "12 34 5 ");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows?limit=0", 400), "invalid_parameter");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows?limit=10001", 400), "invalid_parameter");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows?after=x", 400), "malformed_key");
}

TEST_F(Api, GivesRowsWithoutAPrimaryKeyWithTheirWeights) {
  const auto version = insert({{1, "apples", 1}, {2, "apples", 1}, {3, "pears", 1}});
  EXPECT_EQ(body("/api/v1/views/items/rows?limit=1"),
            with(version, R"({"version":#,"rows":[{"item":"apples"}],"weights":[2],"next":"1"})"));
  EXPECT_EQ(body("/api/v1/views/items/rows?limit=1&after=1"),
            with(version, R"({"version":#,"rows":[{"item":"pears"}],"weights":[1],"next":null})"));
}

TEST_F(Api, ReadsAnOlderVersion) {
  const auto before = insert({{1, "apples", 100}});
  const auto reply = post("/api/v1/transactions", R"({"operations":[
      {"op":"update","table":"shop.orders","row":{"id":1,"item":"pears","cents":null}}]})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(body("/api/v1/tables/shop.orders/rows/1?at=" + to_string(before)),
            with(before, R"({"version":#,"row":{"id":1,"item":"apples","cents":100}})"));
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows/1?at=99999999", 404), "future_version");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows/1?at=-1", 400), "invalid_parameter");
}

TEST_F(Api, CommitsATransactionWhollyOrNotAtAll) {
  insert({{1, "apples", 100}, {2, "pears", 200}});
  const Reply done = post("/api/v1/transactions", R"({"operations":[
      {"op":"insert","table":"shop.orders","row":{"id":3,"item":"figs"}},
      {"op":"update","table":"shop.orders","row":{"id":1,"item":"plums","cents":7}},
      {"op":"upsert","table":"shop.orders","row":{"id":4,"item":"kiwis","cents":8}},
      {"op":"delete","table":"shop.orders","key":{"id":2}}]})");
  ASSERT_EQ(done.status, 200) << done.body;
  const std::string rows = body("/api/v1/tables/shop.orders/rows?at=" + text_of(done, "version"));
  EXPECT_EQ(rows,
            R"({"version":)" + text_of(done, "version") +
                R"(,"rows":[{"id":1,"item":"plums","cents":7},{"id":3,"item":"figs","cents":null},)"
                R"({"id":4,"item":"kiwis","cents":8}],"next":null})");
  const Reply failed = post("/api/v1/transactions", R"({"operations":[
      {"op":"insert","table":"shop.orders","row":{"id":9,"item":"x"}},
      {"op":"insert","table":"shop.orders","row":{"id":1,"item":"x"}}]})");
  EXPECT_EQ(failed.status, 409);
  EXPECT_EQ(text_of(failed, "code"), "duplicate_key");
  EXPECT_EQ(text_of(failed, "pointer"), "/operations/1");
  EXPECT_EQ(code("/api/v1/tables/shop.orders/rows/9", 404), "unknown_key");
}

TEST_F(Api, TransactionsThatMeetAllGetThrough) {
  insert({{1, "counter", 0}});
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      auto client = connect();
      for (int index = 0; index < 25; ++index) {
        const std::string id = std::to_string(100 + writer * 100 + index);
        const Reply reply = client->request(
            "POST", "/api/v1/transactions",
            R"({"operations":[{"op":"upsert","table":"shop.orders","row":{"id":1,"item":"last"}},)"
            R"({"op":"insert","table":"shop.orders","row":{"id":)" +
                id + R"(,"item":"x"}}]})");
        EXPECT_EQ(reply.status, 200) << reply.body;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string rows = body("/api/v1/tables/shop.orders/rows?limit=1000");
  std::size_t count = 0;
  for (std::size_t at = 0; (at = rows.find("\"id\":", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 101u);
}

TEST_F(Api, AppendsToARingBuffer) {
  using flow::data::Kind;
  auto schema = std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make({{"line", Kind::text, false}}).value());
  ASSERT_TRUE(run(database().create_ring_buffer("lines", schema, 2)));
  for (const char* line : {"one", "two", "three"}) {
    const Reply reply =
        post("/api/v1/transactions",
             std::string(R"({"operations":[{"op":"append","table":"lines","row":{"line":")") +
                 line + R"("}}]})");
    ASSERT_EQ(reply.status, 200) << reply.body;
  }
  const std::string rows = body("/api/v1/tables/lines/rows");
  EXPECT_EQ(rows.find("one"), std::string::npos) << rows;
  EXPECT_NE(rows.find("three"), std::string::npos) << rows;
  const Reply wrong =
      post("/api/v1/transactions",
           R"({"operations":[{"op":"insert","table":"lines","row":{"line":"x"}}]})");
  EXPECT_EQ(text_of(wrong, "code"), "append_only");
  EXPECT_EQ(text_of(wrong, "pointer"), "/operations/0/op");
}

TEST_F(Api, TellsOfViews) {
  insert({{1, "apples", 100}});
  const std::string view = body("/api/v1/views/shop.large");
  EXPECT_NE(view.find(R"("phase":"live")"), std::string::npos) << view;
  EXPECT_NE(view.find(R"("stopped":false)"), std::string::npos) << view;
  EXPECT_NE(body("/api/v1/views").find(R"("name":"items")"), std::string::npos);
  EXPECT_EQ(body("/api/v1/views/shop.large/lag"), R"({"versions":0,"seconds":0})");
  EXPECT_EQ(body("/api/v1/quarantine"), R"({"views":[]})");
  EXPECT_EQ(code("/api/v1/views/shop.orders", 404), "unknown_relation");
}

class FailingView : public Api {
 protected:
  /// A view that divides by what customers pay.
  void make_shares() {
    using flow::data::col;
    auto shares = from(orders()).map({{"id", col("id")}, {"share", 1000 / col("cents")}});
    ASSERT_TRUE(run(database().create_view("shop.shares", shares)));
    const flow::view::Relation view = run(database().relation("shop.shares")).value();
    run(database().fresh(view, store().version())).value();
    insert({{1, "free", 0}});
    // It fails some times before it is given up.
    EXPECT_FALSE(run(database().fresh(view, store().version())));
  }
};

TEST_F(FailingView, IsListedAndGoesOnWhenItIsTold) {
  make_shares();
  const std::string listed = body("/api/v1/quarantine");
  EXPECT_NE(listed.find(R"("name":"shop.shares","status":{"phase":"quarantined")"),
            std::string::npos)
      << listed;
  EXPECT_NE(listed.find("division by zero"), std::string::npos) << listed;
  EXPECT_EQ(code("/api/v1/views/shop.shares/rows", 503), "not_ready");
  EXPECT_EQ(post("/api/v1/views/shop.shares/skip", "").status, 204);
  const flow::view::Relation view = run(database().relation("shop.shares")).value();
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  const std::string skipped = body("/api/v1/views/shop.shares");
  EXPECT_NE(skipped.find(R"("skipped":1,"exact":false)"), std::string::npos) << skipped;
  const Reply fixed = post("/api/v1/transactions", R"({"operations":[
      {"op":"upsert","table":"shop.orders","row":{"id":1,"item":"paid","cents":10}}]})");
  ASSERT_EQ(fixed.status, 200);
  EXPECT_EQ(post("/api/v1/views/shop.shares/rebuild", "").status, 204);
  ASSERT_TRUE(
      run(database().fresh(run(database().relation("shop.shares")).value(), store().version())));
  EXPECT_NE(body("/api/v1/views/shop.shares/rows").find(R"("share":100)"), std::string::npos);
}

TEST_F(Api, TailsTheChangesOfATable) {
  const auto before = store().version();
  const auto first = insert({{1, "apples", 100}});
  const Reply reply = get("/api/v1/tables/shop.orders/changes?after=" + to_string(before));
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_NE(
      reply.body.find(R"("changes":[{"weight":1,"row":{"id":1,"item":"apples","cents":100}}])"),
      std::string::npos)
      << reply.body;
  const std::string after = text_of(reply, "after");
  EXPECT_EQ(body("/api/v1/tables/shop.orders/changes?after=" + after).find("weight"),
            std::string::npos);
  // Somebody waits, and a commit wakes them.
  auto waiting = connect();
  waiting->send("GET /api/v1/views/shop.large/changes?wait=60000&after=" + to_string(first) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  insert({{2, "pears", 2000}});
  EXPECT_NE(waiting->receive().body.find("pears"), std::string::npos);
}

TEST_F(Api, TailsTheLog) {
  const auto version = insert({{1, "apples", 100}});
  const std::string log = body("/api/v1/log?limit=50");
  EXPECT_NE(log.find(R"({"name":"shop.orders","inserts":1,"updates":0,"removes":0})"),
            std::string::npos)
      << log;
  const std::string none = body("/api/v1/log?after=" + to_string(store().version()));
  EXPECT_NE(none.find(R"("records":[])"), std::string::npos) << none;
  auto waiting = connect();
  waiting->send("GET /api/v1/log?wait=60000&after=" + to_string(store().version()) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  insert({{2, "pears", 2000}});
  EXPECT_NE(waiting->receive().body.find("shop.orders"), std::string::npos);
  EXPECT_GT(version.number, 0u);
}

TEST_F(Api, ListsActorsAndSaysWhetherItIsReady) {
  const std::string actors = body("/api/v1/actors");
  EXPECT_NE(actors.find(R"("name":"gateway")"), std::string::npos) << actors;
  EXPECT_NE(actors.find(R"("name":"connection")"), std::string::npos) << actors;
  EXPECT_EQ(body("/readyz"), R"({"status":"ready"})");
  EXPECT_EQ(code("/metrics", 404), "no_telemetry");
}

TEST_F(Api, SavepointsOfAStoreInMemoryAreRefused) {
  const Reply reply = connect()->request("PUT", "/api/v1/savepoints/now");
  EXPECT_GE(reply.status, 400);
  EXPECT_EQ(reply.headers.at("content-type"), "application/problem+json");
}

}  // namespace
}  // namespace weir::server
