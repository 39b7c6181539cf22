#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/workflow_run.hpp>
#include <weir/flow/workflow/payload.hpp>
#include <weir/runtime/try.hpp>

// Waiting for children and for signals.
namespace weir::flow::workflow::internal {
namespace {

/// What is known of children.
struct Tally {
  /// When, and which one.
  std::vector<std::pair<Time, std::size_t>> completed;
  std::vector<ExecutionId> open;
  std::string failures;
};

Task<Result<Tally>> count(const Engine* engine, std::vector<ExecutionId> children) {
  Tally tally;
  for (std::size_t i = 0; i < children.size(); ++i) {
    WEIR_CO_TRY(info, co_await engine->describe(children[i]));
    if (!info) co_return Error(Errc::not_found, "child " + to_string(children[i]));
    if (!info->execution.has_ended()) {
      tally.open.push_back(children[i]);
    } else if (info->state == PublicState::completed) {
      tally.completed.emplace_back(*info->execution.ended_at, i);
    } else {
      tally.failures += "; " + info->spec.kind + " was " + std::string(to_string(info->state)) +
                        ": " + info->execution.end_reason;
    }
  }
  std::ranges::sort(tally.completed);
  co_return tally;
}

Task<Result<>> cancel_all(const Engine* engine, std::vector<ExecutionId> children) {
  for (const ExecutionId& child : children) {
    WEIR_CO_TRY_VOID(co_await engine->cancel(child, "others have decided"));
  }
  co_return {};
}

Task<Result<std::vector<std::string>>> results_of(const Engine* engine,
                                                  std::vector<ExecutionId> children) {
  std::vector<std::string> results;
  for (const ExecutionId& child : children) {
    WEIR_CO_TRY(result, co_await engine->result(child));
    results.push_back(result.value_or(""));
  }
  co_return results;
}

}  // namespace

Task<std::optional<std::string>> WorkflowRun::signal(std::string waitpoint,
                                                     std::optional<Duration> timeout) {
  const std::uint32_t number = ask();
  if (const JournalEntry* found = co_await find(number, JournalKind::signal, waitpoint)) {
    if (found->has_failed) co_return std::nullopt;
    co_return found->payload;
  }
  co_await flush();
  // By its key the same question gets the same answer, also after a crash.
  SuspendRequest request{.condition = WaitCondition::any_of({waitpoint}),
                         .key = std::to_string(first_place()) + "/" + std::to_string(number),
                         .timeout = timeout,
                         .on_timeout = OnTimeout::resume};
  auto suspended = co_await engine_->suspend(handle_, std::move(request));
  if (!suspended) co_await refuse(suspended.error());
  if (!suspended->resumed) co_await leave(Parting::suspends);
  JournalEntry entry{.kind = JournalKind::signal, .name = waitpoint, .number = number};
  const std::vector<Signal>& signals = suspended->resumed->signals;
  entry.has_failed = signals.empty();
  if (!signals.empty()) entry.payload = signals.front().payload;
  co_await write(entry);
  if (entry.has_failed) co_return std::nullopt;
  co_return entry.payload;
}

Task<PublicState> WorkflowRun::end_of(ExecutionId child) {
  const std::uint32_t number = ask();
  if (const JournalEntry* found = co_await find(number, JournalKind::decision, "end")) {
    co_return from_payload<PublicState>(found->payload).value();
  }
  co_await flush();
  for (;;) {
    // While it looks it is not to be given back because something else sleeps.
    auto looking = std::make_optional<Busy>(this);
    auto info = co_await engine_->describe(child);
    if (!info) co_await refuse(info.error());
    if (!*info) co_await refuse(Error(Errc::invalid_argument, "no child " + to_string(child)));
    if ((*info)->execution.has_ended()) {
      const PublicState state = (*info)->state;
      co_await write({.kind = JournalKind::decision,
                      .name = "end",
                      .number = number,
                      .payload = to_payload(state)});
      co_return state;
    }
    const Dozing dozing(this);
    looking.reset();
    auto ended = co_await engine_->wait_for_end({child});
    if (!ended) co_await refuse(ended.error());
  }
}

Task<Result<std::vector<std::string>>> WorkflowRun::decide(std::uint32_t needed,
                                                           std::vector<ExecutionId> children,
                                                           OnSatisfied on_satisfied) {
  const std::string name = std::to_string(needed) + " of " + std::to_string(children.size());
  const std::uint32_t number = ask();
  if (const JournalEntry* found = co_await find(number, JournalKind::decision, name)) {
    if (found->has_failed) co_return Error(Errc::step_failed, found->payload);
    co_return from_payload<std::vector<std::string>>(found->payload);
  }
  if (needed == 0 || needed > children.size()) {
    co_return Error(Errc::invalid_argument, "a quorum of " + name + " children");
  }
  co_await flush();
  JournalEntry entry{.kind = JournalKind::decision, .name = name, .number = number};
  for (;;) {
    auto looking = std::make_optional<Busy>(this);  // also while it cancels the rest
    auto tally = co_await count(engine_, children);
    if (!tally) co_await refuse(tally.error());
    if (tally->completed.size() >= needed) {
      if (on_satisfied == OnSatisfied::cancel_remaining) {
        auto cancelled = co_await cancel_all(engine_, tally->open);
        if (!cancelled) co_await refuse(cancelled.error());
      }
      std::vector<ExecutionId> first;
      first.reserve(needed);
      for (std::size_t i = 0; i < needed; ++i)
        first.push_back(children[tally->completed[i].second]);
      auto results = co_await results_of(engine_, std::move(first));
      if (!results) co_await refuse(results.error());
      entry.payload = to_payload(*results);
      co_await write(std::move(entry));
      co_return *std::move(results);
    }
    if (tally->completed.size() + tally->open.size() < needed) {
      entry.has_failed = true;
      entry.payload = name + " children cannot complete" + tally->failures;
      co_await write(entry);
      co_return Error(Errc::step_failed, entry.payload);
    }
    const Dozing dozing(this);
    looking.reset();
    auto ended = co_await engine_->wait_for_end(tally->open);
    if (!ended) co_await refuse(ended.error());
  }
}

}  // namespace weir::flow::workflow::internal
