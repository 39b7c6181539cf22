#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/command_board.hpp>

// Tokens of waitpoints, and the keys that they are signed with.
namespace weir::flow::workflow {
namespace {

using testing::CommandBoard;
using testing::refuses;

const std::string first_secret(16, 'a');
const std::string second_secret(32, 'b');

TEST(Token, IsGoodForOneWaitpointOfOneExecution) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const ExecutionId other = board.make();
  const std::string token = board.token(id, "paid");
  EXPECT_EQ(token, board.token(id, "paid"));
  EXPECT_EQ(board.signal({id, "paid"}, token), SignalEffect::kept);
  EXPECT_TRUE(refuses(board.signal({id, "shipped"}, token), Errc::invalid_token, "'shipped'"));
  EXPECT_TRUE(refuses(board.signal({other, "paid"}, token), Errc::invalid_token, to_string(other)));
  EXPECT_EQ(board.execution(other).signals, 0U);
}

TEST(Token, WhateverIsWrongWithItIsRefusedAndNotRepeated) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const std::string token = board.token(id, "paid");
  std::vector<std::string> wrong = {"", ":", "initial", "initial:", "other" + token.substr(7)};
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == '0' ? '1' : '0';
    wrong.push_back(changed);
    wrong.push_back(token.substr(0, i));
  }
  wrong.push_back(token + "0");
  for (const std::string& tried : wrong) {
    const auto refused = board.signal({id, "paid"}, tried);
    ASSERT_TRUE(refuses(refused, Errc::invalid_token, to_string(id))) << tried;
    if (tried.size() > 8) EXPECT_EQ(refused.error().message().find(tried), std::string::npos);
  }
  EXPECT_EQ(board.execution(id).signals, 0U);
}

TEST(Token, NobodyHasOneWhereNoneWasMade) {
  CommandBoard board;
  const ExecutionId id = board.make();
  EXPECT_TRUE(refuses(board.signal({id, "paid"}, "initial:00"), Errc::invalid_token, "paid"));
}

// Computed with another implementation of HMAC-SHA256 (Python's `hmac`).
TEST(Token, IsTheHmacOfExecutionAndWaitpoint) {
  CommandBoard board;
  ASSERT_TRUE(board.rotate_key("k1", first_secret));
  const ExecutionId id = ExecutionId::in_lane("default", testing::make_uuid(4, 4));
  ASSERT_TRUE(board.create({.kind = "w", .id = id}));
  EXPECT_EQ(to_string(id), "{fp:86}:00000000-0004-7004-8000-000000000004");
  EXPECT_EQ(board.token(id, "paid"),
            "k1:a3dcbbc2e7983975d44fcd5b55ddf78f616d03e6ac81fa3d16a39bbd492b1ba6");
}

TEST(Token, TheNewestKeySignsAndAllVerifyUntilTheyRetire) {
  CommandBoard board;
  const ExecutionId id = board.make();
  const std::string initial = board.token(id, "p");
  ASSERT_TRUE(board.rotate_key("k1", first_secret));
  const std::string first = board.token(id, "p");
  ASSERT_TRUE(board.rotate_key("k2", second_secret));
  const std::string second = board.token(id, "p");
  EXPECT_EQ(initial.substr(0, 8), "initial:");
  EXPECT_EQ(first.substr(0, 3), "k1:");
  EXPECT_EQ(second.substr(0, 3), "k2:");
  for (const std::string& token : {initial, first, second}) {
    EXPECT_EQ(board.signal({id, "p"}, token), SignalEffect::kept);
  }
  ASSERT_TRUE(board.retire_key("k1"));
  EXPECT_TRUE(refuses(board.signal({id, "p"}, first), Errc::invalid_token, "p"));
  EXPECT_EQ(board.signal({id, "p"}, initial), SignalEffect::kept);
  EXPECT_EQ(board.signal({id, "p"}, second), SignalEffect::kept);
}

TEST(Token, KeysAreAddedOnceAndTheOneThatSignsStays) {
  CommandBoard board;
  EXPECT_TRUE(refuses(board.retire_key("k1"), Errc::not_found, "'k1'"));
  EXPECT_TRUE(board.rotate_key("k1", first_secret));
  EXPECT_TRUE(board.rotate_key("k1", first_secret));
  EXPECT_TRUE(refuses(board.rotate_key("k1", second_secret), Errc::already_exists, "'k1'"));
  EXPECT_TRUE(refuses(board.retire_key("k1"), Errc::wrong_state, "'k1'"));
  EXPECT_TRUE(refuses(board.retire_key("k2"), Errc::not_found, "'k2'"));
  EXPECT_TRUE(board.rotate_key("k2", second_secret));
  EXPECT_TRUE(refuses(board.rotate_key("k1", first_secret), Errc::already_exists, "'k1'"));
  for (const std::string bad : {"", "K", "a:b", "a b"}) {
    EXPECT_TRUE(refuses(board.rotate_key(bad, first_secret), Errc::invalid_argument, bad));
  }
  EXPECT_TRUE(refuses(board.rotate_key("k3", "short"), Errc::invalid_argument, "5 bytes"));
  for (std::size_t i = 2; i < signing_keys_max; ++i) {
    EXPECT_TRUE(board.rotate_key("n" + std::to_string(i), first_secret));
  }
  EXPECT_TRUE(refuses(board.rotate_key("one-more", first_secret), Errc::limit_reached, "16"));
}

}  // namespace
}  // namespace weir::flow::workflow
