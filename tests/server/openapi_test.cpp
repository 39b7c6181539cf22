// The description of the API against what is there.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/router.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>

namespace weir::server {
namespace {

using internal::JsonDocument;
using internal::JsonReader;
using test::Reply;
using test::text_at;
using test::text_of;

using Members = std::vector<std::pair<std::string_view, JsonReader>>;

Members members_of(const JsonReader& json) {
  auto members = json.members();
  EXPECT_TRUE(members) << json.pointer();
  return members ? *std::move(members) : Members();
}
std::string text_at(const JsonReader& json, std::string_view name) {
  auto field = json.required(name);
  EXPECT_TRUE(field) << json.pointer() << "/" << name;
  if (!field) return "";
  return std::string(*field->text());
}

/// A body for each operation that takes one. What is in them is there, or will be.
const std::map<std::string, std::string, std::less<>>& bodies() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"commit_transaction",
       R"({"operations":[{"op":"insert","table":"shop.orders","row":{"id":5,"item":"a"}}]})"},
      {"create_execution", R"({"kind":"work","payload":{"base64":"AP8="}})"},
      {"tag_execution", R"({"tags":{"team.name":"blue"}})"},
      {"send_signal", R"({"waitpoint":"paid","token":"none"})"},
      {"approve_execution", R"({"waitpoint":"paid"})"},
      {"cancel_execution", R"({"reason":"enough"})"},
      {"revoke_lease", R"({})"},
      {"change_priority", R"({"priority":7})"},
      {"create_workflow",
       R"({"executions":[{"kind":"a"},{"kind":"b"}],"edges":[{"upstream":0,"downstream":1}]})"},
      {"add_workflow_execution", R"({"kind":"work"})"},
      {"stage_workflow_edges", R"({"edges":[]})"},
      {"set_edge_policy", R"({"downstream":"{execution}","policy":{"kind":"any_of"}})"},
      {"cancel_workflow", R"({})"},
      {"tag_workflow", R"({"tags":{"team.name":"blue"}})"},
      {"claim_executions", R"({"worker":"w"})"},
      {"renew_lease", R"({"handle":"{handle}"})"},
      {"complete_execution", R"({"handle":"{handle}","result":"done"})"},
      {"fail_execution", R"({"handle":"{handle}","reason":"no luck"})"},
      {"delay_execution", R"({"handle":"{handle}"})"},
      {"suspend_execution", R"({"handle":"{handle}","condition":{"waitpoints":["paid"]}})"},
      {"set_lane_state", R"({"state":"active"})"},
      {"set_lane_limit", R"({"concurrency_max":7})"},
      {"set_lane_rate", R"({"rate":{"count":7}})"},
      {"resume_lane", R"({"to":7})"},
      {"set_limit", R"({"rate":{"count":7}})"},
      {"acknowledge_notices", R"({"consumer":"c","number":0})"},
  };
  return all;
}

class OpenApi : public test::GatewayTest {
 protected:
  OpenApi() {
    open_engine();
    start();
    insert({{1, "apples", 2000}});
    const Reply made = post("/api/v1/workflows", bodies().at("create_workflow"));
    names_.emplace_back("{workflow}", text_at(made, "/id"));
    names_.emplace_back("{execution}", text_at(made, "/executions/0"));
    const Reply claimed = post("/api/v1/claims", bodies().at("claim_executions"));
    names_.emplace_back("{handle}", text_at(claimed, "/claims/0/handle"));
    document_.emplace(*JsonDocument::parse(get("/api/v1/openapi.json").body, 64));
  }
  JsonReader root() const { return document_->root(); }
  JsonReader at(std::initializer_list<std::string_view> path) const {
    JsonReader reader = root();
    for (const std::string_view name : path) reader = *reader.required(name);
    return reader;
  }

  /// Names that are there for what stands in a path.
  std::string filled(std::string path) const {
    for (const auto& [parameter, name] : names_) {
      if (const std::size_t found = path.find(parameter); found != std::string::npos)
        path.replace(found, parameter.size(), name);
    }
    return path;
  }
  /// Whether an answer has what its schema says is required, and the types of it.
  void check_schema(const JsonReader& value, JsonReader schema) {
    if (auto reference = schema.optional("$ref")) {
      const std::string name(
          reference->text()->substr(std::string("#/components/schemas/").size()));
      schema = at({"components", "schemas", name});
    }
    if (const auto type = schema.optional("type"))
      EXPECT_TRUE(has_type(value, *type)) << value.pointer() << " is " << value.kind();
    if (value.kind() == "an array") {
      if (const auto items = schema.optional("items"))
        for (const JsonReader& item : *value.items()) check_schema(item, *items);
    }
    if (value.kind() != "an object") return;
    if (const auto required = schema.optional("required")) {
      for (const JsonReader& name : *required->items())
        EXPECT_TRUE(value.optional(*name.text())) << value.pointer() << "/" << *name.text();
    }
    const auto properties = schema.optional("properties");
    if (!properties) return;
    for (const auto& [name, property] : members_of(*properties))
      if (const auto field = value.optional(name)) check_schema(*field, property);
  }

