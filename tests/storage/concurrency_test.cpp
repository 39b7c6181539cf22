// Random transactions on real threads, judged by what their clients saw.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <string>

#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>
#include <weir/tests/storage/support/verdict.hpp>
#include <weir/tests/storage/support/workload.hpp>

namespace weir::storage {
namespace {

using test::ClientRecords;
using test::Outcome;

class ConcurrencyTest : public test::StoreTest {
 public:
  /// All clients to their end. Gives what they saw.
  ClientRecords run_clients(std::uint64_t seed, std::uint64_t clients, test::ClientOptions options,
                            test::Spaces spaces) {
    std::deque<ClientRecords> all(clients);
    std::atomic<std::uint64_t> running{clients};
    testing::Event ended;
    for (std::uint64_t client = 0; client < clients; ++client) {
      options.seed = seed * 1000 + client;
      options.first_id = (client + 1) * 1'000'000;
      system()
          .spawn<test::Client>(&store(), spaces, options, &all[client],
                               [&] {
                                 if (--running == 0) ended.set();
                               })
          .send<test::Work>();
    }
    ended.wait();
    ClientRecords records;
    for (ClientRecords& some : all)
      std::move(some.begin(), some.end(), std::back_inserter(records));
    return records;
  }

  void judge(ClientRecords& records, const test::Spaces& spaces) {
    const auto aborted = std::count_if(records.begin(), records.end(), [](const auto& record) {
      EXPECT_NE(record.outcome, Outcome::unknown) << "T" << record.id;
      return record.outcome == Outcome::aborted;
    });
    RecordProperty("transactions", std::to_string(records.size()));
    RecordProperty("conflicts", std::to_string(aborted));
    EXPECT_GT(aborted, 0) << "nobody was in the way of anybody";
    EXPECT_LT(aborted, std::ssize(records) * 9 / 10) << "hardly anything was committed";
    const test::ReplayedLog log = test::replay_log(store(), spaces.rows);
    settle(records, log, test::Losses::none);
    const auto states = replay_records(records, store().version());
    expect_serializable(records, states);
    for (std::uint64_t version = 0; version < states.size(); ++version) {
      expect_rows(store(), spaces.rows, Version{version}, log, states[version]);
      if (HasFailure()) return;
    }
    expect_newest(store(), spaces, records, states.back());
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, ConcurrencyTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

TEST_P(ConcurrencyTest, I10TransactionsAreSerializableOnFewKeys) {
  for (const std::uint64_t seed : test::seeds(testing::scaled(4))) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    reset({.durability = seed % 2 == 0 ? Durability::buffered() : Durability::durable(),
           .retention = {.history = std::chrono::hours(1), .log = std::chrono::hours(1)}});
    const auto spaces = run(test::open_spaces(&store())).value();
    ClientRecords records =
        run_clients(seed, 8, {.transactions = 150, .keys = 3 + seed % 12}, spaces);
    judge(records, spaces);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir::storage
