#include <weir/flow/view/internal/flow_board.hpp>

#include <gtest/gtest.h>

#include <tuple>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/when_all.hpp>

namespace weir::flow::view::internal {
namespace {

constexpr storage::Version next{1};

Task<Result<>> stop_and_move(FlowBoard* board, ViewUpdate stopped) {
  board->stop(stopped, Error(weir::Errc::failed, "broken"));
  if (stopped == ViewUpdate::transactional) {
    board->set_position(next);
    board->publish();
  }
  co_return Result<>();
}

/// What becomes of one who waits for the coordinator meanwhile.
Result<> reach_while(ViewUpdate stopped) {
  ActorSystem system;
  FlowBoard board;
  return std::get<0>(system.run(when_all(board.reach(next), stop_and_move(&board, stopped))));
}

TEST(FlowBoard, LetsThoseGoOnWhomItDoesNotConcernThatOthersHaveStopped) {
  EXPECT_TRUE(reach_while(ViewUpdate::transactional));
}

TEST(FlowBoard, TellsThoseWhoWaitWhatHasStopped) {
  EXPECT_EQ(reach_while(ViewUpdate::deferred).error().detail(), "broken");
}

}  // namespace
}  // namespace weir::flow::view::internal
