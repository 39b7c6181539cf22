// What workers do over HTTP, and what becomes of what they leave behind.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <weir/server/internal/handle_text.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using flow::workflow::Handle;
using test::Client;
using test::Reply;
using test::size_at;
using test::text_at;
using test::text_of;

class ClaimApi : public test::GatewayTest {
 protected:
  ClaimApi() {
    open_engine();
    start();
  }

  std::string create(std::string_view body = R"({"kind":"work"})") {
    const Reply made = post("/api/v1/executions", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return text_at(made, "/id");
  }
  Reply claim(std::string_view body = R"({"worker":"w"})") {
    Reply claimed = post("/api/v1/claims", body);
    EXPECT_EQ(claimed.status, 200) << claimed.body;
    return claimed;
  }
  std::string handle_of(const Reply& claimed) { return text_at(claimed, "/claims/0/handle"); }
  std::string seen(const std::string& id, std::string_view place) {
    return text_at(get("/api/v1/executions/" + id), place);
  }
  /// What a worker says: `{"handle": .., rest}`.
  Reply say(std::string_view what, const std::string& handle, std::string_view rest = "") {
    return post("/api/v1/claims/" + std::string(what),
                R"({"handle":")" + handle + "\"" + std::string(rest) + "}");
  }
  std::string refusal(const Reply& reply) {
    return std::to_string(reply.status) + " " + text_of(reply, "code") + " " +
           text_of(reply, "pointer");
  }
  static std::string request_text(std::string_view body) {
    return "POST /api/v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
};

TEST_F(ClaimApi, AnExecutionIsClaimedAndCompletedOnce) {
  const std::string id = create(R"({"kind":"resize","payload":"cat.png","creator":"me"})");
  const Reply claimed = claim();
  ASSERT_EQ(size_at(claimed, "/claims"), 1u);
  EXPECT_EQ(text_at(claimed, "/claims/0/execution"), id);
  EXPECT_EQ(text_at(claimed, "/claims/0/kind"), "resize");
  EXPECT_EQ(text_at(claimed, "/claims/0/payload"), "cat.png");
  EXPECT_EQ(text_at(claimed, "/claims/0/attempt"), "0");
  EXPECT_EQ(text_at(claimed, "/claims/0/attempt_kind"), "initial");
  EXPECT_EQ(text_at(claimed, "/claims/0/creator"), "me");
  EXPECT_EQ(seen(id, "/state"), "active");
  EXPECT_EQ(seen(id, "/worker"), "w");
  EXPECT_EQ(seen(id, "/lease_until"), text_at(claimed, "/claims/0/lease_until"));
  EXPECT_EQ(size_at(claim(), "/claims"), 0u);
  EXPECT_EQ(say("complete", handle_of(claimed), R"(,"result":{"base64":"/w=="})").status, 204);
  EXPECT_EQ(seen(id, "/outcome"), "success");
  EXPECT_EQ(text_at(get("/api/v1/executions/" + id + "/result"), "/result/base64"), "/w==");
  EXPECT_EQ(refusal(say("complete", handle_of(claimed))), "409 execution_not_active ");
  const Reply attempts = get("/api/v1/executions/" + id + "/attempts");
  EXPECT_EQ(size_at(attempts, "/attempts"), 1u);
  EXPECT_EQ(text_at(attempts, "/attempts/0/outcome"), "ended_success");
}

TEST_F(ClaimApi, ResultsArePassedAlongEdges) {
  const Reply made = post("/api/v1/workflows", R"({"executions":[{"kind":"a"},{"kind":"b"}],
                                    "edges":[{"upstream":0,"downstream":1,"input":"x"}]})");
  say("complete", handle_of(claim()), R"(,"result":"seven")");
  const Reply next = claim();
  EXPECT_EQ(text_at(next, "/claims/0/kind"), "b");
  EXPECT_EQ(text_at(next, "/claims/0/inputs/0/name"), "x");
  EXPECT_EQ(text_at(next, "/claims/0/inputs/0/payload"), "seven");
  EXPECT_EQ(text_at(next, "/claims/0/inputs/0/upstream"), text_at(made, "/executions/0"));
  say("complete", handle_of(next));
  const Reply ended = get("/api/v1/workflows/" + text_at(made, "/id"));
  EXPECT_EQ(text_at(ended, "/outcome"), "completed");
  EXPECT_EQ(text_at(ended, "/counts/completed"), "2");
}

