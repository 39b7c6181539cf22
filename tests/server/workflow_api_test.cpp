// Executions and workflows: making them, looking at them, and what is done to them from outside.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using test::Reply;
using test::size_at;
using test::text_at;
using test::text_of;

class WorkflowApi : public test::GatewayTest {
 protected:
  WorkflowApi() {
    open_engine();
    start();
  }

  static std::string path(const std::string& execution, std::string_view rest = "") {
    return "/api/v1/executions/" + execution + std::string(rest);
  }
  static std::string workflow_path(const std::string& id, std::string_view rest = "") {
    return "/api/v1/workflows/" + id + std::string(rest);
  }
  std::string create(std::string_view body) {
    const Reply made = post("/api/v1/executions", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return text_at(made, "/id");
  }
  Reply create_graph(std::string_view body) {
    Reply made = post("/api/v1/workflows", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made;
  }
  /// A place, and what is answered if it is not taken: `422 wrong_type /kind`.
  std::string refusal(std::string_view target, std::string_view body) {
    const Reply reply = post(target, body);
    EXPECT_GE(reply.status, 400) << body;
    return std::to_string(reply.status) + " " + text_of(reply, "code") + " " +
           text_of(reply, "pointer");
  }
};

constexpr std::string_view diamond =
    R"({"kind":"trip","tags":{"team.name":"blue"},"on_failure":"collect",
        "executions":[{"kind":"a"},{"kind":"b"},{"kind":"c"},{"kind":"d","lane":"slow"}],
        "edges":[{"upstream":0,"downstream":1},{"upstream":0,"downstream":2,"input":"first"},
                 {"upstream":1,"downstream":3},{"upstream":2,"downstream":3}],
        "policies":[{"downstream":3,"policy":{"kind":"quorum","count":2}}]})";

TEST_F(WorkflowApi, MakesAnExecutionAndTellsAllOfIt) {
  const std::string id = create(
      R"({"kind":"resize","payload":"cat.png","namespace":"shop","lane":"images","priority":7,
          "tags":{"team.name":"blue"},"capabilities":["gpu"],"limit_keys":["customer:7"],
          "retry":{"retries_max":1,"backoff_seconds":0.5},"attempt_timeout_seconds":60,
          "deadline":"2999-01-01T00:00:00Z","idempotency_key":"once","creator":"test"})");
  const Reply seen = get(path(id));
  ASSERT_EQ(seen.status, 200) << seen.body;
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"/id", id},
      {"/kind", "resize"},
      {"/payload", "cat.png"},
      {"/namespace", "shop"},
      {"/lane", "images"},
      {"/priority", "7"},
      {"/tags/team.name", "blue"},
      {"/capabilities/0", "gpu"},
      {"/limit_keys/0", "customer:7"},
      {"/attempts_max", "2"},
      {"/attempts", "0"},
      {"/attempt", "null"},
      {"/deadline", "2999-01-01T00:00:00Z"},
      {"/idempotency_key", "once"},
      {"/creator", "test"},
      {"/state", "waiting"},
      {"/waits_for", "waiting_for_worker"},
      {"/workflow", "null"},
      {"/worker", "null"},
      {"/outcome", "null"},
  };
  for (const auto& [place, value] : expected) EXPECT_EQ(text_at(seen, place), value) << place;
}

TEST_F(WorkflowApi, TakesAnIdWithAndWithoutBraces) {
  const std::string id = create(R"({"kind":"work"})");
  ASSERT_TRUE(id.starts_with("{fp:")) << id;
  const std::string number = id.substr(4, id.find('}') - 4);
  const std::string uuid = id.substr(id.find("}:") + 2);
  EXPECT_EQ(text_at(get("/api/v1/executions/" + number + ":" + uuid), "/id"), id);
  EXPECT_EQ(text_at(get("/api/v1/executions/%7Bfp:" + number + "%7D:" + uuid), "/id"), id);
}

