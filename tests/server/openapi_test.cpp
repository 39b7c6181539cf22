// The description of the API against what is there.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/router.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::server {
namespace {

using internal::JsonDocument;
using internal::JsonReader;
using test::Reply;
using test::size_at;
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
      {"send_signal", R"({"waitpoint":"paid","token":"{token}"})"},
      {"approve_execution", R"({"waitpoint":"paid"})"},
      {"cancel_execution", R"({"reason":"enough"})"},
      {"revoke_lease", R"({})"},
      {"change_priority", R"({"priority":7})"},
      {"create_workflow",
       R"({"stays_open":true,"executions":[{"kind":"a"},{"kind":"b"},{"kind":"c"}],)"
       R"("edges":[{"upstream":0,"downstream":1}]})"},
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

/// Operations that cannot be done here, and why.
const std::map<std::string, std::string, std::less<>>& refusals() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"subscribe_to_table", "upgrade_required"},
      {"subscribe_to_view", "upgrade_required"},
      {"skip_view", "invalid_argument"},  // it has not failed
  };
  return all;
}

/// A base, so that they are there before the store and go after it.
struct StoreSurroundings {
  storage::test::TemporaryDirectory folder;
  telemetry::Telemetry telemetry{{.measures_always = true}, {}};
};

class OpenApi : protected StoreSurroundings, public test::GatewayTest {
 protected:
  // Savepoints need a disk, and `/metrics` a telemetry.
  OpenApi()
      : GatewayTest(ActorSystemOptions{.telemetry = &telemetry},
                    storage::StoreOptions{.directory = folder / "store"}) {
    open_engine();
    start();
    insert({{1, "apples", 2000}});
    begin_anew();
    document_.emplace(*JsonDocument::parse(get("/api/v1/openapi.json").body, 64));
  }
  JsonReader root() const { return document_->root(); }
  JsonReader at(std::initializer_list<std::string_view> path) const {
    JsonReader reader = root();
    for (const std::string_view name : path) reader = *reader.required(name);
    return reader;
  }

  /// A workflow of which no operation has taken anything: its first execution is claimed, another
  /// one can be, and the third has a waitpoint that somebody waits for.
  void begin_anew() {
    const Reply made = post("/api/v1/workflows", bodies().at("create_workflow"));
    names_["{workflow}"] = text_at(made, "/id");
    names_["{execution}"] = text_at(made, "/executions/0");
    names_["{downstream}"] = text_at(made, "/executions/1");
    const Reply claimed = post("/api/v1/claims", R"({"worker":"w","executions_max":100})");
    for (std::size_t index = 0; index < size_at(claimed, "/claims"); ++index) {
      const std::string claim = "/claims/" + std::to_string(index);
      if (text_at(claimed, claim + "/execution") == names_["{execution}"])
        names_["{handle}"] = text_at(claimed, claim + "/handle");
    }
    EXPECT_EQ(post("/api/v1/executions", bodies().at("create_execution")).status, 201);
  }
  /// The execution waits for a signal, and gives the token for it.
  void suspend() {
    const Reply reply = post("/api/v1/claims/suspend", filled(bodies().at("suspend_execution")));
    names_["{token}"] = text_at(reply, "/tokens/0/token");
  }

  /// From here on `{execution}` is one that nobody has claimed.
  void turn_to_waiting() { names_["{execution}"] = names_["{downstream}"]; }
  /// For good.
  void fail() {
    const std::string body = R"({"handle":"{handle}","reason":"no luck","final":true})";
    EXPECT_EQ(post("/api/v1/claims/fail", filled(body)).status, 200);
  }

  /// Names that are there for what stands in a path.
  std::string filled(std::string path) const {
    for (const auto& [parameter, name] : names_) {
      if (const std::size_t found = path.find(parameter); found != std::string::npos)
        path.replace(found, parameter.size(), name);
    }
    return path;
  }
  /// Where an answer is not as its schema says, one line each; a field that is not in it is one.
  std::string mismatches(const JsonReader& value, JsonReader schema) {
    if (const auto reference = schema.optional("$ref")) {
      const std::string name(
          reference->text()->substr(std::string("#/components/schemas/").size()));
      schema = at({"components", "schemas", name});
    }
    std::string found;
    if (const auto type = schema.optional("type"); type && !has_type(value, *type))
      found += value.pointer() + " is " + std::string(value.kind()) + "\n";
    if (const auto words = schema.optional("enum"); words && !is_one_of(value, *words))
      found += value.pointer() + " is none of the enum\n";
    if (const auto pattern = schema.optional("pattern"); pattern && !fits(value, *pattern))
      found += value.pointer() + " is not as its pattern\n";
    if (const auto choices = schema.optional("oneOf"); choices && !is_one_choice(value, *choices))
      found += value.pointer() + " is none or more than one of its choices\n";
    if (const auto items = schema.optional("items"); items && value.kind() == "an array")
      for (const JsonReader& item : *value.items()) found += mismatches(item, *items);
    if (value.kind() == "an object") found += mismatches_of_fields(value, schema);
    return found;
  }

