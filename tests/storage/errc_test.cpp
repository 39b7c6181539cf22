#include <weir/storage/errc.hpp>

#include <set>

#include <gtest/gtest.h>

#include <weir/runtime/error.hpp>

namespace weir::storage {
namespace {

TEST(StorageErrc, EveryCodeHasItsOwnMessage) {
  std::set<std::string> messages;
  for (int code = 1; code <= static_cast<int>(Errc::invalid_argument); ++code) {
    const std::string message = make_error_code(static_cast<Errc>(code)).message();
    EXPECT_NE(message, "unknown storage error") << code;
    EXPECT_TRUE(messages.insert(message).second) << message;
  }
  EXPECT_EQ(make_error_code(static_cast<Errc>(0)).message(), "unknown storage error");
}

TEST(StorageErrc, IsTheCodeOfAnError) {
  const Error error(Errc::conflict, "row 7");
  EXPECT_EQ(error, Errc::conflict);
  EXPECT_FALSE(error == Errc::corruption);
  EXPECT_STREQ(error.code().category().name(), "weir.storage");
  EXPECT_EQ(error.message(), "conflict with another transaction: row 7");
}

TEST(StorageErrc, IsNotTheRuntimesCodeOfTheSameNumber) {
  EXPECT_NE(make_error_code(Errc::conflict), weir::make_error_code(weir::Errc::full));
}

}  // namespace
}  // namespace weir::storage
