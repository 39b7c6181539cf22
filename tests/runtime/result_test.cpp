#include <weir/runtime/result.hpp>

#include <gtest/gtest.h>

#include <string>
#include <system_error>

namespace weir {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error(Errc::invalid_argument, std::to_string(value) + " is odd");
  return value / 2;
}

TEST(Result, HoldsTheValueOfASuccess) {
  const Result<int> result = half(10);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 5);
}

TEST(Result, HoldsTheErrorOfAFailure) {
  const Result<int> result = half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::invalid_argument);
  EXPECT_EQ(result.error().detail(), "7 is odd");
}

TEST(Result, ValueOfAFailureThrowsTheError) {
  try {
    half(7).value();
    FAIL() << "no exception";
  } catch (const ErrorException& exception) {
    EXPECT_EQ(exception.error(), Errc::invalid_argument);
    EXPECT_EQ(exception.code(), make_error_code(Errc::invalid_argument));
  }
}

TEST(Result, OfVoidSucceedsWithoutAValue) {
  const Result<> success;
  const Result<> failure = Errc::closed;
  EXPECT_TRUE(success);
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error(), Errc::closed);
}

TEST(Error, MessageIsCodeThenDetail) {
  EXPECT_EQ(Error(Errc::full).message(), "mailbox full");
  EXPECT_EQ(Error(Errc::full, "account").message(), "mailbox full: account");
}

TEST(Error, WithoutDetailHasAnEmptyOne) { EXPECT_EQ(Error(Errc::full).detail(), ""); }

TEST(Error, CarriesCodesOfOtherCategories) {
  const Error error = std::make_error_code(std::errc::address_in_use);
  EXPECT_EQ(error.code(), std::errc::address_in_use);
  EXPECT_FALSE(error == Errc::already_exists);
}

}  // namespace
}  // namespace weir