TEST_F(ClaimApi, TakesAsManyAsAskedForByLaneAndAbility) {
  for (int count = 0; count < 3; ++count) create(R"({"kind":"w","lane":"x"})");
  create(R"({"kind":"w","lane":"x","capabilities":["gpu"]})");
  EXPECT_EQ(size_at(claim(), "/claims"), 0u);
  EXPECT_EQ(size_at(claim(R"({"worker":"w","lane":"x","executions_max":2})"), "/claims"), 2u);
  EXPECT_EQ(size_at(claim(R"({"worker":"w","lane":"x","executions_max":9})"), "/claims"), 1u);
  const Reply able = claim(R"({"worker":"w","lane":"x","capabilities":["gpu","arm"]})");
  EXPECT_EQ(size_at(able, "/claims"), 1u);
}

TEST_F(ClaimApi, WhoWaitsGetsWhatComes) {
  const auto waiting = connect();
  waiting->send(request_text(R"({"worker":"w","wait_seconds":60})"));
  const std::string id = create();
  EXPECT_EQ(text_at(waiting->receive(), "/claims/0/execution"), id);
}

TEST_F(ClaimApi, AWaitThatIsOverGivesNothing) {
  const Reply nothing = claim(R"({"worker":"w","wait_seconds":0.01})");
  EXPECT_EQ(nothing.body, R"({"claims":[]})");
}

// With a lease of an hour: what is not given back, nobody gets.
TEST_F(ClaimApi, WhatIsClaimedForWhoHasHungUpIsGivenBack) {
  const std::string request =
      request_text(R"({"worker":"gone","wait_seconds":60,"lease_seconds":3600})");
  for (int round = 0; round < 30; ++round) {
    const bool is_there_before = round % 2 == 0;
    auto gone = connect();
    std::string id;
    if (is_there_before) {
      // The request is complete only when nobody is there any more.
      id = create();
      gone->send(request.substr(0, request.size() - 1));
      gone->send_and_leave(request.substr(request.size() - 1));
    } else {
      gone->send(request);
      gone.reset();
      id = create();
    }
    const Reply claimed = claim(R"({"worker":"w","wait_seconds":60})");
    ASSERT_EQ(text_at(claimed, "/claims/0/execution"), id) << round;
    EXPECT_EQ(text_at(claimed, "/claims/0/attempt"), "0") << "the attempt goes on";
    say("complete", handle_of(claimed));
  }
}

// It may have gone: so it does not wait, but it gets what is there.
TEST_F(ClaimApi, WhoSendsNothingMoreStillClaims) {
  const std::string request =
      request_text(R"({"worker":"w","wait_seconds":60,"lease_seconds":3600})");
  for (int round = 0; round < 30; ++round) {
    const std::string id = create();
    const auto client = connect();
    client->send_and_finish(request);
    const Reply claimed = client->receive();
    ASSERT_EQ(text_at(claimed, "/claims/0/execution"), id) << round;
    EXPECT_EQ(client->receive_all(), "");
    EXPECT_EQ(say("complete", handle_of(claimed)).status, 204);
  }
  const auto client = connect();
  client->send_and_finish(request);
  EXPECT_EQ(client->receive().body, R"({"claims":[]})");
}

TEST_F(ClaimApi, WhoWaitsIsLetGoWhenTheGatewayStops) {
  const auto waiting = connect();
  waiting->send(
      request_text(R"({"worker":"w","lane":"none","wait_seconds":60,"lease_seconds":3600})"));
  EXPECT_EQ(run(gateway().stop()).value().cut_off, 0u);
  const Reply last = waiting->receive();
  EXPECT_TRUE(last.status == 0 || last.body == R"({"claims":[]})") << last.body;
  let_go();
  // Nothing is held for a worker that has not been told.
  const auto id = run(engine().create_execution({.kind = "w", .lane = "none"})).value().id;
  const auto claimed = run(engine().claim({.worker = "other", .lane = "none"})).value();
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].handle.execution, id);
}

