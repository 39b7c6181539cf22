#include <weir/flow/workflow/internal/workflow_run.hpp>

#include <algorithm>
#include <coroutine>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/payload.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir::flow::workflow::internal {
namespace {

std::string name_of(JournalKind kind, const std::string& name) {
  if (kind == JournalKind::step) return "'" + name + "'";
  return std::string(to_string(kind)) + (name.empty() ? "" : " '" + name + "'");
}

// What a timer counts ends after some three hundred years.
constexpr auto pause_max = std::chrono::hours(24 * 365 * 100);

/// Children that are begun in one commit.
constexpr std::size_t children_at_once = 64;

/// It would be refused again, whoever tries.
bool is_mistake(const Error& error) {
  return error == Errc::invalid_argument || error == Errc::too_large ||
         error == Errc::limit_reached || error == Errc::already_exists ||
         error == Errc::wrong_state || error == Errc::workflow_sealed;
}

}  // namespace

WorkflowRun::WorkflowRun(const Engine* engine, Handle handle, Journal journal, RunOptions options)
    : engine_(engine),
      handle_(handle),
      journal_(std::move(journal)),
      options_(std::move(options)),
      end_(journal_.head.end) {
  for (const JournalEntry& entry : journal_.entries) {
    if (entry.kind == JournalKind::version) {
      versions_[entry.name] = from_payload<std::uint32_t>(entry.payload).value_or(0);
    }
    if (entry.number == 0) continue;
    if (entry.number > recorded_.size()) recorded_.resize(entry.number);
    recorded_[entry.number - 1] = &entry;
  }
  if (options_.undoing) index_undone();
}

std::optional<std::string> WorkflowRun::input() const {
  if (journal_.entries.empty() || journal_.entries.front().kind != JournalKind::input) return {};
  return journal_.entries.front().payload;
}

std::string WorkflowRun::describe(std::uint32_t number, const JournalEntry& entry, JournalKind kind,
                                  const std::string& name) const {
  return "step " + std::to_string(number) + ": expected " + name_of(entry.kind, entry.name) +
         ", found " + name_of(kind, name);
}

const JournalEntry* WorkflowRun::find_now(std::uint32_t number, JournalKind kind,
                                          const std::string& name) {
  const JournalEntry* entry = recorded(number);
  if (entry == nullptr) stop_if_undoing();
  if (entry == nullptr || (entry->kind == kind && entry->name == name)) return entry;
  error_ = Error(Errc::code_changed, describe(number, *entry, kind, name));
  part(Parting::changed);
  throw ErrorException(error_);
}

Task<const JournalEntry*> WorkflowRun::find(std::uint32_t number, JournalKind kind,
                                            std::string name) {
  // Somebody may have caught what was thrown.
  if (parting_ == Parting::changed) co_await leave(Parting::changed);
  const JournalEntry* entry = recorded(number);
  if (entry == nullptr) {
    if (options_.is_query) co_await leave(Parting::asked);
    if (is_draining_) co_await leave(Parting::stopped);
    stop_if_undoing();
  } else if (entry->kind != kind || entry->name != name) {
    co_await leave_changed(describe(number, *entry, kind, name));
  }
  co_return entry;
}

void WorkflowRun::note(JournalEntry entry) {
  entry.at = now();
  noted_.push_back(std::move(entry));
}

Task<> WorkflowRun::write(JournalEntry entry) {
  note(std::move(entry));
  co_await flush();
}

Task<> WorkflowRun::flush() {
  const Busy busy(this);
  auto lock = co_await writing_.lock();
  if (!lock) co_await refuse(lock.error());
  if (auto written = co_await write_noted(); !written) co_await refuse(written.error());
}

Task<> WorkflowRun::flush_children() {
  if (children_.empty()) co_return;
  if (options_.is_query) co_await leave(Parting::asked);
  co_await flush();
}

