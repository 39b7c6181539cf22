#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/workload.hpp>

// What clients say against what the store has.
namespace weir::storage::test {

/// The whole change log, replayed.
struct ReplayedLog {
  std::vector<std::uint64_t> transactions;  // by version; zero: not of a client
  std::vector<Rows> rows;                   // by version
};

/// Expects it to begin at version 1 and to have no gap.
ReplayedLog replay_log(Store& store, const RowsOf& rows);

/// What became of transactions whose store is gone.
enum class Losses : std::uint8_t {
  none,    // what was acknowledged, or read, is there
  newest,  // what was is a prefix; all after it is as if it had not been
};

/// Decides what clients left open, by the log: who is not in it has not happened. Expects those who
/// were told that they committed, or did not, to have been told the truth.
void settle(ClientRecords& records, const ReplayedLog& log, Losses losses);

/// Rows and states by who wrote them, by version, as told by the clients.
using WriterState = std::map<std::uint64_t, Writer>;
std::vector<WriterState> replay_records(const ClientRecords& records, Version newest);

/// Every transaction read what was there when it committed, or, if it wrote nothing, at its
/// snapshot; and there is no cycle among them.
void expect_serializable(const ClientRecords& records, const std::vector<WriterState>& states);

/// The log, the rows at a version and what the clients say are the same.
void expect_rows(Store& store, const RowsOf& rows, Version version, const ReplayedLog& log,
                 const WriterState& state);
/// So are the states and the checkpoint of the newest version.
void expect_newest(Store& store, const Spaces& spaces, const ClientRecords& records,
                   const WriterState& state);

}  // namespace weir::storage::test
