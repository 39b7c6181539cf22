#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>

namespace weir::flow::data::test {

inline constexpr Kind all_kinds[] = {Kind::boolean, Kind::int64,    Kind::uint64, Kind::float64,
                                     Kind::decimal, Kind::text,     Kind::bytes,  Kind::timestamp,
                                     Kind::date,    Kind::duration, Kind::uuid};

/// Values with many that are equal, at a limit, or null.
class RandomData {
 public:
  explicit RandomData(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t many) { return below(many) == 0; }

  DataType type() {
    const Kind kind = all_kinds[below(std::size(all_kinds))];
    if (kind != Kind::decimal) return kind;
    return DataType::decimal(static_cast<std::uint8_t>(below(39)));
  }
  /// Null one time in five, if it may be.
  Value value(DataType type, bool is_nullable = true);
  std::vector<Value> row(const Schema& schema) {
    std::vector<Value> values;
    for (const Field& field : schema.fields())
      values.push_back(value(field.type, field.is_nullable));
    return values;
  }
  ChangeBatch batch(const SchemaRef& schema, std::size_t rows);
  SchemaRef schema(std::size_t columns_max);

 private:
  std::int64_t integer();
  std::string letters(bool is_text);

  std::mt19937_64 random_;
};

}  // namespace weir::flow::data::test