TEST_F(WorkflowApi, TheSameKeyGivesTheSameExecution) {
  const std::string body = R"({"kind":"work","idempotency_key":"k","payload":"a"})";
  const std::string id = create(body);
  const Reply again = post("/api/v1/executions", body);
  EXPECT_EQ(text_at(again, "/id"), id);
  EXPECT_EQ(text_at(again, "/is_duplicate"), "true");
  const Reply other =
      post("/api/v1/executions", R"({"kind":"work","idempotency_key":"k","payload":"b"})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(text_of(other, "code"), "idempotency_mismatch");
  EXPECT_NE(text_of(other, "detail").find("payload"), std::string::npos);
}

TEST_F(WorkflowApi, CarriesBytesThatAreNoText) {
  const std::string id = create(R"({"kind":"work","payload":{"base64":"AP/+"}})");
  EXPECT_EQ(text_at(get(path(id)), "/payload/base64"), "AP/+");
  EXPECT_EQ(
      run(engine().describe(flow::workflow::parse_execution_id(id).value())).value()->spec.payload,
      std::string("\x00\xff\xfe", 3));
}

TEST_F(WorkflowApi, ListsExecutionsByWhatIsAsked) {
  const std::string first = create(R"({"kind":"a","lane":"x","tags":{"team.name":"blue"}})");
  const std::string second = create(R"({"kind":"b","lane":"y","delay_seconds":3600})");
  const std::string third = create(R"({"kind":"c","lane":"x","namespace":"shop"})");
  const auto ids = [&](const std::string& query) {
    const Reply page = get("/api/v1/executions?" + query);
    EXPECT_EQ(page.status, 200) << page.body;
    std::set<std::string> found;
    for (std::size_t at = 0; at < size_at(page, "/executions"); ++at)
      found.insert(text_at(page, "/executions/" + std::to_string(at) + "/id"));
    return found;
  };
  using Ids = std::set<std::string>;
  EXPECT_EQ(ids(""), (Ids{first, second, third}));
  EXPECT_EQ(ids("lane=x"), (Ids{first, third}));
  EXPECT_EQ(ids("lane=x&namespace=default"), Ids{first});
  EXPECT_EQ(ids("state=delayed"), Ids{second});
  EXPECT_EQ(ids("state=delayed,waiting&lane=y"), Ids{second});
  EXPECT_EQ(ids("tag=team.name:blue"), Ids{first});
  EXPECT_EQ(ids("tag=team.name:red"), Ids{});
  EXPECT_EQ(text_of(get("/api/v1/executions?state=sleepy"), "code"), "invalid_parameter");
  EXPECT_EQ(text_of(get("/api/v1/executions?tag=blue"), "code"), "invalid_parameter");
  EXPECT_EQ(text_of(get("/api/v1/executions?limit=0"), "code"), "invalid_parameter");
  EXPECT_EQ(text_of(get("/api/v1/executions?after=7"), "code"), "malformed_id");
}

TEST_F(WorkflowApi, PagesHaveEveryExecutionOnce) {
  std::set<std::string> made;
  for (int number = 0; number < 7; ++number)
    made.insert(create(R"({"kind":"work","lane":"l)" + std::to_string(number) + "\"}"));
  std::set<std::string> found;
  std::string after;
  for (int pages = 0; pages < 10; ++pages) {
    const Reply page = get("/api/v1/executions?limit=3" + after);
    EXPECT_LE(size_at(page, "/executions"), 3u);
    for (std::size_t at = 0; at < size_at(page, "/executions"); ++at) {
      const std::string place = "/executions/" + std::to_string(at);
      EXPECT_TRUE(found.insert(text_at(page, place + "/id")).second);
      EXPECT_EQ(text_at(page, place + "/kind"), "work");
      EXPECT_EQ(text_at(page, place + "/payload"), "") << "lists are brief";
    }
    if (text_at(page, "/next") == "null") break;
    after = "&after=" + text_at(page, "/next");
  }
  EXPECT_EQ(found, made);
}

