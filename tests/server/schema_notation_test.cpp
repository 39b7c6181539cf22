#include <weir/server/internal/schema_notation.hpp>

#include <gtest/gtest.h>

namespace weir::server::internal {
namespace {

std::string json_of(std::string_view notation) {
  std::string all;
  for (const auto& [name, json] : expand_schemas({notation})) all += name + " " + json + "\n";
  return all;
}

TEST(SchemaNotation, TypesWithWhatIsSaidOfThem) {
  EXPECT_EQ(json_of("A = string"), "A {\"type\":\"string\"}\n");
  EXPECT_EQ(json_of("A = any"), "A {}\n");
  EXPECT_EQ(json_of("A = number? 'or none'"),
            R"(A {"type":["number","null"],"description":"or none"})"
            "\n");
  EXPECT_EQ(json_of("A = integer(1..100)=1"),
            R"(A {"type":"integer","minimum":1,"maximum":100,"default":1})"
            "\n");
  EXPECT_EQ(json_of("A = string=default B = string?:date-time"),
            R"(A {"type":"string","default":"default"})"
            "\n"
            R"(B {"type":["string","null"],"format":"date-time"})"
            "\n");
  EXPECT_EQ(json_of("A = <one two null>"), "A {\"enum\":[\"one\",\"two\",null]}\n");
  EXPECT_EQ(json_of("A = @B"), "A {\"$ref\":\"#/components/schemas/B\"}\n");
}

TEST(SchemaNotation, ArraysAndChoices) {
  EXPECT_EQ(json_of("A = [@B](..10)"),
            R"(A {"type":"array","items":{"$ref":"#/components/schemas/B"},"maxItems":10})"
            "\n");
  EXPECT_EQ(json_of("A = integer | `{\"pattern\":\"^-\"}` 'either'"),
            R"(A {"oneOf":[{"type":"integer"},{"pattern":"^-"}],"description":"either"})"
            "\n");
}

TEST(SchemaNotation, ObjectsWhichMayHaveOtherFieldsOrNot) {
  EXPECT_EQ(json_of("A = {a! string, b [integer]}?"),
            R"(A {"type":["object","null"],"required":["a"],"properties":{"a":{"type":"string"},)"
            R"("b":{"type":"array","items":{"type":"integer"}}}})"
            "\n");
  EXPECT_EQ(json_of("A = {|a string|}"), R"(A {"type":"object","additionalProperties":false,)"
                                         R"("properties":{"a":{"type":"string"}}})"
                                         "\n");
  EXPECT_EQ(json_of("A = {*: @B}"),
            R"(A {"type":"object","additionalProperties":{"$ref":"#/components/schemas/B"}})"
            "\n");
}

TEST(SchemaNotation, AnObjectTakesTheFieldsOfAnother) {
  const std::string both = json_of("A = {a! string}\nB = {|...A, b integer|}");
  EXPECT_EQ(both.substr(both.find('\n') + 1),
            R"(B {"type":"object","required":["a"],"additionalProperties":false,)"
            R"("properties":{"a":{"type":"string"},"b":{"type":"integer"}}})"
            "\n");
}

TEST(SchemaNotationDeathTest, WhatIsMalformedEndsTheProgram) {
  for (const char* malformed : {"A", "A = ", "A = {a string", "A = 'words", "A = [string"})
    EXPECT_DEATH(json_of(malformed), "a schema") << malformed;
}

}  // namespace
}  // namespace weir::server::internal
