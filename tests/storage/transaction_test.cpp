#include <weir/storage/transaction.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/retry.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using test::commit_rows;
using test::Rows;
using test::rows_at;
using test::RowsOf;
using test::StoreTest;

class TransactionTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Engines, TransactionTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

/// A transaction that runs step by step, so that others can come in between.
class Stepped {
 public:
  Stepped(StoreTest& test, RowsOf rows)
      : test_(test), rows_(std::move(rows)), transaction_(test.store().begin()) {}

  std::optional<std::string> get(std::uint64_t key) {
    return transaction_.get(rows_, key).blocking().value();
  }
  std::size_t count(std::uint64_t from, std::uint64_t until) {
    auto scan = transaction_.scan(rows_, KeyRange<std::uint64_t>::between(from, until));
    std::size_t rows = 0;
    while (scan.next_blocking().value()) ++rows;
    return rows;
  }
  void put(std::uint64_t key, std::string value) { transaction_.put(rows_, key, value); }
  void remove(std::uint64_t key) { transaction_.remove(rows_, key); }
  Result<Version> commit() { return test_.run(transaction_.commit()); }

 private:
  StoreTest& test_;
  RowsOf rows_;
  Transaction transaction_;
};

void expect_conflict(const Result<Version>& outcome) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), Errc::conflict) << outcome.error().message();
}

TEST_P(TransactionTest, LostUpdateIsAConflict) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{1, "10"}}));
  Stepped a(*this, rows);
  Stepped b(*this, rows);
  EXPECT_EQ(a.get(1), "10");
  EXPECT_EQ(b.get(1), "10");
  a.put(1, "11");
  b.put(1, "12");
  EXPECT_TRUE(a.commit());
  expect_conflict(b.commit());
  EXPECT_EQ(rows_at(store(), rows, store().version()), (Rows{{1, "11"}}));
}

TEST_P(TransactionTest, WriteSkewIsAConflict) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{1, "on call"}, {2, "on call"}}));
  Stepped a(*this, rows);
  Stepped b(*this, rows);
  EXPECT_EQ(a.get(1), a.get(2));
  EXPECT_EQ(b.get(1), b.get(2));
  a.put(1, "off");
  b.put(2, "off");
  EXPECT_TRUE(a.commit());
  expect_conflict(b.commit());
}

TEST_P(TransactionTest, APhantomIsAConflict) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{10, "x"}, {30, "x"}}));
  Stepped a(*this, rows);
  EXPECT_EQ(a.count(0, 20), 1u);
  (void)run(commit_rows(store(), rows, {{15, "phantom"}}));
  a.put(99, "1");
  expect_conflict(a.commit());
}

TEST_P(TransactionTest, ARowRemovedFromARangeThatWasReadIsAConflict) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{10, "x"}, {30, "x"}}));
  Stepped a(*this, rows);
  EXPECT_EQ(a.count(0, 20), 1u);
  (void)run(commit_rows(store(), rows, {{10, std::nullopt}}));
  a.put(99, "1");
  expect_conflict(a.commit());
}

TEST_P(TransactionTest, WhatLiesOutsideOfARangeThatWasReadIsNone) {
  const auto rows = open_rows("rows");
  Stepped a(*this, rows);
  EXPECT_EQ(a.count(10, 20), 0u);
  (void)run(commit_rows(store(), rows, {{9, "x"}, {20, "x"}}));
  a.put(99, "1");
  EXPECT_TRUE(a.commit());
}

TEST_P(TransactionTest, WhatWasLookedForInVainAndCameSinceIsAConflict) {
  const auto rows = open_rows("rows");
  Stepped a(*this, rows);
  EXPECT_EQ(a.get(5), std::nullopt);
  (void)run(commit_rows(store(), rows, {{5, "here"}}));
  a.put(6, "since 5 was not there");
  expect_conflict(a.commit());
}