TEST_F(WorkflowApi, MakesAWholeGraphAndDrawsIt) {
  const Reply made = create_graph(diamond);
  const std::string id = text_at(made, "/id");
  ASSERT_EQ(size_at(made, "/executions"), 4u);
  const Reply seen = get(workflow_path(id));
  EXPECT_EQ(text_at(seen, "/kind"), "trip");
  EXPECT_EQ(text_at(seen, "/state"), "blocked");
  EXPECT_EQ(text_at(seen, "/outcome"), "null");
  EXPECT_EQ(text_at(seen, "/on_failure"), "collect");
  EXPECT_EQ(text_at(seen, "/executions"), "4");
  EXPECT_EQ(text_at(seen, "/counts/waiting_children"), "3");
  EXPECT_EQ(text_at(seen, "/edges"), "4");
  EXPECT_EQ(text_at(seen, "/tags/team.name"), "blue");
  const Reply graph = get(workflow_path(id, "/graph"));
  EXPECT_EQ(size_at(graph, "/nodes"), 4u);
  EXPECT_EQ(size_at(graph, "/edges"), 4u);
  EXPECT_EQ(text_at(graph, "/truncated"), "false");
  for (std::size_t at = 0; at < 4; ++at) {
    const std::string place = "/nodes/" + std::to_string(at);
    const bool is_last = text_at(graph, place + "/kind") == "d";
    const bool is_first = text_at(graph, place + "/kind") == "a";
    EXPECT_EQ(text_at(graph, place + "/policy/kind"),
              is_first ? "" : (is_last ? "quorum" : "all_of"));
    EXPECT_EQ(text_at(graph, place + "/state"), is_first ? "waiting" : "waiting_children");
  }
}

TEST_F(WorkflowApi, ListsWorkflowsAndTheirExecutions) {
  const std::string first = text_at(create_graph(diamond), "/id");
  const std::string second = text_at(create_graph(R"({"namespace":"shop"})"), "/id");
  EXPECT_EQ(size_at(get("/api/v1/workflows"), "/workflows"), 2u);
  const Reply of_shop = get("/api/v1/workflows?namespace=shop");
  EXPECT_EQ(size_at(of_shop, "/workflows"), 1u);
  EXPECT_EQ(text_at(of_shop, "/workflows/0/id"), second);
  const Reply page = get("/api/v1/workflows?limit=1");
  EXPECT_EQ(size_at(page, "/workflows"), 1u);
  const Reply rest = get("/api/v1/workflows?limit=1&after=" + text_at(page, "/next"));
  EXPECT_EQ(size_at(rest, "/workflows"), 1u);
  EXPECT_EQ(text_at(rest, "/next"), "null");
  EXPECT_NE(text_at(rest, "/workflows/0/id"), text_at(page, "/workflows/0/id"));
  EXPECT_EQ(size_at(get(workflow_path(first, "/executions?limit=3")), "/executions"), 3u);
  EXPECT_EQ(size_at(get("/api/v1/executions?workflow=" + first), "/executions"), 4u);
}

TEST_F(WorkflowApi, AWorkflowGrowsByEdgesAndIsApplied) {
  const std::string id = text_at(create_graph(R"({"stays_open":true})"), "/id");
  const std::string first =
      text_at(post(workflow_path(id, "/executions"), R"({"kind":"a"})"), "/id");
  const std::string last =
      text_at(post(workflow_path(id, "/executions"), R"({"kind":"b"})"), "/id");
  const std::string policy =
      R"({"downstream":")" + last + R"(","policy":{"kind":"any_of","on_satisfied":"let_run"}})";
  EXPECT_EQ(text_at(post(workflow_path(id, "/policies"), policy), "/is_new"), "true");
  EXPECT_EQ(text_at(post(workflow_path(id, "/policies"), policy), "/is_new"), "false");
  const std::string edge =
      R"({"upstream":")" + first + R"(","downstream":")" + last + R"(","input":"x"})";
  const Reply staged = post(workflow_path(id, "/edges"), R"({"edges":[)" + edge + "]}");
  ASSERT_EQ(staged.status, 200) << staged.body;
  EXPECT_EQ(refusal(workflow_path(id, "/edges"), R"({"edges":[],"revision":0})"),
            "409 stale_revision ");
  EXPECT_EQ(post(workflow_path(id, "/apply"), "").status, 204);
  EXPECT_EQ(text_at(get(path(last)), "/state"), "waiting_children");
  EXPECT_EQ(post(workflow_path(id, "/close"), "").status, 204);
  EXPECT_EQ(post(workflow_path(id, "/tags"), R"({"tags":{"a.b":"c"}})").status, 204);
  EXPECT_EQ(text_at(get(workflow_path(id)), "/tags/a.b"), "c");
}

