// Clients that apply what they are sent, are cut off at random and go on with their token, against
// the view itself at every version.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>

#include <weir/server/internal/json_value.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/websocket_client.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::server {
namespace {

using flow::view::Relation;
using test::Message;
using test::WebSocketClient;

/// Rows, as JSON, and how often each is there.
using Contents = std::map<std::string, std::int64_t>;

std::string print(const Relation& relation, const internal::Row& row) {
  std::string text;
  internal::JsonWriter json(&text);
  write_row(json, *relation.schema(), row);
  return text;
}

/// A client that knows a view by what it was sent.
class Follower {
 public:
  Follower(const Relation& relation, std::uint16_t port, std::uint64_t seed)
      : relation_(relation), port_(port), random_(seed) {}

  /// Applies messages until it has a version that is whole; it may connect anew.
  void advance() {
    do {
      if (!client_ || below(12) == 0) connect();
      const Message message = client_->next();
      apply(message);
      if (below(3) == 0) client_->grant(1 + below(3));
    } while (!is_whole_);
  }
  std::uint64_t version() const { return version_; }
  const Contents& contents() const { return contents_; }
  std::size_t connects() const { return connects_; }

 private:
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }
  void connect() {
    std::string target = "/api/v1/views/" + relation_.name() + "/subscribe?";
    // What came since the token is not counted: it comes again.
    pending_.clear();
    if (token_.empty()) {
      contents_.clear();
    } else {
      target += "resume=" + token_ + "&";
    }
    if (below(2) == 0) target += "credit=" + std::to_string(2 + below(5));
    client_ = std::make_unique<WebSocketClient>(port_, target);
    ASSERT_TRUE(client_->is_open()) << client_->reply().body;
    client_->grant(100'000);
    ++connects_;
  }
  void apply(const Message& message) {
    ASSERT_TRUE(message.type() == "snapshot" || message.type() == "change" ||
                message.type() == "position")
        << message.type();
    if (message.type() != "position") add_rows(message);
    const std::string token = message.text("token");
    is_whole_ = !token.empty();
    if (!is_whole_) return;
    token_ = token;
    ASSERT_GE(message.version(), version_);
    version_ = message.version();
    for (const auto& [row, weight] : pending_)
      if ((contents_[row] += weight) == 0) contents_.erase(row);
    pending_.clear();
  }
  void add_rows(const Message& message) {
    const auto rows = *message.root().required("rows")->items();
    const auto weights = message.root().optional("weights");
    for (std::size_t index = 0; index < rows.size(); ++index) {
      auto row = internal::read_row(rows[index], *relation_.schema());
      ASSERT_TRUE(row);
      const std::int64_t weight =
          weights ? std::get<std::int64_t>((*weights->items())[index].scalar()) : 1;
      pending_[print(relation_, *row)] += weight;
    }
  }

  const Relation relation_;
  const std::uint16_t port_;
  std::mt19937_64 random_;
  std::unique_ptr<WebSocketClient> client_;
  std::string token_;
  std::uint64_t version_ = 0;
  bool is_whole_ = false;
  Contents pending_;
  Contents contents_;
  std::size_t connects_ = 0;
};

class Resuming : public test::GatewayTest {
 protected:
  Resuming()
      : GatewayTest(ActorSystemOptions{},
                    {.history = std::chrono::hours(1), .log = std::chrono::hours(1)}) {}

  /// The view as it was at a version.
  Contents contents_at(const Relation& relation, std::uint64_t version) {
    return run(read_contents(&database(), relation, version));
  }
  /// Some changes of some rows, in one commit.
  void change(std::mt19937_64& random) {
    const auto below = [&](int end) { return std::uniform_int_distribution(0, end - 1)(random); };
    auto transaction = database().begin();
    for (int count = 1 + below(3); count > 0; --count) {
      const int id = below(40);
      if (below(4) == 0) {
        static_cast<void>(run(transaction.remove(orders(), {id})));
      } else {
        const std::string item(1, static_cast<char>('a' + below(5)));
        run(transaction.upsert(orders(), {id, item, below(2000)})).value();
      }
    }
    run(transaction.commit()).value();
  }