Task<Result<std::vector<std::uint64_t>>> scan_after_removing(Store* store, RowsOf rows,
                                                             std::uint64_t from,
                                                             std::uint64_t until) {
  auto transaction = store->begin();
  for (std::uint64_t key = from; key < until; ++key) transaction.remove(rows, key);
  std::vector<std::uint64_t> keys;
  auto scan = transaction.scan(rows);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return keys;
    keys.push_back(row->key);
  }
}

TEST_P(TransactionTest, AScanGoesOnBehindRowsThatItsTransactionRemoved) {
  const auto rows = open_rows("rows");
  test::Edits edits;
  for (std::uint64_t key = 0; key < 300; ++key) edits[key] = "x";
  (void)run(commit_rows(store(), rows, edits));
  for (const std::uint64_t from : {0, 31, 32, 159}) {
    for (const std::uint64_t count : {1, 32, 200}) {
      const std::uint64_t until = std::min<std::uint64_t>(from + count, 300);
      std::vector<std::uint64_t> expected;
      for (std::uint64_t key = 0; key < 300; ++key) {
        if (key < from || key >= until) expected.push_back(key);
      }
      EXPECT_EQ(run(scan_after_removing(&store(), rows, from, until)).value(), expected)
          << from << " to " << until;
    }
  }
}

TEST_P(TransactionTest, ALongForkIsNotSeen) {
  const auto rows = open_rows("rows");
  Stepped a(*this, rows);
  Stepped b(*this, rows);
  a.put(1, "a");
  b.put(2, "b");
  EXPECT_TRUE(a.commit());
  Stepped between(*this, rows);
  EXPECT_TRUE(b.commit());
  Stepped after(*this, rows);
  EXPECT_EQ(between.get(1), "a");
  EXPECT_EQ(between.get(2), std::nullopt);
  EXPECT_EQ(after.get(1), "a");
  EXPECT_EQ(after.get(2), "b");
}

TEST_P(TransactionTest, BlindWritesDoNotConflictAndTheLogHasWhatTheyReplaced) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{1, "0"}}));
  const Version before = store().version();
  Stepped a(*this, rows);
  Stepped b(*this, rows);
  Stepped c(*this, rows);
  a.put(1, "a");
  b.put(1, "b");
  c.remove(1);
  EXPECT_TRUE(a.commit());
  EXPECT_TRUE(b.commit());
  EXPECT_TRUE(c.commit());
  std::vector<std::string> seen;
  for (const ChangeRecord& record : store().log().read_blocking(before).value()) {
    for (const Change& raw : record.of(rows.id())) {
      const auto change = RowsOf::decode(raw).value();
      seen.push_back(std::string(to_string(change.kind)) + " " + change.before.value_or("-") + " " +
                     change.after.value_or("-"));
    }
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"update 0 a", "update a b", "remove b -"}));
  EXPECT_EQ(rows_at(store(), rows, Version{before.number + 1}), (Rows{{1, "a"}}));
  EXPECT_EQ(rows_at(store(), rows, Version{before.number + 2}), (Rows{{1, "b"}}));
}

TEST_P(TransactionTest, StateHasOneVersionAndIsNotInTheLog) {
  const auto rows = open_rows("rows");
  const auto state = *run(store().open_state<std::string, std::uint64_t>("state"));
  auto early = store().begin();
  auto writer = store().begin();
  writer.put(state, "count", 7);
  writer.put(rows, 1, "one");
  const auto version = run(writer.commit());
  ASSERT_TRUE(version);
  EXPECT_EQ(early.get(state, "count").blocking().error(), Errc::conflict);
  auto late = store().begin();
  EXPECT_EQ(late.get(state, "count").blocking().value(), 7u);
  const auto records = store().log().read_blocking(Version{version->number - 1}).value();
  ASSERT_EQ(records.size(), 1u);
  ASSERT_EQ(records[0].spaces().size(), 1u);
  EXPECT_EQ(records[0].spaces()[0].space(), rows.id());
}