TEST_F(WorkflowApi, ACycleIsPrinted) {
  const Reply made = create_graph(R"({"executions":[{"kind":"a"},{"kind":"b"}],
                                      "edges":[{"upstream":0,"downstream":1}],"stays_open":true})");
  const std::string edge = R"({"edges":[{"upstream":")" + text_at(made, "/executions/1") +
                           R"(","downstream":")" + text_at(made, "/executions/0") + R"("}]})";
  const Reply refused = post(workflow_path(text_at(made, "/id"), "/edges"), edge);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(text_of(refused, "code"), "cycle");
  for (const char* place : {"/executions/0", "/executions/1"})
    EXPECT_NE(text_of(refused, "detail").find(text_at(made, place)), std::string::npos);
}

TEST_F(WorkflowApi, ASealedWorkflowTakesNothingMore) {
  const Reply made = create_graph(R"({"executions":[{"kind":"a"}]})");
  const std::string id = text_at(made, "/id");
  const Reply cancelled = post(workflow_path(id, "/cancel"), R"({"reason":"enough"})");
  EXPECT_EQ(text_at(cancelled, "/is_new"), "true");
  EXPECT_EQ(text_at(cancelled, "/cancelled/0"), text_at(made, "/executions/0"));
  EXPECT_EQ(refusal(workflow_path(id, "/executions"), R"({"kind":"b"})"), "409 workflow_sealed ");
  EXPECT_EQ(text_at(get(workflow_path(id)), "/cancel_reason"), "enough");
  EXPECT_EQ(text_at(get(path(text_at(made, "/executions/0"))), "/state"), "cancelled");
}

TEST_F(WorkflowApi, AnExecutionIsCancelledAndReplayed) {
  const std::string id = create(R"({"kind":"work"})");
  EXPECT_EQ(text_at(post(path(id, "/cancel"), R"({"reason":"enough"})"), "/is_new"), "true");
  EXPECT_EQ(text_at(post(path(id, "/cancel"), R"({})"), "/is_new"), "false");
  EXPECT_EQ(text_at(get(path(id)), "/reason"), "enough");
  EXPECT_EQ(text_at(get(path(id)), "/outcome"), "cancelled");
  EXPECT_EQ(text_at(get(path(id, "/result")), "/result"), "null");
  EXPECT_EQ(post(path(id, "/replay"), "").status, 204);
  EXPECT_EQ(text_at(get(path(id)), "/state"), "waiting");
  EXPECT_EQ(refusal(path(id, "/replay"), ""), "409 wrong_state ");
  EXPECT_EQ(post(path(id, "/priority"), R"({"priority":9})").status, 204);
  EXPECT_EQ(text_at(get(path(id)), "/priority"), "9");
  EXPECT_EQ(post(path(id, "/tags"), R"({"tags":{"a.b":"1","a.c":"2"}})").status, 204);
  EXPECT_EQ(text_at(get(path(id)), "/tags/a.c"), "2");
}

