#pragma once

#include <cstdint>
#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/explore.hpp>
#include <weir/runtime/try.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::view::test {

inline ExploreOptions exploring(int seeds) {
  return {.seeds = storage::test::lengthened(
              static_cast<std::uint64_t>(weir::testing::scaled_seeds(seeds))),
          .first_seed = storage::test::first_seed()};
}

inline Task<Result<operators::test::Rows>> read_rows(Snapshot snapshot, Relation relation) {
  operators::test::Rows rows;
  auto scan = snapshot.scan(relation);
  for (;;) {
    WEIR_CO_TRY(batch, co_await scan.next(7));
    if (batch.is_empty()) break;
    operators::test::add(rows, batch);
  }
  co_return rows;
}

}  // namespace weir::flow::view::test
