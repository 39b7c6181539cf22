#include <weir/flow/data/errc.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace weir::flow::data {
namespace {

TEST(DataErrc, HasAMessageOfItsOwnForEachCode) {
  std::set<std::string> messages;
  for (int code = 1; code <= static_cast<int>(Errc::corruption); ++code) {
    messages.insert(std::error_code(code, data_category()).message());
  }
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(Errc::corruption));
  EXPECT_FALSE(messages.contains("unknown data error"));
}

}  // namespace
}  // namespace weir::flow::data
