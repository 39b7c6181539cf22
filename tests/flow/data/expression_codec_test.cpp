#include <weir/flow/data/expression_codec.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weir/flow/data/compiled_expression.hpp>
#include <weir/flow/data/errc.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

using test::RandomData;

std::string encoded(const Expression& expression) {
  std::string bytes;
  append_expression(expression, bytes);
  return bytes;
}

Result<Expression> decoded(std::string_view bytes) {
  auto expression = take_expression(bytes);
  if (expression && !bytes.empty()) return Error(Errc::corruption, "bytes are left");
  return expression;
}

/// Of any shape, also of what no function takes.
Expression random_expression(RandomData& random, int depth) {
  if (depth == 0 || random.one_in(5))
    return random.one_in(2) ? lit(random.value(random.type())) : col("c0");
  if (random.one_in(4)) return cast(random_expression(random, depth - 1), random.type());
  static constexpr const char* names[] = {"+", "*", "=", "and", "case", "coalesce", "extract", "f"};
  std::vector<Expression> arguments;
  for (std::uint64_t count = random.below(4); count > 0; --count)
    arguments.push_back(random_expression(random, depth - 1));
  return call(names[random.below(std::size(names))], std::move(arguments));
}

TEST(ExpressionCodec, GivesBackWhatItEncoded) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomData random(seed);
    const Expression expression = random_expression(random, 5);
    const auto read = decoded(encoded(expression));
    ASSERT_TRUE(read) << "seed " << seed << ": " << to_string(expression);
    ASSERT_EQ(to_string(*read), to_string(expression)) << "seed " << seed;
    ASSERT_EQ(encoded(*read), encoded(expression)) << "seed " << seed;
  }
}

/// What was read is as good as what someone wrote: it is compiled or refused.
void use(std::string_view bytes, const ChangeBatch& batch) {
  const auto expression = decoded(bytes);
  if (!expression) return;
  const auto compiled = CompiledExpression::compile(*expression, *batch.schema());
  if (compiled) (void)compiled->evaluate(batch);
}

TEST(ExpressionCodec, RefusesOtherBytesOrMakesAnExpressionOfThem) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const SchemaRef schema = random.schema(1);
    const ChangeBatch batch = random.batch(schema, 5);
    const std::string bytes = encoded(random_expression(random, 4));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_FALSE(decoded(bytes.substr(0, size)));
    for (int change = 0; change < 50; ++change) {
      std::string changed = bytes;
      for (std::uint64_t count = 1 + random.below(3); count > 0; --count)
        changed[random.below(changed.size())] = static_cast<char>(random.below(256));
      use(changed, batch);
    }
    std::string noise;
    for (std::uint64_t count = random.below(40); count > 0; --count)
      noise.push_back(static_cast<char>(random.one_in(2) ? random.below(5) : random.below(256)));
    use(noise, batch);
  }
}

TEST(ExpressionCodec, RefusesACastOfNothingOrOfMuch) {
  std::string bytes = encoded(cast(col("c"), Kind::int64));
  ASSERT_TRUE(decoded(bytes));
  // A cast, int64, one argument: a column, its name.
  ASSERT_EQ(bytes, std::string("\3\2\0\1\1\1c", 7));
  EXPECT_FALSE(decoded(std::string_view("\3\2\0\0", 4))) << "without an argument";
  EXPECT_FALSE(decoded(std::string_view("\3\2\0\2\1\1c\1\1c", 10))) << "with two";
  EXPECT_FALSE(decoded(std::string_view("\3\2\5\1\1\1c", 7))) << "only decimals have a scale";
}

TEST(ExpressionCodec, ReadsWhateverCanBeCompiled) {
  const Schema schema = Schema::make({{"c", Kind::int64}}).value();
  std::size_t compiled = 0;
  std::size_t refused = 0;
  for (const int depth : {10, 900, 999, 1'000, 1'001, 1'100, 3'000}) {
    Expression sum = col("c");
    for (int step = 0; step < depth; ++step) sum = sum + 1;
    const auto made = CompiledExpression::compile(sum, schema);
    EXPECT_EQ(made.has_value(), decoded(encoded(sum)).has_value()) << depth;
    if (made) {
      ++compiled;
    } else {
      EXPECT_EQ(made.error(), Errc::invalid_argument);
      ++refused;
    }
  }
  EXPECT_GE(compiled, 3u);
  EXPECT_GE(refused, 2u);
}

}  // namespace
}  // namespace weir::flow::data