TEST_F(ClaimApi, AnotherGetsWhatAWorkerLosesAndItIsToldSo) {
  const std::string id = create();
  const Reply slow = claim(R"({"worker":"slow","lease_seconds":0.001})");
  const Reply next = claim(R"({"worker":"next","wait_seconds":60})");
  ASSERT_EQ(text_at(next, "/claims/0/execution"), id);
  EXPECT_EQ(text_at(next, "/claims/0/attempt"), "1");
  EXPECT_EQ(text_at(next, "/claims/0/attempt_kind"), "reclaim");
  EXPECT_EQ(refusal(say("complete", handle_of(slow))), "409 stale_lease ");
  EXPECT_EQ(refusal(say("renew", handle_of(slow))), "409 stale_lease ");
  EXPECT_EQ(refusal(say("fail", handle_of(slow), R"(,"reason":"x")")), "409 stale_lease ");
  EXPECT_EQ(refusal(say("delay", handle_of(slow))), "409 stale_lease ");
  EXPECT_EQ(say("renew", handle_of(next), R"(,"lease_seconds":60)").status, 200);
  EXPECT_EQ(say("complete", handle_of(next), R"(,"result":"mine")").status, 204);
  EXPECT_EQ(text_at(get("/api/v1/executions/" + id + "/result"), "/result"), "mine");
}

TEST_F(ClaimApi, ALeaseThatWasRevokedIsToldSo) {
  const std::string id = create();
  const std::string handle = handle_of(claim());
  EXPECT_EQ(post("/api/v1/executions/" + id + "/revoke", R"({"reason":"stuck"})").status, 204);
  EXPECT_EQ(refusal(say("complete", handle)), "409 lease_revoked ");
  EXPECT_EQ(text_at(claim(), "/claims/0/attempt"), "1");
}

TEST_F(ClaimApi, AFailureIsTriedAgainAsThePolicySays) {
  const std::string id = create(
      R"({"kind":"w","retry":{"retries_max":1,"backoff_seconds":0,"backoff_max_seconds":0}})");
  const Reply failed = say("fail", handle_of(claim()), R"(,"reason":"no luck","category":"net")");
  EXPECT_NE(text_at(failed, "/retry_at"), "null") << failed.body;
  const Reply again = claim(R"({"worker":"w","wait_seconds":60})");
  EXPECT_EQ(text_at(again, "/claims/0/attempt_kind"), "retry");
  EXPECT_EQ(text_at(say("fail", handle_of(again), R"(,"reason":"again")"), "/retry_at"), "null");
  EXPECT_EQ(seen(id, "/state"), "failed");
  EXPECT_EQ(seen(id, "/reason"), "again");
  create();
  const Reply last = say("fail", handle_of(claim()), R"(,"reason":"never","final":true)");
  EXPECT_EQ(text_at(last, "/retry_at"), "null");
}

TEST_F(ClaimApi, WhatIsDelayedGoesOnAsTheSameAttempt) {
  const std::string id = create();
  const Reply claimed = claim();
  EXPECT_EQ(say("delay", handle_of(claimed), R"(,"delay_seconds":3600)").status, 204);
  EXPECT_EQ(seen(id, "/state"), "delayed");
  const std::string other = create();
  EXPECT_EQ(say("delay", handle_of(claim())).status, 204);
  const Reply again = claim(R"({"worker":"w","wait_seconds":60})");
  EXPECT_EQ(text_at(again, "/claims/0/execution"), other);
  EXPECT_EQ(text_at(again, "/claims/0/attempt"), "0");
}

TEST_F(ClaimApi, ASuspendedExecutionGoesOnByASignalWithItsToken) {
  const std::string id = create();
  const std::string path = "/api/v1/executions/" + id;
  const Reply suspended =
      say("suspend", handle_of(claim()),
          R"(,"condition":{"waitpoints":["paid"]},"key":"pay","timeout_seconds":3600,
             "on_timeout":"cancel","reason":"waiting_for_callback")");
  ASSERT_EQ(suspended.status, 200) << suspended.body;
  EXPECT_EQ(text_at(suspended, "/resumed"), "null");
  const std::string token = text_at(suspended, "/tokens/0/token");
  EXPECT_EQ(text_at(get(path + "/waitpoints/paid/token"), "/token"), token);
  EXPECT_EQ(seen(id, "/waits_for"), "waiting_for_callback");
  const Reply waits = get(path + "/suspension");
  EXPECT_EQ(text_at(waits, "/suspension/state"), "waiting");
  EXPECT_EQ(text_at(waits, "/suspension/condition/waitpoints/0"), "paid");
  const std::string signal = R"({"waitpoint":"paid","payload":"7","id":"s1","source":"bank")";
  EXPECT_EQ(refusal(post(path + "/signals", signal + R"(,"token":"x"})")), "403 invalid_token ");
  const std::string signed_text = signal + R"(,"token":")" + token + "\"}";
  EXPECT_EQ(text_at(post(path + "/signals", signed_text), "/effect"), "resumed");
  EXPECT_EQ(text_at(post(path + "/signals", signed_text), "/effect"), "duplicate");
  const Reply claimed = claim();
  EXPECT_EQ(text_at(claimed, "/claims/0/attempt"), "0");
  EXPECT_EQ(text_at(claimed, "/claims/0/resumed/state"), "satisfied");
  EXPECT_EQ(text_at(claimed, "/claims/0/resumed/signals/0/payload"), "7");
  EXPECT_EQ(text_at(claimed, "/claims/0/resumed/signals/0/source"), "bank");
  EXPECT_EQ(size_at(get(path + "/signals"), "/signals"), 1u);
  EXPECT_EQ(size_at(get(path + "/signals?from=1"), "/signals"), 0u);
}

