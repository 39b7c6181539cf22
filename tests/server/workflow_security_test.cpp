// Who may do what with executions and workflows, and what is there for whom.

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/server/internal/problem.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using test::Reply;
using test::size_at;
using test::text_at;
using test::text_of;

class WorkflowSecurity : public test::GatewayTest {
 protected:
  WorkflowSecurity() {
    open_engine();
    options_.audit = [this](const AuditRecord& record) {
      std::scoped_lock hold(mutex_);
      audit_.push_back(record.caller + " " + record.method + " " + record.target + " " +
                       std::to_string(record.status) + " " + record.problem);
    };
  }

  std::string add_token(const std::string& name, Roles roles,
                        std::vector<std::string> namespaces = {}) {
    NewToken made = make_token(name, roles, std::move(namespaces)).value();
    options_.tokens.push_back(made.token);
    return "Authorization: Bearer " + made.bearer + "\r\n";
  }
  std::string create(const std::string& who, const std::string& space) {
    const Reply made =
        post("/api/v1/executions", R"({"kind":"w","namespace":")" + space + "\"}", who);
    EXPECT_EQ(made.status, 201) << made.body;
    return text_at(made, "/id");
  }
  static std::string told(const Reply& reply) {
    return std::to_string(reply.status) + " " + text_of(reply, "code");
  }
  std::vector<std::string> audit() {
    std::scoped_lock hold(mutex_);
    return audit_;
  }

  GatewayOptions options_;

 private:
  std::mutex mutex_;
  std::vector<std::string> audit_;
};

TEST_F(WorkflowSecurity, EachOperationNeedsItsRole) {
  const std::string reader = add_token("reader", {Role::read});
  const std::string writer = add_token("writer", {Role::write});
  const std::string operates = add_token("operates", {Role::operate});
  start(options_);
  const std::string id = create(writer, "default");
  const std::string path = "/api/v1/executions/" + id;
  EXPECT_EQ(get(path, reader).status, 200);
  EXPECT_EQ(told(get(path, writer)), "403 wrong_role");
  EXPECT_EQ(told(get(path + "/waitpoints/a/token", reader)), "403 wrong_role");
  EXPECT_EQ(get(path + "/waitpoints/a/token", operates).status, 200);
  EXPECT_EQ(told(post("/api/v1/claims", R"({"worker":"w"})", reader)), "403 wrong_role");
  EXPECT_EQ(told(post("/api/v1/claims", R"({"worker":"w"})", operates)), "403 wrong_role");
  for (const char* what : {"/cancel", "/revoke"}) {
    EXPECT_EQ(told(post(path + what, "{}", writer)), "403 wrong_role") << what;
  }
  for (const char* what : {"/replay", "/resume"})
    EXPECT_EQ(told(post(path + what, "", writer)), "403 wrong_role") << what;
  EXPECT_EQ(told(post("/api/v1/lanes/default/pause", "", writer)), "403 wrong_role");
  EXPECT_EQ(post("/api/v1/lanes/default/pause", "", operates).status, 204);
  EXPECT_EQ(post(path + "/cancel", "{}", operates).status, 200);
}

TEST_F(WorkflowSecurity, WhatIsOfOtherNamespacesIsNotThere) {
  const std::string all = add_token("all", Roles::all());
  const std::string shop = add_token("shop", Roles::all(), {"shop"});
  const std::string both = add_token("both", Roles::all(), {"shop", "mail"});
  start(options_);
  const std::string own = create(shop, "shop");
  const std::string others = create(all, "other");
  const std::string path = "/api/v1/executions/" + others;
  for (const char* rest :
       {"", "/result", "/attempts", "/signals", "/suspension", "/journal", "/waitpoints/a/token"})
    EXPECT_EQ(told(get(path + rest, shop)), "404 not_found") << rest;
  EXPECT_EQ(told(post(path + "/cancel", "{}", shop)), "404 not_found");
  EXPECT_EQ(told(post(path + "/tags", R"({"tags":{"a.b":"c"}})", shop)), "404 not_found");
  EXPECT_EQ(told(post(path + "/approve", R"({"waitpoint":"a"})", shop)), "404 not_found");
  for (const std::string& who : {shop, both}) {
    const Reply listed = get("/api/v1/executions", who);
    ASSERT_EQ(size_at(listed, "/executions"), 1u) << listed.body;
    EXPECT_EQ(text_at(listed, "/executions/0/id"), own);
    EXPECT_EQ(size_at(get("/api/v1/executions?namespace=other", who), "/executions"), 0u);
  }
  EXPECT_EQ(size_at(get("/api/v1/executions", all), "/executions"), 2u);
  EXPECT_EQ(get("/api/v1/executions/" + own, shop).status, 200);
}

