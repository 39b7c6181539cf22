#pragma once

#include <memory>
#include <vector>

#include <weir/flow/workflow/internal/command.hpp>

namespace weir::flow::workflow::testing {

/// Where the records of a board are, if they are not in memory.
class BoardStore {
 public:
  virtual ~BoardStore() = default;
  /// Forgets everything.
  virtual void clear() = 0;
  /// Runs a command at a time, and returns when it is committed.
  virtual void run(Time now, std::shared_ptr<internal::Command> command) = 0;
  /// What has been told since it was last asked.
  virtual std::vector<Notice> take_notices() = 0;
};

/// Null: in memory. Each test program has one kind of it, so that the same tests run on all.
BoardStore* board_store();

}  // namespace weir::flow::workflow::testing