TEST_F(ClaimApi, AnOperatorApprovesOrResumes) {
  const std::string first = create();
  const std::string both = R"(,"condition":{"kind":"count","count":2,"distinct":"signals",)"
                           R"("waitpoints":["vote"]})";
  ASSERT_EQ(say("suspend", handle_of(claim()), both).status, 200);
  const std::string path = "/api/v1/executions/" + first;
  EXPECT_EQ(text_at(post(path + "/approve", R"({"waitpoint":"vote"})"), "/effect"), "kept");
  EXPECT_EQ(text_at(post(path + "/approve", R"({"waitpoint":"vote"})"), "/effect"), "resumed");
  say("complete", handle_of(claim()));
  const std::string second = create();
  ASSERT_EQ(say("suspend", handle_of(claim()),
                R"(,"condition":{"kind":"any_of",)"
                R"("waitpoints":["a","b"]})")
                .status,
            200);
  EXPECT_EQ(post("/api/v1/executions/" + second + "/resume", "").status, 204);
  const Reply resumed = claim();
  EXPECT_EQ(text_at(resumed, "/claims/0/resumed/state"), "overruled");
  EXPECT_EQ(text_at(resumed, "/claims/0/resumed/by"), "operator");
  EXPECT_EQ(refusal(post("/api/v1/executions/" + second + "/resume", "")), "409 wrong_state ");
}

