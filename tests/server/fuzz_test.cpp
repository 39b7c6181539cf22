// Random bytes and requests that are nearly right, from a seed. What counts is that the server
// lives, answers with HTTP, and is of sound mind afterwards.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/request_parser.hpp>
#include <weir/server/internal/target.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using test::Reply;

/// `WEIR_FUZZ_SEED` replays a run, `WEIR_FUZZ_RUNS` makes it longer.
unsigned long number_from(const char* variable, unsigned long otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  const std::string& one_of(const std::vector<std::string>& texts) {
    return texts[below(texts.size())];
  }
  std::string mutated(std::string text) {
    for (std::size_t changes = below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      switch (below(6)) {
        case 0: text[at] = static_cast<char>(below(256)); break;
        case 1: text.erase(at, below(8)); break;
        case 2: text.insert(at, 1, static_cast<char>(below(256))); break;
        case 3: text.insert(at, one_of(pieces_)); break;
        case 4: text.insert(at, text.substr(at, below(40))); break;
        default: text.resize(at); break;
      }
    }
    return text;
  }

 private:
  std::mt19937_64 random_;
  const std::vector<std::string> pieces_ = {"\r\n",
                                            "\r\n\r\n",
                                            "%",
                                            "%00",
                                            "..",
                                            "//",
                                            "?",
                                            "&",
                                            "=",
                                            "#",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            "\"",
                                            ":",
                                            ",",
                                            "null",
                                            "1e999",
                                            "-0",
                                            "\\u0000",
                                            "\xff",
                                            "\xed\xa0\x80",
                                            "chunked",
                                            "999999999999",
                                            "Content-Length: 5\r\n",
                                            "Transfer-Encoding: chunked\r\n",
                                            "Connection: close\r\n"};
};

std::vector<std::string> seeds() {
  const std::string end = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string body =
      R"({"operations":[{"op":"upsert","table":"shop.orders","row":{"id":1,"item":"a"}}]})";
  const std::string post =
      "POST /api/v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  return {"GET /healthz" + end,
          "GET /api/v1/tables/shop.orders/rows?limit=2&after=1" + end,
          "GET /api/v1/views/items/rows?limit=1&after=1&at=5" + end,
          "HEAD /api/v1/views/shop.large/rows/1?at=3" + end,
          "GET /api/v1/tables/shop.orders/changes?after=1&limit=3&wait=1" + end,
          "OPTIONS /api/v1/log" + end,
          "POST /api/v1/views/shop.large/resume" + end,
          post + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
          post + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + body.substr(0, 16) + "\r\n0\r\n\r\n"};
}

class Fuzz : public test::GatewayTest {
 protected:
  /// Printed, so that a failure can be seen again.
  const unsigned long seed_ = number_from("WEIR_FUZZ_SEED", std::random_device{}());
  const unsigned long runs_ = number_from("WEIR_FUZZ_RUNS", 1500);
};

TEST_F(Fuzz, NothingThatIsSentStopsTheServer) {
  SCOPED_TRACE("WEIR_FUZZ_SEED=" + std::to_string(seed_));
  Mutator mutator(seed_);
  start({.limits = {.header_bytes_max = 2048, .body_bytes_max = 4096}});
  insert({{1, "apples", 2000}, {2, "pears", 10}});
  for (unsigned long run = 0; run < runs_; ++run) {
    auto client = connect();
    std::string bytes;
    for (std::size_t count = mutator.below(3) + 1; count > 0; --count)
      bytes += mutator.mutated(mutator.one_of(seeds()));
    client->send(bytes);
    client->finish();
    const std::string answer = client->receive_all();
    ASSERT_TRUE(answer.empty() || answer.starts_with("HTTP/1.")) << bytes << "\n" << answer;
    ASSERT_EQ(answer.find(" 500 "), std::string::npos) << bytes << "\n" << answer;
  }
  const Reply reply = get("/api/v1/tables/shop.orders");
  EXPECT_EQ(reply.status, 200) << reply.body;
}