 private:
  static bool has_type(const JsonReader& value, const JsonReader& type) {
    if (auto types = type.items()) {
      for (const JsonReader& one : *types)
        if (has_type(value, one)) return true;
      return false;
    }
    const std::string_view name = *type.text();
    const std::string kind(value.kind());
    if (name == "integer") return kind == "a number";
    return kind.ends_with(name);
  }

  std::optional<JsonDocument> document_;
  std::vector<std::pair<std::string, std::string>> names_ = {
      {"{table}", "shop.orders"}, {"{view}", "shop.large"}, {"{key}", "1"},
      {"{savepoint}", "a"},       {"{waitpoint}", "paid"},  {"{lane}", "default"},
      {"{limit}", "customer"},    {"{consumer}", "c"}};
};

TEST_F(OpenApi, HasEveryRouteOnceAndNothingElse) {
  EXPECT_EQ(text_at(root(), "openapi"), "3.1.0");
  std::set<std::string> described;
  std::set<std::string> operations;
  for (const auto& [path, methods] : members_of(at({"paths"}))) {
    for (const auto& [method, operation] : members_of(methods)) {
      described.insert(std::string(method) + " " + std::string(path));
      EXPECT_TRUE(operations.insert(text_at(operation, "operationId")).second) << path;
    }
  }
  std::set<std::string> routed;
  for (const internal::Route& route : internal::all_routes()) {
    std::string method(route.method);
    for (char& character : method) character = static_cast<char>(std::tolower(character));
    EXPECT_TRUE(routed.insert(method + " " + std::string(route.path)).second) << route.path;
  }
  EXPECT_EQ(described, routed);
}

// Asks for everything that is described, with what it says, and looks at what comes.
TEST_F(OpenApi, EveryOperationAnswersAsItIsDescribed) {
  for (const auto& [path, methods] : members_of(at({"paths"}))) {
    for (const auto& [method, operation] : members_of(methods)) {
      std::string verb(method);
      for (char& character : verb) character = static_cast<char>(std::toupper(character));
      const bool has_body = operation.optional("requestBody").has_value();
      const auto body = bodies().find(text_at(operation, "operationId"));
      ASSERT_EQ(has_body, body != bodies().end()) << path;
      const Reply reply =
          connect()->request(verb, filled(std::string(path)), has_body ? filled(body->second) : "");
      SCOPED_TRACE(verb + " " + std::string(path) + ": " + reply.body);
      EXPECT_NE(text_of(reply, "code"), "unknown_path");
      EXPECT_NE(reply.status, 405);
      EXPECT_NE(reply.status, 500);
      const auto responses = *operation.required("responses");
      const auto described = responses.optional(std::to_string(reply.status));
      const JsonReader response = described ? *described : *responses.required("default");
      if (reply.status == 204) continue;
      const auto content = members_of(*response.required("content"));
      ASSERT_EQ(content.size(), 1u);
      EXPECT_TRUE(reply.headers.at("content-type").starts_with(content[0].first));
      if (!content[0].first.ends_with("json")) continue;
      auto answered = JsonDocument::parse(reply.body, 64);
      ASSERT_TRUE(answered);
      check_schema(answered->root(), *content[0].second.required("schema"));
    }
  }
}

TEST_F(OpenApi, EveryParameterIsTakenAndNoOther) {
  for (const auto& [path, methods] : members_of(at({"paths"}))) {
    const auto operation = methods.optional("get");
    if (!operation) continue;
    const std::string target = filled(std::string(path));
    EXPECT_EQ(text_of(get(target + "?no_such=1"), "code"), "unknown_parameter") << path;
    for (const JsonReader& parameter : *operation->required("parameters")->items()) {
      if (text_at(parameter, "in") != "query") continue;
      const std::string name = text_at(parameter, "name");
      EXPECT_NE(text_of(get(target + "?" + name + "=1"), "code"), "unknown_parameter") << name;
      if (text_at(*parameter.required("schema"), "type") == "integer")
        EXPECT_EQ(text_of(get(target + "?" + name + "=x"), "code"), "invalid_parameter") << name;
    }
  }
}

TEST_F(OpenApi, EverySchemaThatIsNamedIsThere) {
  const std::string text = get("/api/v1/openapi.json").body;
  const std::string prefix = "#/components/schemas/";
  std::size_t count = 0;
  for (std::size_t found = text.find(prefix); found != std::string::npos;
       found = text.find(prefix, found + 1), ++count) {
    const std::size_t begin = found + prefix.size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(at({"components", "schemas"}).optional(name)) << name;
  }
  EXPECT_GT(count, 30u);
  EXPECT_EQ(text.find("\"@"), std::string::npos);
}

}  // namespace
}  // namespace weir::server
