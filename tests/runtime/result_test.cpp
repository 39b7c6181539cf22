#include <weir/runtime/result.hpp>

#include <gtest/gtest.h>

#include <any>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

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

TEST(Result, EveryAccessToTheValueOfAFailureThrowsTheError) {
  Result<std::string> failure = Errc::full;
  EXPECT_THROW(*failure, ErrorException);
  EXPECT_THROW(failure->size(), ErrorException);
  EXPECT_THROW(failure.value(), ErrorException);
  EXPECT_THROW(*std::as_const(failure), ErrorException);
  EXPECT_THROW(*std::move(failure), ErrorException);
  EXPECT_THROW(*Result<>(Errc::full), ErrorException);
}

TEST(Result, ErrorOfASuccessHasACodeOfZero) {
  const Result<int> number = 1;
  const Result<> nothing;
  EXPECT_FALSE(number.error().code());
  EXPECT_FALSE(nothing.error().code());
  EXPECT_FALSE(Result<int>(1).error().code());
  EXPECT_FALSE(Result<>().error().code());
}

TEST(Result, GivesAwayAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  Result<std::unique_ptr<int>> moved = std::move(result);
  const std::unique_ptr<int> value = *std::move(moved);
  EXPECT_EQ(*value, 5);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
}

TEST(Result, IsAssignedValuesAndErrorsInAnyOrder) {
  const Result<std::string> success = std::string(100, 'a');
  const Result<std::string> failure = Error(Errc::closed, "the gate");
  Result<std::string> result = success;
  result = failure;
  EXPECT_EQ(result.error().detail(), "the gate");
  result = failure;
  EXPECT_EQ(result.error(), Errc::closed);
  result = success;
  EXPECT_EQ(*result, *success);
  result = *success + "b";
  EXPECT_EQ(result->size(), 101);
}

TEST(Result, ConvertsWithItsValue) {
  const Result<int> number = 7;
  const Result<std::int64_t> wider = number;
  EXPECT_EQ(*wider, 7);
  const Result<std::shared_ptr<const int>> shared =
      Result<std::unique_ptr<int>>(std::make_unique<int>(8));
  EXPECT_EQ(**shared, 8);
  const Result<double> failure = Result<int>(Error(Errc::not_found, "it"));
  EXPECT_EQ(failure.error().message(), "not found: it");
  static_assert(!std::is_convertible_v<Result<std::string>, Result<int>>);
}

TEST(Result, ConvertsToAnythingWithItsValueAndNotAsAWhole) {
  Result<int> number = 7;
  const Result<std::any> anything = number;
  EXPECT_EQ(std::any_cast<int>(*anything), 7);
}

TEST(Result, TestsWhetherThereIsAValueAndNotWhatItIs) {
  static_assert(!std::is_convertible_v<Result<int>, bool>);
  const Result<bool> no = false;
  ASSERT_TRUE(no);
  EXPECT_FALSE(*no);
  const Result<bool> converted = Result<int>(Errc::full);
  EXPECT_FALSE(converted);
}

TEST(Result, OfACodeIsAValueUnlessItIsAnError) {
  const Result<std::error_code> success = std::make_error_code(std::errc::io_error);
  const Result<std::error_code> failure = Error(Errc::full);
  EXPECT_EQ(*success, std::errc::io_error);
  EXPECT_EQ(failure.error(), Errc::full);
  static_assert(!std::is_convertible_v<Errc, Result<std::error_code>>, "it could be either");
}

struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  ThrowsWhenMoved(const ThrowsWhenMoved& other) : moves_left(other.moves_left - 1) {
    if (moves_left < 0) throw std::runtime_error("cannot be moved");
  }
  int moves_left = 1;
};

TEST(Result, IsAFailureAfterAnAssignmentThatThrew) {
  Result<ThrowsWhenMoved> result;
  Result<ThrowsWhenMoved> other;
  EXPECT_THROW(result = std::move(other), std::runtime_error);
  EXPECT_EQ(result.error(), Errc::failed);
}

TEST(Result, DestroysWhatItHolds) {
  const auto counted = std::make_shared<int>(1);
  {
    Result<std::shared_ptr<int>> result = counted;
    const Result<std::shared_ptr<int>> copy = result;
    EXPECT_EQ(counted.use_count(), 3);
    result = Errc::closed;
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Result, EqualsAnotherWithTheSameValueOrCode) {
  const Error odd(Errc::invalid_argument, "7 is odd");
  EXPECT_TRUE(half(10) == half(10));
  EXPECT_TRUE(half(10) == 5);
  EXPECT_TRUE(half(7) == half(9)) << "the detail is for people";
  EXPECT_TRUE(half(7) == odd);
  EXPECT_TRUE(Errc::invalid_argument == half(7));
  EXPECT_TRUE(half(10) != half(12));
  EXPECT_TRUE(half(7) != Errc::full);
  EXPECT_TRUE(half(0) != Errc::full) << "a value is no error, not even zero";
  EXPECT_TRUE(half(7) != 0);
}

TEST(Result, OfVoidEqualsAnotherWithTheSameCode) {
  EXPECT_TRUE(Result<>() == Result<>());
  EXPECT_TRUE(Result<>(Errc::full) == Errc::full);
  EXPECT_TRUE(Result<>(Errc::full) != Errc::closed);
  EXPECT_TRUE(Result<>(Errc::full) != Result<>());
}

template <class T>
concept Comparable = requires(const T& value) { value == value; };

TEST(Result, ComparesIfItsValueDoes) {
  static_assert(Comparable<Result<std::string>>);
  static_assert(!Comparable<Result<std::any>>);
}

TEST(Result, GivesAnotherValueInsteadOfNone) {
  EXPECT_EQ(half(10).value_or(1), 5);
  EXPECT_EQ(half(7).value_or(1), 1);
  const Result<std::string> failure = Errc::full;
  EXPECT_EQ(failure.value_or("none"), "none");
  Result<std::unique_ptr<int>> owner = std::make_unique<int>(3);
  EXPECT_EQ(*std::move(owner).value_or(nullptr), 3);
}

TEST(Error, MessageIsCodeThenDetail) {
  EXPECT_EQ(Error(Errc::full).message(), "mailbox full");
  EXPECT_EQ(Error(Errc::full, "account").message(), "mailbox full: account");
}

TEST(Error, WithoutDetailHasAnEmptyOne) { EXPECT_EQ(Error(Errc::full).detail(), ""); }

TEST(Error, EqualsAnotherWithTheSameCode) {
  EXPECT_EQ(Error(Errc::full, "mailbox"), Error(Errc::full, "stash"));
  EXPECT_NE(Error(Errc::full), Error(Errc::closed));
  EXPECT_NE(Error(Errc::full), Error());
}

TEST(Error, CarriesCodesOfOtherCategories) {
  const Error error = std::make_error_code(std::errc::address_in_use);
  EXPECT_EQ(error.code(), std::errc::address_in_use);
  EXPECT_FALSE(error == Errc::already_exists);
}

}  // namespace
}  // namespace weir