TEST_F(ClaimApi, AHandleIsOpaqueAndNothingElseIsOne) {
  create();
  const std::string handle = handle_of(claim());
  const std::string secret = run(engine().handle_secret()).value();
  const Handle parsed = internal::parse_handle(handle, secret).value();
  EXPECT_EQ(internal::print_handle(parsed, secret), handle);
  for (std::size_t at = 0; at < handle.size(); ++at) {
    std::string tampered = handle;
    tampered[at] = tampered[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(internal::parse_handle(tampered, secret)) << at;
  }
  EXPECT_EQ(refusal(say("complete", "")), "422 malformed_handle /handle");
  EXPECT_EQ(refusal(say("complete", handle + "A")), "422 malformed_handle /handle");
  EXPECT_EQ(refusal(say("complete", handle.substr(4))), "422 malformed_handle /handle");
  EXPECT_EQ(refusal(post("/api/v1/claims/complete", R"({"handle":7})")), "422 wrong_type /handle");
  Handle foreign = parsed;
  ++foreign.store;
  EXPECT_EQ(refusal(say("complete", internal::print_handle(foreign, secret))),
            "422 malformed_handle ");
  Handle unknown = parsed;
  unknown.execution.uuid.bytes[0] ^= 1;
  EXPECT_EQ(refusal(say("complete", internal::print_handle(unknown, secret))), "404 not_found ");
}

TEST_F(ClaimApi, WhoKnowsAllOfAHandleButTheSecretCannotMakeIt) {
  create();
  const std::string handle = handle_of(claim());
  const std::string secret = run(engine().handle_secret()).value();
  const Handle parsed = internal::parse_handle(handle, secret).value();
  for (const std::string& guessed : {std::string(), std::string(32, '\0'), secret + "x"}) {
    EXPECT_EQ(refusal(say("complete", internal::print_handle(parsed, guessed))),
              "422 malformed_handle /handle");
  }
  EXPECT_EQ(say("complete", handle).status, 204);
}

TEST_F(ClaimApi, AHandleIsGoodWithAnotherGatewayOnTheSameStore) {
  const std::string id = create();
  const std::string handle = handle_of(claim());
  let_go();
  start();
  EXPECT_EQ(say("complete", handle).status, 204);
  EXPECT_EQ(seen(id, "/state"), "completed");
}

TEST_F(ClaimApi, RefusesWhatIsWrongAndNamesItsPlace) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"({})", "422 missing_field /worker"},
      {R"({"worker":""})", "422 invalid_argument "},
      {R"({"worker":7})", "422 wrong_type /worker"},
      {R"({"worker":"w","lanes":"x"})", "422 unknown_field /lanes"},
      {R"({"worker":"w","executions_max":0})", "422 out_of_range /executions_max"},
      {R"({"worker":"w","executions_max":101})", "422 out_of_range /executions_max"},
      {R"({"worker":"w","executions_max":-1})", "422 out_of_range /executions_max"},
      {R"({"worker":"w","lease_seconds":0})", "422 invalid_argument "},
      {R"({"worker":"w","lease_seconds":-5})", "422 out_of_range /lease_seconds"},
      {R"({"worker":"w","lease_seconds":1e30})", "422 out_of_range /lease_seconds"},
      {R"({"worker":"w","wait_seconds":61})", "422 out_of_range /wait_seconds"},
      {R"({"worker":"w","capabilities":{}})", "422 wrong_type /capabilities"},
  };
  for (const auto& [body, expected] : refused)
    EXPECT_EQ(refusal(post("/api/v1/claims", body)), expected) << body;
  create();
  const std::string handle = handle_of(claim());
  const std::vector<std::array<std::string, 3>> said = {
      {"complete", R"(,"result":7)", "422 wrong_type /result"},
      {"complete", R"(,"reslt":"7")", "422 unknown_field /reslt"},
      {"fail", "", "422 missing_field /reason"},
      {"fail", R"(,"reason":"x","final":"no")", "422 wrong_type /final"},
      {"renew", R"(,"lease_seconds":0)", "422 invalid_argument "},
      {"delay", R"(,"until":"later")", "422 invalid_value /until"},
      {"delay", R"(,"delay_seconds":-1)", "422 out_of_range /delay_seconds"},
      {"delay", R"(,"until":"2999-01-01T00:00:00Z","delay_seconds":1)",
       "422 invalid_value /delay_seconds"},
      {"suspend", "", "422 missing_field /condition"},
      {"suspend", R"(,"condition":{"kind":"most"})", "422 invalid_value /condition/kind"},
      {"suspend", R"(,"condition":{"kind":"count"})", "422 missing_field /condition/count"},
      {"suspend", R"(,"condition":{"waitpoints":["a"],"count":2})",
       "422 unknown_field /condition/count"},
      {"suspend", R"(,"condition":{},"on_timeout":"panic")", "422 invalid_value /on_timeout"},
      {"suspend", R"(,"condition":{},"reason":"none")", "422 invalid_argument "},
  };
  for (const auto& [what, rest, expected] : said)
    EXPECT_EQ(refusal(say(what, handle, rest)), expected) << what << rest;
  const std::string result(std::size_t{(1 << 20) + 1}, 'x');
  EXPECT_EQ(refusal(say("complete", handle, R"(,"result":")" + result + "\"")), "413 too_large ");
  EXPECT_EQ(say("complete", handle).status, 204) << "nothing of that has ended it";
}

