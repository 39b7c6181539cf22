#include <weir/tests/flow/data/support/random_data.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace weir::flow::data::test {
namespace {

constexpr double floats[] = {0.0,
                             -0.0,
                             1.5,
                             -2.0,
                             1e300,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::denorm_min()};

}  // namespace

std::int64_t RandomData::integer() {
  switch (below(6)) {
    case 0: return std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(below(3));
    case 1: return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(below(3));
    case 2: return std::bit_cast<std::int64_t>(random_());
    default: return static_cast<std::int64_t>(below(11)) - 5;
  }
}

std::string RandomData::letters(bool is_text) {
  static constexpr const char* pieces[] = {"a", "b", "é", "日", " ", "%"};
  std::string text;
  for (std::uint64_t i = below(5); i > 0; --i) {
    if (is_text) {
      text += pieces[below(std::size(pieces))];
    } else {
      text += static_cast<char>(one_in(2) ? 0 : random_());
    }
  }
  return text;
}

Value RandomData::value(DataType type, bool is_nullable) {
  if (is_nullable && one_in(5)) return {};
  switch (type.kind) {
    case Kind::boolean: return one_in(2);
    case Kind::int64: return integer();
    case Kind::uint64: return static_cast<std::uint64_t>(integer());
    case Kind::float64:
      return one_in(2) ? floats[below(std::size(floats))] : static_cast<double>(integer()) / 4;
    case Kind::decimal: {
      Int128 coefficient = Int128{integer()} * (one_in(3) ? integer() : 1);
      return Decimal{coefficient % powers_of_ten[38], type.scale};
    }
    case Kind::text: return letters(true);
    case Kind::bytes: return Bytes{letters(false)};
    case Kind::timestamp:
      return Timestamp(std::chrono::microseconds(integer() % 62'135'596'800'000'000));
    case Kind::date: return Date(std::chrono::days(integer() % 700'000));
    case Kind::duration: return std::chrono::microseconds(integer());
    case Kind::uuid: break;
  }
  Uuid uuid;
  for (auto& byte : uuid.bytes) byte = static_cast<std::uint8_t>(one_in(2) ? 0 : random_());
  return uuid;
}

ChangeBatch RandomData::batch(const SchemaRef& schema, std::size_t rows) {
  BatchBuilder builder(schema);
  for (std::size_t i = 0; i < rows; ++i) {
    (void)builder.add(row(*schema), static_cast<Weight>(below(4)) - 1);
  }
  return builder.finish();
}

SchemaRef RandomData::schema(std::size_t columns_max) {
  std::vector<Field> fields;
  std::vector<std::string> key;
  for (std::size_t i = 1 + below(columns_max); i > 0; --i) {
    fields.push_back({"c" + std::to_string(fields.size()), type(), !one_in(3)});
    if (one_in(3)) key.push_back(fields.back().name);
  }
  return std::make_shared<const Schema>(Schema::make(std::move(fields), key).value());
}

}  // namespace weir::flow::data::test
