#include <weir/tests/flow/workflow/support/linearizable.hpp>

#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

namespace weir::flow::workflow::testing {
namespace {

/// An execution, as little of it as these calls see.
struct State {
  std::uint64_t epoch = 0;
  bool is_held = false;
  bool has_ended = false;

  friend auto operator<=>(const State&, const State&) = default;
};

bool may_be_done(const State& state, const Call& call) {
  switch (call.asked) {
    case Asked::claim: return !state.has_ended && !state.is_held;
    case Asked::complete:
    case Asked::fail: return !state.has_ended && state.is_held && call.epoch == state.epoch;
    case Asked::cancel: return !state.has_ended;
    case Asked::revoke: return !state.has_ended && state.is_held;
    case Asked::describe: return false;
  }
  return false;
}

State after(State state, const Call& call) {
  // The end of an attempt fences off who had it, and so does the next lease.
  if (call.asked != Asked::revoke) ++state.epoch;
  state.is_held = call.asked == Asked::claim;
  state.has_ended = call.asked == Asked::complete || call.asked == Asked::cancel;
  return state;
}

/// The state after it, if its answer fits; of one without an answer none if nothing would be done.
std::optional<State> next(const State& state, const Call& call) {
  if (call.asked == Asked::describe) {
    const bool fits = !call.end || (call.is_done == state.has_ended &&
                                    call.is_held == state.is_held && call.epoch == state.epoch);
    return fits ? std::optional(state) : std::nullopt;
  }
  const bool is_done = may_be_done(state, call);
  if (call.end && call.is_done != is_done) return std::nullopt;
  if (!is_done) return state;
  const State then = after(state, call);
  if (call.end && call.asked == Asked::claim && call.epoch != then.epoch) return std::nullopt;
  return then;
}

class Search {
 public:
  explicit Search(const std::vector<Call>& calls) : calls_(calls) {
    if (calls.size() > 64) throw std::invalid_argument("more calls than the search can hold");
    for (std::size_t i = 0; i < calls.size(); ++i) answered_ |= calls[i].end ? bit(i) : 0;
  }

  bool run(const State& state, std::uint64_t done) {
    // Those without an answer need not have happened.
    if ((done & answered_) == answered_) return true;
    if (!seen_.insert({done, state}).second) return false;
    const std::uint64_t first_end = first_end_of_rest(done);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if ((done & bit(i)) != 0 || calls_[i].begin > first_end) continue;
      const auto then = next(state, calls_[i]);
      if (then && run(*then, done | bit(i))) return true;
    }
    return false;
  }

 private:
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i; }
  /// Nothing that was asked later can be the next.
  std::uint64_t first_end_of_rest(std::uint64_t done) const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if ((done & bit(i)) == 0 && calls_[i].end) first = std::min(first, *calls_[i].end);
    }
    return first;
  }

  const std::vector<Call>& calls_;
  std::uint64_t answered_ = 0;
  std::set<std::pair<std::uint64_t, State>> seen_;
};

}  // namespace

std::string to_string(const Call& call) {
  static constexpr const char* words[] = {"claim",  "complete", "fail",
                                          "cancel", "revoke",   "describe"};
  return std::to_string(call.begin) + ".." + (call.end ? std::to_string(*call.end) : "?") + " " +
         words[static_cast<int>(call.asked)] + " " + std::to_string(call.epoch) +
         (call.is_done ? " done" : " not") + (call.is_held ? " held" : "");
}

bool is_linearizable(const std::vector<Call>& calls) { return Search(calls).run({}, 0); }

}  // namespace weir::flow::workflow::testing
