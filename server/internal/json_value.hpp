#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/json_writer.hpp>

// How rows look from outside. Every value is read as the same value that was written:
//
//     boolean            true
//     int64, uint64      7, or "9007199254740993" beyond 2^53 - 1, where some readers lose digits
//     float64            0.1, or "NaN", "Infinity", "-Infinity"
//     decimal(2)         "19.99"
//     text               "text"
//     bytes              "AAEC": base64, RFC 4648 section 4
//     timestamp          "2024-02-29T12:34:56.123456Z"
//     date               "2024-02-29"
//     duration           "PT1M30S"
//     uuid               "123e4567-e89b-12d3-a456-426614174000"
//     null of any type   null
//
// Reading also takes integers as strings of digits, and integers as decimals.
namespace weir::server::internal {

using Row = std::vector<flow::data::Value>;

void write_value(JsonWriter& json, const flow::data::Value& value);
/// `{"id": 1, "item": "apples"}`
void write_row(JsonWriter& json, const flow::data::Schema& schema, const Row& row);
/// `{"columns": [{"name": .., "type": .., "nullable": ..}], "primary_key": [..]}`
void write_schema(JsonWriter& json, const flow::data::Schema& schema);

Outcome<flow::data::Value> read_value(const JsonReader& json, flow::data::DataType type);
/// Columns that are left out are null.
Outcome<Row> read_row(const JsonReader& json, const flow::data::Schema& schema);
/// The columns of the primary key and no others.
Outcome<Row> read_key(const JsonReader& json, const flow::data::Schema& schema);

/// A primary key as a segment of a path: the texts of its values, each with what is no letter or
/// digit encoded, and commas between them. Bytes are base64 of RFC 4648 section 5.
std::string print_key(const flow::data::Schema& schema, const Row& row);
/// Still encoded. Gives as many values as the primary key has.
Outcome<Row> parse_key(std::string_view segment, const flow::data::Schema& schema);

}  // namespace weir::server::internal