/// What is sent about workflows, as paths and bodies.
std::vector<std::pair<std::string, std::string>> workflow_seeds(const std::string& handle) {
  const std::string held = R"({"handle":")" + handle + "\"";
  return {
      {"/api/v1/executions",
       R"({"kind":"w","payload":{"base64":"AP8="},"priority":7,"delay_seconds":1.5,)"
       R"("deadline":"2999-01-01T00:00:00Z","retry":{"retries_max":1,"backoff_seconds":1},)"
       R"("tags":{"team.name":"blue"},"capabilities":["gpu"],"limit_keys":["customer:7"]})"},
      {"/api/v1/workflows",
       R"({"kind":"w","executions":[{"kind":"a"},{"kind":"b"}],"edges":[{"upstream":0,)"
       R"("downstream":1,"input":"x"}],"policies":[{"downstream":1,"policy":{"kind":"quorum",)"
       R"("count":1,"on_satisfied":"cancel_remaining"}}],"on_failure":"fail_fast"})"},
      {"/api/v1/claims",
       R"({"worker":"w","lane":"default","capabilities":["gpu"],"namespaces":["default"],)"
       R"("lease_seconds":0.001,"executions_max":3,"wait_seconds":0.001})"},
      {"/api/v1/claims/complete", held + R"(,"result":"done"})"},
      {"/api/v1/claims/fail", held + R"(,"reason":"x","category":"y","final":true})"},
      {"/api/v1/claims/delay", held + R"(,"delay_seconds":0.5})"},
      {"/api/v1/claims/suspend", held + R"(,"condition":{"kind":"count","count":2,"waitpoints":)"
                                        R"(["a"],"distinct":"sources"},"timeout_seconds":1e3})"},
      {"/api/v1/lanes/default/resume", R"({"from":1,"to":100,"over_seconds":1e3})"},
  };
}

TEST_F(Fuzz, NoBodyStopsTheEngine) {
  SCOPED_TRACE("WEIR_FUZZ_SEED=" + std::to_string(seed_));
  Mutator mutator(seed_);
  open_engine();
  start();
  auto client = connect();
  std::string handle;
  for (unsigned long run = 0; run < runs_; ++run) {
    const auto all = workflow_seeds(handle);
    const auto& [path, body] = all[mutator.below(all.size())];
    const std::string sent = mutator.mutated(body);
    const Reply reply = client->request("POST", path, sent.empty() ? "{}" : sent);
    ASSERT_NE(reply.status, 0) << path << " " << sent;
    ASSERT_NE(reply.status / 100, 5) << path << " " << sent << "\n" << reply.body;
    if (const std::string claimed = test::text_at(reply, "/claims/0/handle"); !claimed.empty())
      if (reply.status == 200) handle = claimed;
  }
  EXPECT_EQ(get("/api/v1/engine").status, 200);
  EXPECT_EQ(post("/api/v1/executions", R"({"kind":"w"})").status, 201);
}

// The parser gives the same request however its bytes are cut into pieces.
TEST_F(Fuzz, PiecesOfARequestMakeTheSameRequest) {
  SCOPED_TRACE("WEIR_FUZZ_SEED=" + std::to_string(seed_));
  Mutator mutator(seed_);
  const Limits limits{.header_bytes_max = 1024, .body_bytes_max = 1024};
  for (unsigned long run = 0; run < runs_ * 4; ++run) {
    const std::string bytes = mutator.mutated(mutator.one_of(seeds()));
    internal::RequestParser whole(limits);
    const std::size_t used = whole.put(bytes);
    internal::RequestParser pieces(limits);
    std::size_t taken = 0;
    for (std::size_t end = 0; end < bytes.size() && !pieces.is_done() && !pieces.has_failed();) {
      end = std::min(bytes.size(), end + 1 + mutator.below(20));
      taken += pieces.put(std::string_view(bytes).substr(taken, end - taken));
    }
    ASSERT_EQ(pieces.is_done(), whole.is_done()) << bytes;
    // The other way round it may still wait for the end of a header that is wrong already.
    ASSERT_TRUE(whole.has_failed() || !pieces.has_failed()) << bytes;
    if (!whole.is_done()) continue;
    ASSERT_EQ(taken, used) << bytes;
    ASSERT_EQ(pieces.request().method(), whole.request().method());
    ASSERT_EQ(pieces.request().target(), whole.request().target());
    ASSERT_EQ(pieces.request().body, whole.request().body);
    static_cast<void>(internal::parse_target(whole.request().target()));
    static_cast<void>(internal::JsonDocument::parse(whole.request().body, 16));
  }
}

}  // namespace
}  // namespace weir::server
