// The checker of histories is judged itself: it must find what is planted, name it, and accept
// what a serial run gives.
#include <weir/tests/storage/support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weir::storage::test {
namespace {

using Record = TransactionRecord;

/// A transaction, told in short.
class Told {
 public:
  Told(std::uint64_t id, std::uint64_t snapshot, std::uint64_t version) {
    record_.id = id;
    record_.snapshot = {snapshot};
    record_.version = {version};
    record_.outcome = Outcome::committed;
  }
  Told& reads(std::uint64_t key, Seen seen) {
    record_.reads.push_back({key, seen});
    return *this;
  }
  Told& scans(std::uint64_t begin, std::uint64_t end, std::map<std::uint64_t, Writer> found) {
    record_.ranges.push_back({begin, end, std::move(found)});
    return *this;
  }
  Told& writes(std::uint64_t key, std::uint32_t step = 1) {
    record_.writes[key] = {step, false};
    return *this;
  }
  Told& removes(std::uint64_t key) {
    record_.writes[key] = {1, true};
    return *this;
  }
  Told& ends(Outcome outcome) {
    record_.outcome = outcome;
    return *this;
  }
  operator Record() const { return record_; }

 private:
  Record record_;
};

Writer by(std::uint64_t transaction, std::uint32_t step = 1) { return {transaction, step}; }

void expect_found(const std::vector<Record>& history, Anomaly anomaly,
                  std::vector<std::uint64_t> transactions, const std::string& text) {
  auto violation = find_violation(history);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->anomaly, anomaly) << violation->text;
  std::sort(violation->transactions.begin(), violation->transactions.end());
  EXPECT_EQ(violation->transactions, transactions) << violation->text;
  EXPECT_NE(violation->text.find(text), std::string::npos) << violation->text;
}

TEST(History, ALostUpdateIsFound) {
  expect_found({Told(1, 0, 1).writes(7), Told(2, 1, 2).reads(7, by(1)).writes(7),
                Told(3, 1, 3).reads(7, by(1)).writes(7)},
               Anomaly::lost_update, {2, 3}, "T3 did not see what T2 wrote to key 7");
}

TEST(History, AWriteSkewIsFound) {
  expect_found(
      {Told(1, 0, 1).writes(1).writes(2), Told(2, 1, 2).reads(1, by(1)).reads(2, by(1)).writes(1),
       Told(3, 1, 3).reads(1, by(1)).reads(2, by(1)).writes(2)},
      Anomaly::write_skew, {2, 3}, "T3 did not see what T2 wrote to key 1");
}

TEST(History, APhantomIsFound) {
  expect_found({Told(1, 0, 1).writes(1), Told(2, 1, 2).scans(0, 10, {{1, by(1)}}).writes(5),
                Told(3, 1, 3).scans(0, 10, {{1, by(1)}}).writes(6)},
               Anomaly::phantom, {2, 3}, "T3 did not see, in a range, that T2 wrote key 5");
}

TEST(History, ARowThatAStaleRangeStillShowsIsFound) {
  expect_found(
      {Told(1, 0, 1).writes(1), Told(2, 1, 2).removes(1), Told(3, 2, 3).scans(0, 10, {}).writes(20),
       Told(4, 3, 4).scans(0, 10, {{1, by(1)}}).reads(20, by(3))},
      Anomaly::read_skew, {2, 3, 4}, "T4 did not see what T2 wrote to key 1");
}

TEST(History, ALongForkIsFound) {
  expect_found(
      {Told(1, 0, 1).writes(1), Told(2, 0, 2).writes(2), Told(3, 2, 2).reads(1, by(1)).reads(2, {}),
       Told(4, 2, 2).reads(1, {}).reads(2, by(2))},
      Anomaly::long_fork, {1, 2, 3, 4}, "T3 did not see what T2 wrote to key 2");
}

TEST(History, AnIntermediateValueIsADirtyRead) {
  expect_found({Told(1, 0, 1).writes(1, 2), Told(2, 0, 2).reads(1, by(1, 1))}, Anomaly::dirty_read,
               {1, 2}, "T2 read from key 1 what T1 wrote as step 1");
}

TEST(History, TwoThatReadOfEachOtherReadDirty) {
  expect_found({Told(1, 0, 1).reads(2, by(2)).writes(1), Told(2, 0, 2).reads(1, by(1)).writes(2)},
               Anomaly::dirty_read, {1, 2}, "T2 read what T1 wrote to key 1");
}

TEST(History, AnAbortedReadIsFound) {
  const Record aborted = Told(1, 0, 0).writes(1).ends(Outcome::aborted);
  expect_found({aborted, Told(2, 0, 1).reads(1, by(1))}, Anomaly::aborted_read, {1, 2},
               "T2 read from key 1 what T1 wrote, which was given up");
}

TEST(History, AnUnknownOutcomeWithoutAVersionIsAborted) {
  const Record unknown = Told(1, 0, 0).writes(1).ends(Outcome::unknown);
  expect_found({unknown, Told(2, 0, 1).reads(1, by(1))}, Anomaly::aborted_read, {1, 2}, "T1");
  const Record known = Told(1, 0, 1).writes(1).ends(Outcome::unknown);
  EXPECT_FALSE(find_violation({known, Told(2, 1, 2).reads(1, by(1))}));
}