TEST_F(ClaimApi, LanesArePausedLimitedAndOpened) {
  const std::string id = create(R"({"kind":"w","lane":"mail"})");
  create(R"({"kind":"w","lane":"mail","limit_keys":["customer:7"]})");
  const std::string path = "/api/v1/lanes/mail";
  const std::string body = R"({"worker":"w","lane":"mail"})";
  const auto put = [&](const std::string& target, std::string_view text) {
    return connect()->request("PUT", target, text);
  };
  EXPECT_EQ(post(path + "/pause", "").status, 204);
  EXPECT_EQ(size_at(claim(body), "/claims"), 0u);
  const Reply paused = get(path);
  EXPECT_EQ(text_at(paused, "/state"), "paused");
  EXPECT_EQ(text_at(paused, "/refusal/reason"), "lane_paused");
  EXPECT_EQ(text_at(paused, "/counts/waiting"), "2");
  EXPECT_EQ(size_at(paused, "/waiting"), 2u);
  EXPECT_EQ(text_at(paused, "/waiting/0/id"), id);
  EXPECT_EQ(post(path + "/open", "").status, 204);
  EXPECT_EQ(put(path + "/limit", R"({"concurrency_max":1})").status, 204);
  EXPECT_EQ(size_at(claim(body), "/claims"), 1u);
  EXPECT_EQ(size_at(claim(body), "/claims"), 0u);
  EXPECT_EQ(text_at(get(path), "/concurrency_max"), "1");
  EXPECT_EQ(text_at(get(path), "/refusal/reason"), "lane_full");
  EXPECT_EQ(put(path + "/limit", R"({"concurrency_max":null})").status, 204);
  EXPECT_EQ(put("/api/v1/limits/customer%3A%2A", R"({"concurrency_max":0})").status, 204);
  EXPECT_EQ(size_at(claim(body), "/claims"), 0u);
  EXPECT_EQ(text_at(get("/api/v1/limits/customer%3A%2A"), "/concurrency_max"), "0");
  EXPECT_EQ(put("/api/v1/limits/customer%3A%2A", R"({})").status, 204);
  EXPECT_EQ(put(path + "/rate", R"({"rate":{"count":100,"per_seconds":1,"burst":9}})").status, 204);
  EXPECT_EQ(text_at(get(path), "/rate/burst"), "9");
  EXPECT_EQ(size_at(claim(body), "/claims"), 1u);
  EXPECT_EQ(put(path + "/state", R"({"state":"draining"})").status, 204);
  EXPECT_EQ(text_at(get(path), "/state"), "draining");
  EXPECT_EQ(refusal(put(path + "/state", R"({"state":"asleep"})")), "422 invalid_value /state");
  EXPECT_EQ(refusal(put(path + "/rate", R"({"rate":{"count":0}})")), "422 invalid_argument ");
  EXPECT_EQ(refusal(put(path + "/limit", R"({"concurrency_max":-1})")),
            "422 out_of_range /concurrency_max");
  EXPECT_EQ(post(path + "/pause", "").status, 204);
  EXPECT_EQ(post(path + "/resume", R"({"from":1,"to":5,"over_seconds":600})").status, 204);
  EXPECT_EQ(text_at(get(path), "/state"), "active");
}

TEST_F(ClaimApi, NoticesAreReadInOrderAndAcknowledged) {
  const std::string id = create();
  say("complete", handle_of(claim()));
  const Reply notices = get("/api/v1/notices");
  ASSERT_GE(size_at(notices, "/notices"), 2u) << notices.body;
  EXPECT_EQ(text_at(notices, "/notices/0/number"), "1");
  EXPECT_EQ(text_at(notices, "/notices/0/kind"), "lease_acquired");
  EXPECT_EQ(text_at(notices, "/notices/0/execution"), id);
  const std::string next = text_at(notices, "/next");
  const Reply none = get("/api/v1/notices?from=" + next);
  EXPECT_EQ(size_at(none, "/notices"), 0u);
  EXPECT_EQ(text_at(none, "/next"), next);
  const auto waiting = connect();
  waiting->send("GET /api/v1/notices?wait=60000&from=" + next +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  create();
  claim();
  EXPECT_EQ(text_at(waiting->receive(), "/notices/0/kind"), "lease_acquired");
  EXPECT_EQ(post("/api/v1/notices/acknowledge", R"({"consumer":"c","number":2})").status, 204);
  EXPECT_EQ(text_at(get("/api/v1/notices/consumers"), "/consumers/c"), "2");
  const auto remove = [&] {
    return connect()->request("DELETE", "/api/v1/notices/consumers/c").status;
  };
  EXPECT_EQ(remove(), 204);
  EXPECT_EQ(remove(), 404);
  EXPECT_EQ(refusal(post("/api/v1/notices/acknowledge", R"({"consumer":"c","number":-2})")),
            "422 out_of_range /number");
}

TEST_F(ClaimApi, TheEngineTellsWhatItHasDone) {
  create();
  say("complete", handle_of(claim()));
  create();
  const Reply report = get("/api/v1/engine");
  EXPECT_EQ(text_at(report, "/now/waiting"), "1");
  EXPECT_EQ(text_at(report, "/since_start/claims"), "1");
  EXPECT_EQ(size_at(report, "/set_aside"), 0u);
}

}  // namespace
}  // namespace weir::server
