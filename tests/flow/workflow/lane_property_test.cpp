#include <map>
#include <random>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/command_board.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow {
namespace {

using std::chrono::seconds;
using testing::CommandBoard;

/// Executions of several lanes, to which anything happens at any time, whether it may or not.
class RandomLanes {
 public:
  explicit RandomLanes(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 12; ++i) {
      ids_.push_back(board_.make({.kind = "w",
                                  .lane = lanes_[below(3)],
                                  .deadline = board_.now + seconds(10 + below(200)),
                                  .attempt_timeout = seconds(1 + below(20)),
                                  .retry = RetryPolicy::fixed(seconds(below(2)), 2),
                                  .limit_keys = some_keys(),
                                  .reclaims_max = 2}));
    }
    handles_.resize(ids_.size());
  }

  std::string step() {
    board_.pass(seconds(below(3)));
    const std::size_t i = below(ids_.size());
    const bool had_ended = board_.execution(ids_[i]).has_ended();
    act(i);
    return check(i, had_ended);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::vector<std::string> some_keys() {
    std::vector<std::string> keys;
    for (const std::string key : {"a", "many:1", "many:2"}) {
      if (below(2) == 0) keys.push_back(key);
    }
    return keys;
  }

  // What is refused is refused: what counts is what is left of it.
  void act(std::size_t i) {
    const ExecutionId& id = ids_[i];
    const std::string& lane = board_.execution(id).lane;
    switch (below(17)) {
      case 0: (void)board_.complete(handles_[i]); break;
      case 1: (void)board_.fail(handles_[i]); break;
      case 2: (void)board_.delay(handles_[i], board_.now + seconds(below(3))); break;
      case 3: (void)board_.renew(handles_[i], seconds(1 + below(9))); break;
      case 4: (void)board_.revoke(id); break;
      case 5: (void)board_.expire_lease(id); break;
      case 6: (void)board_.expire_attempt(id); break;
      case 7: (void)board_.promote_due(id); break;
      case 8: (void)board_.replay(id); break;
      case 9: (void)(below(4) == 0 ? board_.cancel(id) : board_.expire_execution(id)); break;
      case 10: (void)set_lane(lane); break;
      case 14: (void)set_limit(); break;
      case 15: suspend(i); break;
      case 16: (void)board_.approve({id, "go"}); break;
      default: claim(i, lane); break;
    }
  }

  Result<> set_lane(const std::string& lane) {
    if (below(2) == 0) return board_.set_lane_state(lane, static_cast<LaneState>(1 + below(4)));
    const auto limit = static_cast<std::uint32_t>(below(3));
    return board_.set_lane_limit(lane, limit == 0 ? std::optional<std::uint32_t>() : limit);
  }

  Result<> set_limit() {
    const std::vector<std::string> keys = {"a", "many:1", "many:*"};
    const auto limit = static_cast<std::uint32_t>(below(4));
    std::optional<Rate> rate;
    if (below(2) == 0) rate = Rate{static_cast<std::uint32_t>(1 + below(3)), seconds(2)};
    return board_.set_limit(keys[below(3)], limit == 0 ? std::optional<std::uint32_t>() : limit,
                            rate);
  }
  void suspend(std::size_t i) {
    (void)board_.suspend(handles_[i], {.condition = WaitCondition::all_of({"go"})});
    (void)board_.resume(ids_[below(ids_.size())]);
  }

  void claim(std::size_t i, const std::string& lane) {
    const Lane* found = board_.find<Lane>(lane);
    const bool has_room =
        found == nullptr || !found->concurrency_max || found->active < *found->concurrency_max;
    auto claimed = board_.try_claim(ids_[i], {.worker = "w", .lane = lane, .lease = seconds(5)});
    if (!claimed || !*claimed) return;
    if (!has_room) problem_ = "claimed above the limit";
    check_limits(ids_[i]);
    handles_[i] = (*claimed)->handle;
  }

  /// With the one that was just claimed there are not more than its limits let be.
  void check_limits(const ExecutionId& id) {
    for (const std::string& key : board_.execution(id).limit_keys) {
      const Limit* own = board_.find<Limit>(key);
      const Limit* many = board_.find<Limit>("many:*");
      const Limit* set = own != nullptr && own->is_set() ? own : key == "a" ? nullptr : many;
      if (set == nullptr || !set->concurrency_max) continue;
      if (own->active > *set->concurrency_max) problem_ = "claimed above the limit of " + key;
    }
  }

  std::string check(std::size_t i, bool had_ended) {
    std::map<std::string, std::uint64_t> leased;
    std::map<std::string, std::uint64_t> under = {{"a", 0}, {"many:1", 0}, {"many:2", 0}};
    for (const ExecutionId& id : ids_) {
      const Execution& execution = board_.execution(id);
      const bool is_leased = execution.state.ownership == Ownership::leased;
      leased[execution.lane] += is_leased ? 1 : 0;
      for (const std::string& key : execution.limit_keys) under[key] += is_leased ? 1 : 0;
      if (!validate(execution.state)) problem_ = to_string(execution.state);
      if (execution.epoch < epochs_[id]) problem_ = "an epoch has shrunk";
      epochs_[id] = execution.epoch;
      check_attempts(id, execution);
    }
    for (const auto& [lane, active] : leased) {
      if (board_.leased(lane) != active) problem_ = "lane " + lane + " has lost count";
    }
    for (const auto& [key, active] : under) {
      if (board_.leased_under(key) != active) problem_ = "limit " + key + " has lost count";
    }
    const bool has_ended = board_.execution(ids_[i]).has_ended();
    const auto kinds = board_.take_kinds();
    const auto completions = std::ranges::count(kinds, NoticeKind::completion);
    if (completions != (has_ended && !had_ended ? 1 : 0)) problem_ = "not one completion";
    return problem_;
  }

  void check_attempts(const ExecutionId& id, const Execution& execution) {
    for (std::uint32_t number = 0; number < execution.attempts; ++number) {
      const Attempt& attempt = board_.attempt(id, number);
      if (!attempt.ended_at) {
        if (number != execution.attempt) problem_ = "an old attempt is open";
        continue;
      }
      const auto [seen, is_new] = ended_.try_emplace({id, number}, attempt);
      if (!is_new && Attempt::weir_fields(seen->second) != Attempt::weir_fields(attempt)) {
        problem_ = "an attempt has changed after its end";
      }
    }
  }

  const std::vector<std::string> lanes_ = {"a", "b", "c"};
  std::mt19937_64 random_;
  CommandBoard board_;
  std::vector<ExecutionId> ids_;
  std::vector<Handle> handles_;
  std::map<ExecutionId, std::uint64_t> epochs_;
  std::map<AttemptKey, Attempt> ended_;
  std::string problem_;
};

// WEIR_SEED=n runs one of them again.
TEST(LaneProperty, LanesCountTheirLeasesWhateverHappens) {
  const auto count = testing::board_size(static_cast<std::size_t>(weir::testing::scaled(400)), 1);
  for (const std::uint64_t seed : storage::test::seeds(count)) {
    RandomLanes lanes(seed);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(lanes.step(), "") << "seed " << seed << " step " << i;
  }
}

}  // namespace
}  // namespace weir::flow::workflow
