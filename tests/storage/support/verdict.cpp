#include <weir/tests/storage/support/verdict.hpp>

#include <string>

namespace weir::storage::test {
namespace {

Seen value_in(const WriterState& state, std::uint64_t key) {
  const auto value = state.find(key);
  return value == state.end() ? Seen() : Seen(value->second);
}

void expect_reads(const ClientRecord& record, const WriterState& state, Version at) {
  for (const auto& read : record.reads) {
    EXPECT_EQ(read.seen, value_in(state, read.key))
        << "T" << record.id << " read key " << read.key << ", at version " << at.number;
  }
  for (const auto& range : record.ranges) {
    const WriterState expected(state.lower_bound(range.begin), state.lower_bound(range.end));
    EXPECT_EQ(range.found, expected) << "T" << record.id << " read from " << range.begin << " to "
                                     << range.end << ", at version " << at.number;
  }
}

void settle_reader(ClientRecord& record, Version newest, Losses losses) {
  if (record.snapshot <= newest) return;
  EXPECT_EQ(losses, Losses::newest)
      << "T" << record.id << " read version " << record.snapshot.number << ", which is lost";
  record.outcome = Outcome::aborted;
}

void settle_writer(ClientRecord& record, const ReplayedLog& log, Losses losses) {
  const bool was_told = record.outcome == Outcome::committed;
  if (record.version != Version{} && record.version.number < log.transactions.size()) {
    EXPECT_EQ(log.transactions[record.version.number], record.id)
        << "T" << record.id << " is not what is in the log as version " << record.version.number;
    return;
  }
  EXPECT_TRUE(!was_told || losses == Losses::newest)
      << "T" << record.id << " was told version " << record.version.number << ", which is lost";
  record.outcome = Outcome::aborted;
  record.version = {};
}

}  // namespace

ReplayedLog replay_log(Store& store, const RowsOf& rows) {
  ReplayedLog log{{0}, {Rows{}}};
  const auto records = store.log().read_blocking(Version{}, {.records_max = 1'000'000});
  if (!records) {
    ADD_FAILURE() << records.error().message();
    return log;
  }
  for (const ChangeRecord& record : *records) {
    EXPECT_EQ(record.version().number, log.rows.size());
    log.transactions.push_back(record.origin().empty() ? 0 : std::stoull(record.origin()));
    Rows next = log.rows.back();
    apply(next, record, rows);
    log.rows.push_back(std::move(next));
  }
  EXPECT_EQ(log.rows.size(), store.version().number + 1);
  return log;
}

void settle(ClientRecords& records, const ReplayedLog& log, Losses losses) {
  std::map<std::uint64_t, Version> versions;
  for (std::uint64_t version = 1; version < log.transactions.size(); ++version) {
    if (log.transactions[version] == 0) continue;
    EXPECT_TRUE(versions.emplace(log.transactions[version], Version{version}).second)
        << "T" << log.transactions[version] << " is in the log twice";
  }
  const Version newest{log.transactions.size() - 1};
  for (ClientRecord& record : records) {
    const auto version = versions.find(record.id);
    if (record.outcome == Outcome::aborted) {
      EXPECT_EQ(version, versions.end()) << "T" << record.id << " is in the log, but had failed";
      continue;
    }
    if (record.version == Version{} && version != versions.end()) record.version = version->second;
    if (record.outcome == Outcome::committed && record.writes.empty()) {
      settle_reader(record, newest, losses);
    } else {
      settle_writer(record, log, losses);
    }
  }
}

std::vector<WriterState> replay_records(const ClientRecords& records, Version newest) {
  std::vector<const ClientRecord*> by_version(newest.number + 1, nullptr);
  for (const ClientRecord& record : records) {
    if (record.outcome == Outcome::aborted || record.writes.empty()) continue;
    EXPECT_EQ(by_version[record.version.number], nullptr) << "version " << record.version.number;
    by_version[record.version.number] = &record;
  }
  std::vector<WriterState> states(1);
  for (std::uint64_t version = 1; version <= newest.number; ++version) {
    WriterState next = states.back();
    if (const ClientRecord* record = by_version[version]) {
      for (const auto& [key, write] : record->writes) {
        next.erase(key);
        if (!write.is_removal) next[key] = {record->id, write.step};
      }
    }
    states.push_back(std::move(next));
  }
  return states;
}

void expect_serializable(const ClientRecords& records, const std::vector<WriterState>& states) {
  for (const ClientRecord& record : records) {
    if (record.outcome == Outcome::aborted) continue;
    EXPECT_LE(record.snapshot, record.version);
    const Version at = record.writes.empty() ? record.version : Version{record.version.number - 1};
    expect_reads(record, states[at.number], at);
    expect_reads(record, states[record.snapshot.number], record.snapshot);
  }
  const auto violation = find_violation({records.begin(), records.end()});
  EXPECT_FALSE(violation) << violation->text;
}

void expect_rows(Store& store, const RowsOf& rows, Version version, const ReplayedLog& log,
                 const WriterState& state) {
  const Rows found = rows_at(store, rows, version);
  EXPECT_EQ(found, log.rows[version.number]) << "version " << version.number;
  Rows told;
  for (const auto& [key, writer] : state) {
    if (key < first_state_key) told[key] = text_of(writer);
  }
  EXPECT_EQ(found, told) << "version " << version.number;
}

void expect_newest(Store& store, const Spaces& spaces, const ClientRecords& records,
                   const WriterState& state) {
  auto transaction = store.begin();
  WriterState states;
  auto scan = transaction.scan(spaces.states);
  for (auto row = scan.next_blocking(); row && *row; row = scan.next_blocking()) {
    states[(*row)->key] = writer_of((*row)->value);
  }
  EXPECT_EQ(states, WriterState(state.lower_bound(first_state_key), state.end()));

  const ClientRecord* last = nullptr;
  for (const ClientRecord& record : records) {
    if (record.outcome == Outcome::aborted || !record.checkpoint) continue;
    if (!last || last->version < record.version) last = &record;
  }
  const auto checkpoint = transaction.checkpoint(consumer).blocking().value();
  ASSERT_EQ(checkpoint.has_value(), last != nullptr);
  if (last) {
    EXPECT_EQ(*checkpoint, (Checkpoint{*last->checkpoint, std::to_string(last->id)}));
  }
}

}  // namespace weir::storage::test