TEST_P(TransactionTest, CheckpointsOnlyAdvance) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{1, "one"}}));
  const auto set = [&](std::uint64_t version) {
    auto transaction = store().begin();
    transaction.set_checkpoint("reader", Version{version}, "p" + std::to_string(version));
    return run(transaction.commit());
  };
  EXPECT_TRUE(set(1));
  EXPECT_TRUE(set(2));
  EXPECT_TRUE(set(2));
  const auto back = set(1);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error(), Errc::checkpoint_backwards);
  EXPECT_NE(back.error().detail().find("reader: from version 2 to 1"), std::string::npos);
  const auto future = set(1000);
  ASSERT_FALSE(future);
  EXPECT_EQ(future.error(), Errc::future_version);
  reopen();
  EXPECT_EQ(set(1).error(), Errc::checkpoint_backwards);
  auto transaction = store().begin();
  EXPECT_EQ(transaction.checkpoint("reader").blocking().value(), (Checkpoint{Version{2}, "p2"}));
  EXPECT_EQ(transaction.checkpoint("nobody").blocking().value(), std::nullopt);
}

TEST_P(TransactionTest, ATransactionOlderThanWhatIsRememberedIsAConflict) {
  reset({.conflict_keys_max = 4});
  const auto rows = open_rows("rows");
  Stepped old(*this, rows);
  for (std::uint64_t key = 0; key < 10; ++key) {
    (void)run(commit_rows(store(), rows, {{key, "x"}}));
  }
  old.put(100, "x");
  expect_conflict(old.commit());
}

std::string describe(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    const auto show = [](std::string_view value) {
      return value.empty() ? std::string("-") : decode_value<std::string>(value).value();
    };
    text += std::to_string(decode_key<std::uint64_t>(change.key).value()) + ": " +
            to_string(change.kind) + " " + show(change.before) + " " + show(change.after) + "\n";
  }
  return text;
}

TEST_P(TransactionTest, TellsWhatItChangesAndHasReadThat) {
  const auto rows = open_rows("rows");
  const auto others = open_rows("others");
  (void)run(commit_rows(store(), rows, {{1, "one"}, {2, "two"}, {9, "nine"}}));
  const auto write = [&](Transaction& transaction) {
    transaction.put(rows, 2, "first");
    transaction.put(rows, 2, "second");
    transaction.remove(rows, 1);
    transaction.remove(rows, 5);  // which is not there
    transaction.put(rows, 10, "ten");
    transaction.put(others, 1, "other");
    return run(transaction.changes(rows)).value();
  };
  const std::string expected = "1: remove one -\n2: update two second\n10: insert - ten\n";
  auto transaction = store().begin();
  auto late = store().begin();
  EXPECT_EQ(describe(write(transaction)), expected);
  EXPECT_TRUE(run(transaction.validate()));
  EXPECT_EQ(describe(write(late)), expected);
  const auto version = run(transaction.commit()).value();
  const auto record = store().log().read_blocking(Version{version.number - 1}).value()[0];
  std::vector<Change> logged;
  for (const Change& change : record.of(rows.id())) logged.push_back(change);
  EXPECT_EQ(logged.size(), 3u);
  EXPECT_EQ(run(late.validate()).error(), Errc::conflict);
  expect_conflict(run(late.commit()));
}

TEST_P(TransactionTest, WhatWasToldIsReadAgainOnceItIsWrittenAgain) {
  const auto rows = open_rows("rows");
  (void)run(commit_rows(store(), rows, {{1, "one"}}));
  auto transaction = store().begin();
  transaction.put(rows, 1, "two");
  EXPECT_EQ(describe(run(transaction.changes(rows)).value()), "1: update one two\n");
  transaction.remove(rows, 1);
  EXPECT_EQ(describe(run(transaction.changes(rows)).value()), "1: remove one -\n");
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_at(store(), rows, store().version()), (Rows{}));
}

