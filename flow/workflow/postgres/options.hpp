#pragma once

#include <cstddef>
#include <string>

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
};

}  // namespace weir::flow::workflow::postgres