TEST_F(WorkflowApi, RefusesWhatIsWrongAndNamesItsPlace) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"([])", "422 wrong_type "},
      {R"({})", "422 missing_field /kind"},
      {R"({"kind":7})", "422 wrong_type /kind"},
      {R"({"kind":null})", "422 wrong_type /kind"},
      {R"({"kind":""})", "422 invalid_argument "},
      {R"({"kind":"weir.undo"})", "422 invalid_argument "},
      {R"({"kind":"w","knid":"x"})", "422 unknown_field /knid"},
      {R"({"knid":"x"})", "422 unknown_field /knid"},
      {R"({"kind":"w","payload":7})", "422 wrong_type /payload"},
      {R"({"kind":"w","payload":{"base64":"x"}})", "422 invalid_value /payload"},
      {R"({"kind":"w","payload":{"hex":"x"}})", "422 unknown_field /payload/hex"},
      {R"({"kind":"w","priority":-1})", "422 invalid_argument "},
      {R"({"kind":"w","priority":9001})", "422 invalid_argument "},
      {R"({"kind":"w","priority":2147483648})", "422 out_of_range /priority"},
      {R"({"kind":"w","priority":18446744073709551616})", "422 out_of_range /priority"},
      {R"({"kind":"w","priority":1.5})", "422 wrong_type /priority"},
      {R"({"kind":"w","priority":"nine"})", "422 invalid_value /priority"},
      {R"({"kind":"w","reclaims_max":-1})", "422 out_of_range /reclaims_max"},
      {R"({"kind":"w","delay_seconds":-1})", "422 out_of_range /delay_seconds"},
      {R"({"kind":"w","delay_seconds":1e300})", "422 out_of_range /delay_seconds"},
      {R"({"kind":"w","delay_seconds":"1"})", "422 wrong_type /delay_seconds"},
      {R"({"kind":"w","attempt_timeout_seconds":0})", "422 invalid_argument "},
      {R"({"kind":"w","not_before":"soon"})", "422 invalid_value /not_before"},
      {R"({"kind":"w","not_before":"2999-01-01T00:00:00Z","delay_seconds":1})",
       "422 invalid_value /delay_seconds"},
      {R"({"kind":"w","id":"7"})", "422 invalid_value /id"},
      {R"({"kind":"w","workflow":"7"})", "422 invalid_value /workflow"},
      {R"({"kind":"w","workflow":"123e4567-e89b-12d3-a456-426614174000"})", "404 not_found "},
      {R"({"kind":"w","tags":["a"]})", "422 wrong_type /tags"},
      {R"({"kind":"w","tags":{"team.name":7}})", "422 wrong_type /tags/team.name"},
      {R"({"kind":"w","tags":{"team":"blue"}})", "422 invalid_argument "},
      {R"({"kind":"w","capabilities":"gpu"})", "422 wrong_type /capabilities"},
      {R"({"kind":"w","capabilities":[7]})", "422 wrong_type /capabilities/0"},
      {R"({"kind":"w","limit_keys":["customer:*"]})", "422 invalid_argument "},
      {R"({"kind":"w","retry":{"retries":1}})", "422 unknown_field /retry/retries"},
      {R"({"kind":"w","retry":{"multiplier":0}})", "422 invalid_argument "},
      {R"({"kind":"w","retry":{"jitter":1}})", "422 wrong_type /retry/jitter"},
      {R"({"kind":"w")", "400 malformed_json "},
  };
  for (const auto& [body, expected] : refused)
    EXPECT_EQ(refusal("/api/v1/executions", body), expected) << body;
  const std::string payload(std::size_t{(1 << 20) + 1}, 'x');
  EXPECT_EQ(refusal("/api/v1/executions", R"({"kind":"w","payload":")" + payload + "\"}"),
            "413 too_large ");
  EXPECT_EQ(size_at(get("/api/v1/executions"), "/executions"), 0u);
}