TEST(History, AValueOfNobodyIsFound) {
  expect_found({Told(1, 0, 1).reads(3, by(9))}, Anomaly::unknown_value, {1}, "T9");
  expect_found({Told(1, 0, 1).writes(4), Told(2, 1, 2).reads(3, by(1))}, Anomaly::unknown_value,
               {1, 2}, "key 3");
}

TEST(History, AReadSkewIsFound) {
  expect_found({Told(1, 0, 1).writes(1).writes(2), Told(2, 1, 2).writes(1).writes(2),
                Told(3, 2, 2).reads(1, by(1)).reads(2, by(2))},
               Anomaly::read_skew, {2, 3}, "T3 did not see what T2 wrote to key 1");
}

/// Makes transactions that run one after the other, some reading an older version.
class SerialRun {
 public:
  explicit SerialRun(std::uint64_t seed) : random_(seed) { states_.emplace_back(); }

  std::vector<Record> run(std::uint64_t transactions) {
    for (std::uint64_t id = 1; id <= transactions; ++id) add(id);
    return history_;
  }

 private:
  using State = std::map<std::uint64_t, Writer>;
  static constexpr std::uint64_t keys = 8;

  void add(std::uint64_t id) {
    const bool is_reader = random_() % 3 == 0;
    const std::size_t at = is_reader ? random_() % states_.size() : states_.size() - 1;
    Told told(id, at, is_reader ? at : states_.size());
    read(told, states_[at]);
    if (!is_reader) write(told, id);
    history_.push_back(told);
  }
  void read(Told& told, const State& state) {
    for (auto reads = random_() % 3; reads > 0; --reads) {
      const std::uint64_t key = random_() % keys;
      const auto value = state.find(key);
      told.reads(key, value == state.end() ? Seen() : Seen(value->second));
    }
    const std::uint64_t begin = random_() % keys;
    const std::uint64_t end = begin + random_() % keys;
    told.scans(begin, end, {state.lower_bound(begin), state.lower_bound(end)});
  }
  void write(Told& told, std::uint64_t id) {
    State next = states_.back();
    for (auto writes = 1 + random_() % 3; writes > 0; --writes) {
      const std::uint64_t key = random_() % keys;
      next.erase(key);
      if (random_() % 3 == 0) {
        told.removes(key);
      } else {
        told.writes(key);
        next[key] = by(id);
      }
    }
    states_.push_back(std::move(next));
  }

  std::mt19937_64 random_;
  std::vector<State> states_;  // by version
  std::vector<Record> history_;
};

TEST(History, SerialRunsAreAccepted) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto violation = find_violation(SerialRun(seed).run(60));
    ASSERT_FALSE(violation) << "seed " << seed << ": " << violation->text;
  }
}

/// A few transactions that read and write anything.
std::vector<Record> small_history(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t count = 2 + random() % 4;
  const std::uint64_t keys = 1 + random() % 3;
  std::vector<Record> history;
  for (std::uint64_t id = 1; id <= count; ++id) {
    Told told(id, 0, id);
    for (std::uint64_t key = 0; key < keys; ++key) {
      if (random() % 2 == 0) told.writes(key);
    }
    history.push_back(told);
  }
  for (Record& record : history) {
    for (std::uint64_t key = 0; key < keys; ++key) {
      const std::uint64_t writer = random() % (count + 1);
      if (random() % 2 == 0 || writer == record.id) continue;
      if (writer == 0) record.reads.push_back({key, {}});
      if (writer > 0 && history[writer - 1].writes.contains(key)) {
        record.reads.push_back({key, by(writer)});
      }
    }
  }
  return history;
}

bool fits(const std::vector<Record>& history, const std::vector<std::size_t>& order) {
  std::map<std::uint64_t, const Record*> last;
  for (const std::size_t index : order) {
    const Record& record = history[index];
    for (const Record::Read& read : record.reads) {
      const auto found = last.find(read.key);
      const Seen seen = found == last.end() ? Seen() : Seen(by(found->second->id));
      if (seen != read.seen) return false;
    }
    for (const auto& [key, write] : record.writes) {
      if (last[key] && last[key]->version > record.version) return false;
      last[key] = &record;
    }
  }
  return true;
}

/// Tries every order.
bool is_serializable(const std::vector<Record>& history) {
  std::vector<std::size_t> order(history.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    if (fits(history, order)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(History, OfFewTransactionsIsJudgedAsTryingEveryOrderDoes) {
  int accepted = 0;
  constexpr int histories = 20'000;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    const auto history = small_history(seed);
    const auto violation = find_violation(history);
    ASSERT_EQ(!violation, is_serializable(history))
        << "seed " << seed << ": " << (violation ? violation->text : "accepted");
    accepted += violation ? 0 : 1;
  }
  EXPECT_GT(accepted, histories / 10);
  EXPECT_LT(accepted, histories * 9 / 10);
}

}  // namespace
}  // namespace weir::storage::test
