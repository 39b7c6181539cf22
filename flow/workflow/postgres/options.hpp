#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weir/flow/workflow/listing.hpp>
#include <weir/flow/workflow/retention.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/storage/postgres/options.hpp>

namespace weir::flow::workflow::postgres {

/// Which database has the workflows, and how this engine shares it with others.
struct Options {
  /// Tables are made in the first schema of its search path: `options=-csearch_path=jobs`.
  storage::postgres::Options database = {};
  /// Who this is, for people who look into the table of owners.
  std::string name = "engine";

  /// Calls that are committed together at most.
  std::size_t batch_max = 256;
  /// Batches that are under way at once. More are smaller, and wait for each other in lanes.
  std::size_t batches_max = 1;
  /// How often a batch is tried that meets others; `retry_exhausted` afterwards.
  unsigned attempts_max = 3;
  /// How often a batch is tried whose connection was lost; `unavailable` afterwards. Before each
  /// try it waits for a connection, up to `database.reconnect_budget`.
  unsigned losses_max = 5;
  /// Executions that are cancelled in one go.
  std::size_t cancels_max = 256;

  /// How long a partition stays with an engine of which nothing is heard. What is due there is
  /// done by others afterwards.
  Duration ownership = std::chrono::seconds(10);
  /// How often to look at what others should have told, but may not have.
  Duration poll = std::chrono::seconds(1);

  /// How often executions that have not ended are counted for metrics, in the partitions that this
  /// engine owns: they add up to all. Less often if it takes long: it reads the whole table.
  Duration count_period = std::chrono::seconds(15);

  /// What is removed, and when, from the partitions that this engine owns: the same in all engines
  /// that share the database. Nothing, unless it is said.
  Retention retention = {};
  /// Counting anew, in the background, in the partitions that this engine owns.
  AuditSchedule audit = {};
  /// Of which namespaces this engine cancels in the background what nobody needs any more, in
  /// whichever partition; empty: of all, in those that it owns.
  std::vector<std::string> dispatch_spaces = {};
};

}  // namespace weir::flow::workflow::postgres
