// Which executions undo what others did, on records alone.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/journal_commands.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>
#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class UndoBoard : public testing::CommandBoard {
 public:
  /// Claims it, and does one step.
  void work(const ExecutionId& id) {
    const Handle handle = claim(id).handle;
    journal(handle);
  }
  ExecutionId make_own(const std::string& kind) {
    const NewExecution request{.kind = kind};
    return run([&](Draft& draft) { return internal::create_own(draft, request); }).value().id;
  }
  void journal(const Handle& handle) {
    const JournalHead* head = find<JournalHead>(handle.execution);
    const std::uint32_t end = head != nullptr ? head->end : 0;
    run([&](Draft& draft) {
      return internal::append_journal(draft, handle, end, {{.name = "fly", .number = 1}});
    }).value();
  }
  void continue_as_new(const Handle& handle, const std::string& input) {
    run([&](Draft& draft) { return internal::restart_journal(draft, handle, input); }).value();
  }
  /// As it would be if there is one.
  ExecutionId undo_of(const ExecutionId& id) const { return internal::undo_id(id, execution(id)); }
  bool is_undone(const ExecutionId& id) const { return find<Execution>(undo_of(id)) != nullptr; }
  /// Lets the undoing of what it did be done, and begins it again.
  void undo_and_replay(const ExecutionId& id) {
    const ExecutionId undo = undo_of(id);
    pass(1min);  // its lease would have ended
    promote_due(undo).value();
    succeed(undo);
    replay(id).value();
  }
};

TEST(Undo, EachEndIsUndoneByAnExecutionOfItsOwn) {
  UndoBoard board;
  const ExecutionId id = board.make();
  board.work(id);
  ASSERT_TRUE(board.cancel(id).value());
  const ExecutionId first = board.undo_of(id);
  board.undo_and_replay(id);
  board.work(id);
  ASSERT_TRUE(board.cancel(id).value());
  EXPECT_NE(board.undo_of(id), first);
  ASSERT_TRUE(board.is_undone(id));
  EXPECT_FALSE(board.execution(board.undo_of(id)).has_ended());
  EXPECT_TRUE(board.execution(first).has_ended());
}

TEST(Undo, WhatIsOfWeirItselfHasNothingToUndo) {
  UndoBoard board;
  const ExecutionId own = board.make_own("weir.schedule");
  const ExecutionId other = board.make("weird");
  board.work(own);
  board.work(other);
  ASSERT_TRUE(board.cancel(own).value());
  ASSERT_TRUE(board.cancel(other).value());
  EXPECT_FALSE(board.is_undone(own));
  EXPECT_TRUE(board.is_undone(other));
}

TEST(Undo, AReplayBeginsWithWhatWasGivenOnToTheLastRun) {
  UndoBoard board;
  const ExecutionId id = board.make();
  const Handle handle = board.claim(id).handle;
  board.journal(handle);
  board.continue_as_new(handle, "the second day");
  board.journal(handle);
  ASSERT_TRUE(board.cancel(id).value());
  board.undo_and_replay(id);
  const auto journal =
      board.run([&](internal::Draft& draft) { return internal::read_journal(draft, id); });
  ASSERT_EQ(journal.value().entries.size(), 1);
  EXPECT_EQ(journal.value().entries[0].kind, JournalKind::input);
  EXPECT_EQ(journal.value().entries[0].payload, "the second day");
}

TEST(Undo, AJournalThatIsEmptyAgainIsNothingToUndo) {
  UndoBoard board;
  const ExecutionId id = board.make();
  board.work(id);
  ASSERT_TRUE(board.cancel(id).value());
  board.undo_and_replay(id);
  ASSERT_NE(board.find<JournalHead>(id), nullptr);
  board.claim(id);
  ASSERT_TRUE(board.cancel(id).value());
  EXPECT_FALSE(board.is_undone(id));
}

}  // namespace
}  // namespace weir::flow::workflow