Task<Result<>> WorkflowRun::write_with(JournalEntry entry, std::shared_ptr<StepCommit> commit) {
  const Busy busy(this);
  auto lock = co_await writing_.lock();
  if (!lock) co_await refuse(lock.error());
  if (!children_.empty()) {
    if (auto written = co_await write_noted(); !written) co_await refuse(written.error());
  }
  std::vector<JournalEntry> noted = std::exchange(noted_, {});
  std::vector<JournalEntry> entries = noted;
  entry.at = now();
  entries.push_back(std::move(entry));
  const auto count = static_cast<std::uint32_t>(entries.size());
  auto appended =
      co_await engine_->append_journal(handle_, end_, std::move(entries), std::move(commit));
  if (!appended && appended.error().code().category() == workflow_category()) {
    co_await refuse(appended.error());
  }
  if (appended) {
    end_ += count;
  } else {
    noted_.insert(noted_.begin(), noted.begin(), noted.end());
  }
  co_return appended;
}

/// A child is begun in the commit of its entry, which has what it was made of or comes after that:
/// whoever runs the coroutine again draws the same. What another one has written in the meantime is
/// written.
Task<Result<>> WorkflowRun::write_noted() {
  std::vector<JournalEntry> noted = std::exchange(noted_, {});
  std::vector<NewChild> children = std::exchange(children_, {});
  auto child = children.begin();
  for (auto entry = noted.begin(); entry != noted.end();) {
    std::vector<JournalEntry> entries;
    std::vector<NewExecution> begun;
    for (; entry != noted.end() && begun.size() < children_at_once; ++entry) {
      if (child != children.end() && child->number == entry->number) {
        begun.push_back(std::move(child++->request));
      }
      entries.push_back(std::move(*entry));
    }
    const auto count = static_cast<std::uint32_t>(entries.size());
    auto appended =
        co_await engine_->append_journal(handle_, end_, std::move(entries), std::move(begun));
    if (!appended) co_return appended.error();
    end_ += count;
  }
  co_return {};
}

Task<> WorkflowRun::refuse(Error error) {
  error_ = std::move(error);
  is_refused_ = is_mistake(error_);
  co_await leave(is_refused_ ? Parting::failed : Parting::lost);
}

void WorkflowRun::part(Parting parting) {
  if (parting_ == Parting::none) parting_ = parting;
  tell();
}

Task<> WorkflowRun::leave(Parting parting) {
  // A worker that has to go lets others finish what they are at.
  if (parting == Parting::stopped) {
    tell();
  } else {
    part(parting);
  }
  co_await std::suspend_always();
}

Task<> WorkflowRun::leave_changed(std::string what) {
  error_ = Error(Errc::code_changed, std::move(what));
  co_await leave(Parting::changed);
}

Task<> WorkflowRun::doze(Duration duration) {
  const Dozing dozing(this);
  if (auto slept = co_await sleep_for(duration); !slept) co_await leave(Parting::lost);
}

Task<> WorkflowRun::pause(Time until) {
  // What is undone goes as far as it came, without waiting. Otherwise what is behind it in the
  // journal may have been done beside it, and says nothing of the time.
  if (options_.undoing && is_replaying()) co_return;
  stop_if_undoing();
  for (;;) {
    const Time from = now();
    if (from >= until) co_return;
    if (options_.is_query) co_await leave(Parting::asked);
    const Duration wait = std::min<Time::duration>(until - from, pause_max);
    if (wait <= options_.memory_wait_max) {
      co_await doze(wait);
      continue;
    }
    // It sleeps here only as long as something else is being done.
    const auto nap = naps_.insert(until);
    tell();
    if (auto slept = co_await sleep_for(wait); !slept) co_await leave(Parting::lost);
    naps_.erase(nap);
  }
}

std::uint32_t WorkflowRun::version(const std::string& name, std::uint32_t oldest,
                                   std::uint32_t newest) {
  if (const auto known = versions_.find(name); known != versions_.end()) {
    if (known->second >= oldest && known->second <= newest) return known->second;
    error_ = Error(Errc::code_changed, "version " + std::to_string(known->second) + " of '" + name +
                                           "' is not between " + std::to_string(oldest) + " and " +
                                           std::to_string(newest));
    part(Parting::changed);
    throw ErrorException(error_);
  }
  const std::uint32_t chosen = is_replaying() ? oldest : newest;
  versions_.emplace(name, chosen);
  if (chosen != oldest && !options_.undoing) {
    note({.kind = JournalKind::version, .name = name, .payload = to_payload(chosen)});
  }
  return chosen;
}