TEST_F(WorkflowApi, RefusesGraphsThatAreWrongAndMakesNothing) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"({"executions":[{"kind":"a"},{"kind":7}]})", "422 wrong_type /executions/1/kind"},
      {R"({"executions":[{"kind":"a","namespace":"x"}]})",
       "422 unknown_field /executions/0/namespace"},
      {R"({"executions":[{"kind":"a"}],"edges":[{"upstream":0}]})",
       "422 missing_field /edges/0/downstream"},
      {R"({"executions":[{"kind":"a"}],"edges":[{"upstream":0,"downstream":1}]})",
       "422 invalid_argument "},
      {R"({"executions":[{"kind":"a"}],"edges":[{"upstream":-1,"downstream":0}]})",
       "422 out_of_range /edges/0/upstream"},
      {R"({"executions":[{"kind":"a"}],"edges":[{"upstream":0,"downstream":0}]})", "422 cycle "},
      {R"({"executions":[{"kind":"a"},{"kind":"b"}],
           "policies":[{"downstream":1,"policy":{"kind":"most"}}]})",
       "422 invalid_value /policies/0/policy/kind"},
      {R"({"executions":[{"kind":"a"},{"kind":"b"}],
           "policies":[{"downstream":1,"policy":{"kind":"quorum"}}]})",
       "422 missing_field /policies/0/policy/count"},
      {R"({"executions":[{"kind":"a"},{"kind":"b"}],
           "policies":[{"downstream":1,"policy":{"kind":"quorum","count":0}}]})",
       "422 invalid_argument "},
      {R"({"on_failure":"panic"})", "422 invalid_value /on_failure"},
      {R"({"stays_open":"yes"})", "422 wrong_type /stays_open"},
  };
  for (const auto& [body, expected] : refused)
    EXPECT_EQ(refusal("/api/v1/workflows", body), expected) << body;
  EXPECT_EQ(size_at(get("/api/v1/workflows"), "/workflows"), 0u);
}

TEST_F(WorkflowApi, WhatIsNotThereIsNotFound) {
  const std::string uuid = "123e4567-e89b-12d3-a456-426614174000";
  for (const char* rest : {"", "/result", "/attempts", "/signals", "/suspension", "/journal",
                           "/waitpoints/paid/token"}) {
    EXPECT_EQ(get(path("1:" + uuid, rest)).status, 404) << rest;
    EXPECT_EQ(text_of(get(path("1:" + uuid, rest)), "code"), "not_found") << rest;
    EXPECT_EQ(text_of(get(path("1:2", rest)), "code"), "malformed_id") << rest;
  }
  EXPECT_EQ(text_of(get(path("256:" + uuid)), "code"), "malformed_id");
  for (const char* rest : {"", "/graph", "/executions"}) {
    EXPECT_EQ(text_of(get(workflow_path(uuid, rest)), "code"), "not_found") << rest;
    EXPECT_EQ(text_of(get(workflow_path("x", rest)), "code"), "malformed_id") << rest;
  }
  EXPECT_EQ(refusal(path("1:" + uuid, "/cancel"), "{}"), "404 not_found ");
  EXPECT_EQ(refusal(path("1:" + uuid, "/replay"), ""), "404 not_found ");
  EXPECT_EQ(refusal(workflow_path(uuid, "/apply"), ""), "404 not_found ");
}

class WithoutEngine : public test::GatewayTest {
 protected:
  WithoutEngine() { start(); }
};

TEST_F(WithoutEngine, SaysThatThereIsNone) {
  const std::string uuid = "123e4567-e89b-12d3-a456-426614174000";
  for (const std::string& target :
       {std::string("/api/v1/executions"), "/api/v1/executions/1:" + uuid,
        std::string("/api/v1/workflows"), "/api/v1/workflows/" + uuid + "/graph"}) {
    const Reply reply = get(target);
    EXPECT_EQ(reply.status, 404) << target;
    EXPECT_EQ(text_of(reply, "code"), "no_engine") << target;
  }
  EXPECT_EQ(text_of(post("/api/v1/executions", R"({"kind":"a"})"), "code"), "no_engine");
}

}  // namespace
}  // namespace weir::server