TEST_F(WorkflowSecurity, WorkflowsOfOtherNamespacesAreNotThere) {
  const std::string all = add_token("all", Roles::all());
  const std::string shop = add_token("shop", Roles::all(), {"shop"});
  start(options_);
  const std::string graph = R"({"executions":[{"kind":"a"}],"stays_open":true)";
  const std::string others =
      text_at(post("/api/v1/workflows", graph + R"(,"namespace":"other"})", all), "/id");
  const std::string own = text_at(post("/api/v1/workflows", graph + "}", shop), "/id");
  EXPECT_EQ(text_at(get("/api/v1/workflows/" + own, all), "/namespace"), "shop")
      << "the token's, if it has one";
  const std::string path = "/api/v1/workflows/" + others;
  for (const char* rest : {"", "/graph", "/executions"})
    EXPECT_EQ(told(get(path + rest, shop)), "404 not_found") << rest;
  EXPECT_EQ(told(get("/api/v1/executions?workflow=" + others, shop)), "404 not_found");
  EXPECT_EQ(told(post(path + "/executions", R"({"kind":"b"})", shop)), "404 not_found");
  EXPECT_EQ(told(post(path + "/cancel", "{}", shop)), "404 not_found");
  EXPECT_EQ(told(post(path + "/apply", "", shop)), "404 not_found");
  const std::string member = R"({"kind":"b","workflow":")" + others + "\"}";
  EXPECT_EQ(told(post("/api/v1/executions", member, shop)), "404 not_found");
  EXPECT_EQ(size_at(get("/api/v1/workflows", shop), "/workflows"), 1u);
  EXPECT_EQ(size_at(get("/api/v1/workflows", all), "/workflows"), 2u);
}

TEST_F(WorkflowSecurity, ATokenMakesAndClaimsOnlyWhatIsOfItsNamespaces) {
  const std::string all = add_token("all", Roles::all());
  const std::string shop = add_token("shop", Roles::all(), {"shop"});
  const std::string both = add_token("both", Roles::all(), {"shop", "mail"});
  start(options_);
  const std::string body = R"({"kind":"w","namespace":"other"})";
  EXPECT_EQ(told(post("/api/v1/executions", body, shop)), "403 wrong_namespace");
  EXPECT_EQ(told(post("/api/v1/workflows", R"({"namespace":"other"})", shop)),
            "403 wrong_namespace");
  EXPECT_EQ(told(post("/api/v1/executions", R"({"kind":"w"})", both)), "403 wrong_namespace")
      << "which of them is not said";
  create(all, "other");
  const std::string own = create(shop, "shop");
  const std::string request = R"({"worker":"w","executions_max":9})";
  const Reply claimed = post("/api/v1/claims", request, shop);
  ASSERT_EQ(size_at(claimed, "/claims"), 1u) << claimed.body;
  EXPECT_EQ(text_at(claimed, "/claims/0/execution"), own);
  EXPECT_EQ(told(post("/api/v1/claims", R"({"worker":"w","namespaces":["other"]})", shop)),
            "403 wrong_namespace");
  const Reply others = post("/api/v1/claims", request, all);
  ASSERT_EQ(size_at(others, "/claims"), 1u);
  const std::string foreign = R"({"handle":")" + text_at(others, "/claims/0/handle") + "\"}";
  EXPECT_EQ(told(post("/api/v1/claims/complete", foreign, shop)), "404 not_found");
  EXPECT_EQ(told(post("/api/v1/claims/renew", foreign, shop)), "404 not_found");
  EXPECT_EQ(post("/api/v1/claims/complete", foreign, all).status, 204);
  const Reply notices = get("/api/v1/notices", shop);
  for (std::size_t at = 0; at < size_at(notices, "/notices"); ++at)
    EXPECT_EQ(text_at(notices, "/notices/" + std::to_string(at) + "/namespace"), "shop");
  EXPECT_EQ(size_at(notices, "/notices"), 1u);
}

TEST_F(WorkflowSecurity, WhatBelongsToNoNamespaceIsNotForATokenOfSome) {
  const std::string shop = add_token("shop", Roles::all(), {"shop"});
  start(options_);
  for (const char* target :
       {"/api/v1/lanes/default", "/api/v1/limits/a", "/api/v1/engine", "/api/v1/notices/consumers"})
    EXPECT_EQ(told(get(target, shop)), "403 wrong_namespace") << target;
  EXPECT_EQ(told(post("/api/v1/lanes/default/pause", "", shop)), "403 wrong_namespace");
  EXPECT_EQ(told(post("/api/v1/notices/acknowledge", R"({"consumer":"c","number":1})", shop)),
            "403 wrong_namespace");
}

TEST_F(WorkflowSecurity, WhatChangesSomethingIsAudited) {
  const std::string writer = add_token("writer", {Role::write});
  start(options_);
  create(writer, "default");
  post("/api/v1/claims", R"({"worker":"w"})", writer);
  post("/api/v1/claims/complete", R"({"handle":"x"})", writer);
  const std::vector<std::string> expected = {
      "writer POST /api/v1/executions 201 ", "writer POST /api/v1/claims 200 ",
      "writer POST /api/v1/claims/complete 422 malformed_handle"};
  EXPECT_EQ(audit(), expected);
}

TEST(WorkflowProblems, EveryErrorHasACodeAndCarriesItsDetail) {
  using flow::workflow::Errc;
  for (int value = 1; value <= static_cast<int>(Errc::overtaken); ++value) {
    const auto code = static_cast<Errc>(value);
    const internal::Problem problem = internal::problem_of(Error(code, "the offending name"));
    const bool is_inside =
        code == Errc::corruption || code == Errc::step_failed || code == Errc::code_changed;
    EXPECT_EQ(problem.status == 500, is_inside) << problem.code;
    // Of a database that is away it would be an address.
    const bool is_away = code == Errc::unavailable || code == Errc::retry_exhausted;
    EXPECT_EQ(problem.detail.find("the offending name") == std::string::npos, is_inside || is_away);
    if (!is_inside) EXPECT_NE(problem.code, "internal") << value;
  }
}

}  // namespace
}  // namespace weir::server