ExecutionId WorkflowRun::child_id(std::uint32_t number, const std::string& lane) const {
  const auto& parent = id().uuid.bytes;
  std::uint64_t milliseconds = 0;
  std::uint64_t seed = (std::uint64_t{journal_.head.begin} << 32) + number;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    if (i < 6) milliseconds = milliseconds << 8 | parent[i];
    seed = (seed ^ parent[i]) * 0x9e3779b97f4a7c15U;
    seed ^= seed >> 29;
  }
  const std::uint64_t low = (seed ^ (seed >> 32)) * 0xbf58476d1ce4e5b9U;
  return ExecutionId::in_lane(lane, make_timed_uuid(milliseconds, seed, low));
}

Task<Parting> WorkflowRun::drive(const Function* function, std::string input,
                                 std::function<void()> before) {
  TaskScope scope;  // the coroutine goes with it
  scope.spawn(follow(function, std::move(input)));
  for (std::uint64_t seen = 0; parting_ == Parting::none;) {
    auto changed = co_await changes_.wait_until(seen + 1);
    if (!changed) co_return Parting::lost;
    seen = *changed;
    if (parting_ == Parting::none && is_idle()) parting_ = Parting::waits;
    if (parting_ == Parting::none && is_draining_ && busy_ == 0) parting_ = Parting::stopped;
  }
  if (parting_ == Parting::asked && before) before();
  co_return parting_;
}

Task<> WorkflowRun::follow(const Function* function, std::string input) {
  Error failure;
  try {
    output_ = co_await (*function)(this, std::move(input));
    stop_if_undoing();
    co_await flush_children();
    check_all_replayed();
    part(Parting::finished);
    co_return;
  } catch (const ErrorException& exception) {
    failure = exception.error();
  } catch (const std::exception& exception) {
    failure = Error(Errc::step_failed, exception.what());
  } catch (...) {
    failure = Error(Errc::step_failed, "what was thrown is no std::exception");
  }
  if (current_cancellation().is_cancelled()) part(Parting::lost);
  if (parting_ != Parting::none) co_return;
  error_ = failure;
  co_await undo();
  if (is_replaying()) {
    co_await leave_changed("step " + std::to_string(asked_ + 1) + ": expected more, found the end");
  }
  const bool is_done = options_.undoing && !has_failed_to_undo_;
  output_.clear();  // also of one that came to its end: the result is of who is undone
  part(is_done ? Parting::finished : Parting::failed);
}

void WorkflowRun::check_all_replayed() {
  if (!is_replaying()) return;
  const JournalEntry* next = recorded_[asked_];
  error_ = Error(Errc::code_changed,
                 "step " + std::to_string(asked_ + 1) + ": expected " +
                     (next != nullptr ? name_of(next->kind, next->name) : std::string("more")) +
                     ", found the end");
  part(Parting::changed);
}

void WorkflowRun::drain() {
  is_draining_ = true;
  tell();
}

Result<std::string> WorkflowRun::query(const std::string& name, std::string argument) const {
  const auto found = queries_.find(name);
  if (found == queries_.end()) return Error(Errc::not_found, "no query '" + name + "'");
  // What it throws is for who asked, and must not reach the worker, which has others to run.
  const auto failed = [&](const std::string& what) {
    return Error(weir::Errc::failed, "query '" + name + "': " + what);
  };
  try {
    return found->second(std::move(argument));
  } catch (const ErrorException& exception) {
    return exception.error();
  } catch (const std::exception& exception) {
    return failed(exception.what());
  } catch (...) {
    return failed("what was thrown is no std::exception");
  }
}

}  // namespace weir::flow::workflow::internal