 private:
  std::string mismatches_of_fields(const JsonReader& value, const JsonReader& schema) {
    std::string found;
    if (const auto required = schema.optional("required")) {
      for (const JsonReader& name : *required->items())
        if (!value.optional(*name.text()))
          found += value.pointer() + "/" + std::string(*name.text()) + " is missing\n";
    }
    const auto properties = schema.optional("properties");
    const auto others = schema.optional("additionalProperties");
    const bool has_others = others && others->kind() == "an object";
    for (const auto& [name, field] : members_of(value)) {
      const auto property = properties ? properties->optional(name) : std::nullopt;
      if (property) {
        found += mismatches(field, *property);
      } else if (has_others) {
        found += mismatches(field, *others);
      } else if (properties) {
        found += field.pointer() + " is not described\n";
      }
    }
    return found;
  }
  bool is_one_choice(const JsonReader& value, const JsonReader& choices) {
    int fitting = 0;
    for (const JsonReader& choice : *choices.items())
      fitting += mismatches(value, choice).empty() ? 1 : 0;
    return fitting == 1;
  }
  static bool is_one_of(const JsonReader& value, const JsonReader& words) {
    for (const JsonReader& word : *words.items())
      if (word.kind() == value.kind() && word.scalar() == value.scalar()) return true;
    return false;
  }
  static bool fits(const JsonReader& value, const JsonReader& pattern) {
    const auto text = value.text();
    return !text ||
           std::regex_search(std::string(*value.text()), std::regex(std::string(*pattern.text())));
  }
  static bool has_type(const JsonReader& value, const JsonReader& type) {
    if (auto types = type.items()) {
      for (const JsonReader& one : *types)
        if (has_type(value, one)) return true;
      return false;
    }
    const std::string_view name = *type.text();
    if (name == "integer") {
      const JsonReader::Scalar scalar = value.scalar();
      return std::holds_alternative<std::int64_t>(scalar) ||
             std::holds_alternative<std::uint64_t>(scalar);
    }
    return value.kind().ends_with(name);
  }

  std::optional<JsonDocument> document_;
  std::map<std::string, std::string, std::less<>> names_ = {
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

TEST_F(OpenApi, KnowsEveryPhaseOfAView) {
  using flow::view::ViewPhase;
  std::set<std::string> described;
  for (const JsonReader& phase :
       *at({"components", "schemas", "ViewStatus", "properties", "phase", "enum"}).items())
    described.insert(std::string(*phase.text()));
  std::set<std::string> phases;
  for (auto value = 0; value <= static_cast<int>(ViewPhase::waiting); ++value)
    phases.insert(to_string(static_cast<ViewPhase>(value)));
  EXPECT_EQ(described, phases);
}

// Asks for everything that is described, with what it says, and looks at what comes.
TEST_F(OpenApi, EveryOperationAnswersAsItIsDescribed) {
  for (const auto& [path, methods] : members_of(at({"paths"}))) {
    for (const auto& [method, operation] : members_of(methods)) {
      std::string verb(method);
      for (char& character : verb) character = static_cast<char>(std::toupper(character));
      const bool has_body = operation.optional("requestBody").has_value();
      const std::string name = text_at(operation, "operationId");
      const auto body = bodies().find(name);
      ASSERT_EQ(has_body, body != bodies().end()) << path;
      begin_anew();
      if (name == "send_signal" || name == "resume_execution") suspend();
      if (name == "replay_execution") fail();
      if (name == "change_priority") turn_to_waiting();
      const Reply reply =
          connect()->request(verb, filled(std::string(path)), has_body ? filled(body->second) : "");
      SCOPED_TRACE(verb + " " + std::string(path) + ": " + reply.body);
      const auto refused = refusals().find(name);
      EXPECT_EQ(reply.status / 100 == 2 ? "" : text_of(reply, "code"),
                refused == refusals().end() ? "" : refused->second);
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
      EXPECT_EQ(mismatches(answered->root(), *content[0].second.required("schema")), "");
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
