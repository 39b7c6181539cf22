// Views over HTTP: as they were, how far they are, and what is done when they fail.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/function.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using flow::data::col;
using flow::data::Kind;
using flow::data::Value;
using test::Reply;
using test::text_at;
using test::text_of;

constexpr std::int64_t rows_before = 500;
constexpr std::int64_t rows_until_stop = 300;

/// Functions of views, which fail or wait when a test says so. A base, so that they are there
/// before the database and go after it.
class TestFunctions {
 protected:
  TestFunctions() {
    add("rated", [this](std::int64_t number) -> Result<Value> {
      if (is_broken) return Error(flow::data::Errc::invalid_value, "no rate of today");
      return Value(number * 2);
    });
    add("slowly", [this](std::int64_t number) -> Result<Value> {
      std::unique_lock lock(mutex_);
      if (number <= rows_until_stop) return Value(number);
      is_held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_released_; });
      return Value(number);
    });
  }

  /// Until a row waits in `slowly`.
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_held_; });
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

  flow::data::FunctionRegistry functions;
  std::atomic<bool> is_broken = false;

 private:
  template <class F>
  void add(const char* name, F function) {
    functions
        .add({.name = name,
              .parameters = {Kind::int64},
              .result = Kind::int64,
              .call =
                  [function](std::span<const Value> values) {
                    return function(values[0].as<std::int64_t>());
                  }})
        .value();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  bool is_released_ = false;
};

class ViewApi : protected TestFunctions, public test::GatewayTest {
 protected:
  // One thread may wait in a function.
  ViewApi()
      : GatewayTest(ActorSystemOptions{.threads = 4},
                    storage::StoreOptions{.retention = {.history = std::chrono::hours(1)}},
                    flow::view::DatabaseOptions{.library = {.functions = &functions},
                                                .backfill_rows = 100}) {
    start();
  }
  ~ViewApi() override { release(); }

  flow::view::Relation make_view(const char* name, const char* function, const char* column) {
    const auto mapped = flow::data::call(function, {col(column)});
    auto query = from(orders()).map({{"id", col("id")}, {"result", mapped}});
    return run(database().create_view(name, query)).value();
  }
  /// One that has failed with an order of 30 cents.
  flow::view::Relation make_failed_view() {
    const flow::view::Relation view = make_view("shop.rated", "rated", "cents");
    run(database().fresh(view, store().version())).value();
    is_broken = true;
    insert({{1, "apples", 30}});
    // It fails some times before it is given up.
    EXPECT_FALSE(run(database().fresh(view, store().version())));
    return view;
  }
};

TEST_F(ViewApi, ReadsAViewAsItWasAtAnOlderVersion) {
  const std::string before = to_string(insert({{1, "pears", 2000}}));
  const Reply written = post("/api/v1/transactions", R"({"operations":[
      {"op":"update","table":"shop.orders","row":{"id":1,"item":"pears","cents":10}}]})");
  ASSERT_EQ(written.status, 200) << written.body;
  run(database().fresh(large(), store().version())).value();
  const std::string row = R"({"id":1,"item":"pears","cents":2000})";
  const std::string rows = "/api/v1/views/shop.large/rows";
  EXPECT_EQ(get(rows + "?at=" + before).body,
            R"({"version":)" + before + R"(,"rows":[)" + row + R"(],"next":null})");
  EXPECT_EQ(get(rows + "/1?at=" + before).body,
            R"({"version":)" + before + R"(,"row":)" + row + "}");
  EXPECT_EQ(text_of(get(rows + "/1"), "code"), "unknown_key");
  EXPECT_EQ(text_of(get(rows + "?at=99999999"), "code"), "future_version");
}

TEST_F(ViewApi, TellsHowManyCommitsAViewHasNotSeen) {
  make_failed_view();
  insert({{2, "pears", 10}});
  insert({{3, "figs", 10}});
  const Reply lag = get("/api/v1/views/shop.rated/lag");
  EXPECT_EQ(text_of(lag, "versions"), "3") << lag.body;
  EXPECT_GT(std::stod(text_of(lag, "seconds")), 0.0) << lag.body;
}

TEST_F(ViewApi, AViewThatFailedGoesOnWhereItStoppedWhenItIsResumed) {
  const flow::view::Relation view = make_failed_view();
  EXPECT_EQ(text_at(get("/api/v1/views/shop.rated"), "/status/phase"), "quarantined");
  is_broken = false;
  EXPECT_EQ(post("/api/v1/views/shop.rated/resume", "").status, 204);
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  const Reply resumed = get("/api/v1/views/shop.rated");
  EXPECT_EQ(text_at(resumed, "/status/phase"), "live") << resumed.body;
  EXPECT_EQ(text_at(resumed, "/status/exact"), "true") << resumed.body;
  EXPECT_EQ(text_at(get("/api/v1/views/shop.rated/rows"), "/rows/0/result"), "60");
  EXPECT_EQ(get("/api/v1/quarantine").body, R"({"views":[]})");
}

TEST_F(ViewApi, TellsHowFarANewViewHasCome) {
  std::vector<Row> rows;
  for (std::int64_t id = 1; id <= rows_before; ++id) rows.push_back({id, "cup", 10});
  insert(rows);
  const flow::view::Relation view = make_view("shop.slow", "slowly", "id");
  wait_until_held();
  const std::uint64_t taken = database().status(view).value().rows_taken;
  EXPECT_GT(taken, 0u);
  EXPECT_LE(taken, std::uint64_t{rows_until_stop});

  const Reply filling = get("/api/v1/views/shop.slow");
  EXPECT_EQ(text_at(filling, "/status/phase"), "backfilling") << filling.body;
  EXPECT_EQ(text_at(filling, "/status/rows_taken"), std::to_string(taken));
  EXPECT_EQ(text_at(filling, "/status/rows_total"), std::to_string(rows_before));
  const std::string flows = get("/api/v1/flows").body;
  const std::string done = R"("progress":{"rows_done":)" + std::to_string(taken);
  EXPECT_NE(flows.find(done + R"(,"rows_total":500,)"), std::string::npos) << flows;
  EXPECT_EQ(text_at(get("/api/v1/overview"), "/views/filling"), "1");
  EXPECT_EQ(text_of(get("/api/v1/views/shop.slow/rows"), "code"), "not_ready");

  release();
  ASSERT_TRUE(run(database().fresh(view, store().version())));
  EXPECT_EQ(text_at(get("/api/v1/views/shop.slow"), "/status/phase"), "live");
}

}  // namespace
}  // namespace weir::server