 private:
  static Task<Contents> read_contents(flow::view::Database* database, Relation relation,
                                      std::uint64_t version) {
    auto snapshot = database->read_at({version}).value();
    auto scan = snapshot.scan(relation);
    Contents contents;
    for (;;) {
      const auto rows = (co_await scan.next()).value();
      if (rows.is_empty()) break;
      for (std::size_t row = 0; row < rows.size(); ++row)
        contents[print(relation, rows.row(row))] += rows.weights()[row];
    }
    co_return contents;
  }
};

TEST_F(Resuming, WhatAClientHasIsTheViewAtEveryVersionHoweverOftenItIsCutOff) {
  const char* given = std::getenv("WEIR_RESUME_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("WEIR_RESUME_SEED=" + std::to_string(seed));
  start();
  std::mt19937_64 random(seed);
  for (int index = 0; index < 20; ++index) change(random);
  std::atomic<int> writing_for{2};
  const auto follow = [&](const Relation& relation, const std::string& last) {
    Follower follower(relation, gateway().port(), seed + relation.id());
    bool is_counted = true;
    for (bool has_last = false; !has_last;) {
      follower.advance();
      ASSERT_EQ(follower.contents(), contents_at(relation, follower.version()))
          << relation.name() << " at " << follower.version();
      if (follower.connects() >= 12 && std::exchange(is_counted, false)) writing_for.fetch_sub(1);
      for (const auto& [row, weight] : follower.contents())
        has_last = has_last || row.find(last) != std::string::npos;
    }
  };
  std::thread of_large([&] { follow(large(), R"("id":100)"); });
  std::thread of_items([&] { follow(items(), R"("last")"); });
  // As long as somebody has not been cut off often enough, but not for ever if that does not come.
  for (int index = 0; index < 20'000 && writing_for.load() > 0; ++index) change(random);
  // Something that each view shows, so that there is a last message.
  insert({{100, "last", 5000}});
  of_large.join();
  of_items.join();
  EXPECT_EQ(writing_for.load(), 0);
}

constexpr std::string_view to_view = "/api/v1/views/shop.large/subscribe";

class ResumeTokens : public test::GatewayTest {
 protected:
  ResumeTokens() = default;
  using GatewayTest::GatewayTest;

  /// Of a subscriber that has seen a row.
  std::string first_token() {
    insert({{1, "apples", 1000}});
    return WebSocketClient(gateway().port(), to_view).next().text("token");
  }
  /// What is answered instead of a WebSocket.
  std::string refused(std::string_view target) {
    const WebSocketClient client(gateway().port(), target);
    EXPECT_FALSE(client.is_open()) << target;
    return test::text_of(client.reply(), "code");
  }
};

TEST_F(ResumeTokens, ThatCannotBeUsedAreRefusedBeforeTheUpgrade) {
  start();
  const std::string token = first_token();
  const std::string target = std::string(to_view) + "?resume=";
  for (const char* wrong :
       {"", "x", "w1", "w2", "w2.1", "w2.1.2", "w2.1.2.", "w2.1.2.3.4", "w2.1.a.2", "w2.1.01.2",
        "w3.1.2.3", "w2.1.99999999999999999999.1", "w2.1.2.3%20"})
    EXPECT_EQ(refused(target + wrong), "malformed_resume_token") << wrong;
  // Of a time when tokens did not tell of which store they are.
  const std::string id = std::to_string(large().id());
  EXPECT_EQ(refused(target + "w1." + id + ".1"), "foreign_resume_token");
  EXPECT_EQ(refused(target + "w2.1." + id + ".1"), "foreign_resume_token");
  EXPECT_EQ(refused("/api/v1/views/items/subscribe?resume=" + token), "foreign_resume_token");
  EXPECT_EQ(refused(target + token + "99"), "future_version");
  EXPECT_EQ(refused(target + token + "&snapshot=true"), "invalid_parameter");
  EXPECT_EQ(refused(std::string(to_view) + "?snapshot=1"), "invalid_parameter");
  EXPECT_EQ(refused(std::string(to_view) + "?credit=-1"), "invalid_parameter");
  EXPECT_EQ(refused("/api/v1/views/none/subscribe"), "unknown_relation");
  EXPECT_EQ(refused("/api/v1/tables/shop.large/subscribe"), "unknown_relation");
}

/// A base, so that it is there before the store and goes after it.
struct SavedStore {
  SavedStore() {
    ActorSystem system{ActorSystemOptions{.threads = 1}};
    auto store = storage::Store::open(system, {.directory = folder / "first"}).value();
    identity = store.identity();
    system.run(store.back_up(folder / "backup")).value();
    system.run(store.close()).value();
    storage::restore_backup(folder / "backup", folder / "second").value();
  }

  storage::test::TemporaryDirectory folder;
  std::uint64_t identity;
};

class RestoredTokens : protected SavedStore, public ResumeTokens {
 protected:
  RestoredTokens()
      : ResumeTokens(ActorSystemOptions{}, storage::StoreOptions{.directory = folder / "second"}) {}
};

// Its versions mean something else than those that the client has seen.
TEST_F(RestoredTokens, OfBeforeAreForeign) {
  start();
  const std::string token = first_token();
  const std::string before = std::to_string(identity);
  const std::string now = std::to_string(store().identity());
  ASSERT_EQ(token.find(now), 3u) << token;
  const std::string target = std::string(to_view) + "?resume=";
  EXPECT_EQ(refused(target + "w2." + before + token.substr(3 + now.size())),
            "foreign_resume_token");
  EXPECT_TRUE(WebSocketClient(gateway().port(), target + token).is_open());
}

}  // namespace
}  // namespace weir::server