TEST_P(TransactionTest, WhatIsSubmittedIsCertainAndSeenWhenItsVersionIs) {
  const auto rows = open_rows("rows");
  const auto state = run(store().open_state<std::string, std::uint64_t>("state")).value();
  Stepped other(*this, rows);
  EXPECT_EQ(other.get(1), std::nullopt);
  auto transaction = store().begin();
  transaction.put(rows, 1, "one");
  transaction.put(state, "count", 1);
  const auto version = run(transaction.submit()).value();
  other.put(2, "two");
  expect_conflict(other.commit());
  ASSERT_TRUE(run([](const Store* of, Version number) -> Task<Result<>> {
    WEIR_CO_TRY_VOID(co_await of->log().wait_past(Version{number.number - 1}));
    co_return {};
  }(&store(), version)));
  EXPECT_EQ(rows_at(store(), rows, version), (Rows{{1, "one"}}));
  EXPECT_EQ(store().current_state().get(state, "count").blocking().value(), 1u);
  auto scan = store().current_state().scan(state);
  EXPECT_EQ(scan.next_blocking().value()->value, 1u);
  EXPECT_EQ(scan.next_blocking().value(), std::nullopt);
}

Task<Result<>> transfer(Transaction& transaction, RowsOf rows, std::uint64_t from,
                        std::uint64_t to) {
  WEIR_CO_TRY(source, co_await transaction.get(rows, from));
  WEIR_CO_TRY(target, co_await transaction.get(rows, to));
  transaction.put(rows, from, std::to_string(std::stoi(*source) - 1));
  transaction.put(rows, to, std::to_string(std::stoi(*target) + 1));
  co_return {};
}

Task<> transfer_often(Store* store, RowsOf rows, std::uint64_t self, int times, int* failures) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t to = (self + 1 + store->system().random() % 3) % 4;
    const auto done = co_await transact(store, {.attempts_max = 1000}, &transfer, rows, self, to);
    if (!done) ++*failures;
  }
}

struct Work {};

class Teller final : public Actor<Work> {
 public:
  Teller(Store* store, RowsOf rows, std::uint64_t account, int times, std::atomic<int>* failures)
      : store_(store),
        rows_(std::move(rows)),
        account_(account),
        times_(times),
        failures_(failures) {}
  Task<> on(Work) {
    int failures = 0;
    co_await transfer_often(store_, rows_, account_, times_, &failures);
    *failures_ += failures;
    stop();
  }

 private:
  Store* store_;
  RowsOf rows_;
  std::uint64_t account_;
  int times_;
  std::atomic<int>* failures_;
};

TEST_P(TransactionTest, ConcurrentTransfersKeepTheSumAtEveryVersion) {
  constexpr int times = 50;
  reset({.retention = {.history = std::chrono::hours(1), .log = std::chrono::hours(1)}});
  const auto rows = open_rows("rows");
  const auto first =
      run(commit_rows(store(), rows, {{0, "100"}, {1, "100"}, {2, "100"}, {3, "100"}}));
  std::atomic<int> failures{0};
  for (std::uint64_t teller = 0; teller < 4; ++teller) {
    system().spawn<Teller>(&store(), rows, teller, times, &failures).send<Work>();
  }
  const Version last{first->number + 4 * times};
  struct Waiting {
    static Task<Result<Version>> run(ChangeLog log, Version last) {
      co_return co_await log.wait_past(Version{last.number - 1});
    }
  };
  ASSERT_TRUE(run(Waiting::run(store().log(), last)));
  EXPECT_EQ(failures, 0);
  for (Version version = *first; version <= last; version = version.next()) {
    int sum = 0;
    for (const auto& [key, value] : rows_at(store(), rows, version)) sum += std::stoi(value);
    ASSERT_EQ(sum, 400) << version.number;
  }
}

}  // namespace
}  // namespace weir::storage
