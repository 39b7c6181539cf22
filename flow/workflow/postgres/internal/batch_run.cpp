#include <weir/flow/workflow/postgres/internal/batch_run.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/schedule.hpp>
#include <weir/flow/workflow/postgres/internal/ended_entries.hpp>
#include <weir/flow/workflow/postgres/internal/news.hpp>
#include <weir/flow/workflow/postgres/internal/notices.hpp>
#include <weir/flow/workflow/postgres/internal/table.hpp>
#include <weir/runtime/try.hpp>
#include <weir/runtime/when_all.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;
using workflow::internal::KeyOf;
using workflow::internal::Schedule;
using workflow::internal::Slot;
using workflow::internal::Standing;

/// Candidates for claims that are read in one statement.
constexpr std::size_t candidates_max = 1000;
/// How many a claim looks at that it may not have before it gives up. Those that are under the
/// same limit as one of them are not looked at.
constexpr std::size_t passed_over_max = 4000;

constexpr const char* candidates_text =
    "select key, record from workflow_executions"
    " where is_ready and lane = $1 and capabilities <@ $2::text[] and key <> all($3::bytea[])"
    " and (cardinality($5::text[]) = 0 or space = any($5::text[]))"
    " and not (limit_keys && $6::text[])"
    " order by priority desc, eligible_at, key limit $4 for update skip locked";

/// Records that many others need as well.
template <class R>
constexpr bool is_shared =
    std::is_same_v<R, Lane> || std::is_same_v<R, Limit> || std::is_same_v<R, Keyring>;

template <class R>
bool is_newly_listed(const Slot<R>& slot) {
  return slot.standing() == Standing::listed && slot.stored != Standing::listed;
}

}  // namespace

BatchRun::BatchRun(const Context* context, std::vector<JobRef> jobs, Time about_now)
    : context_(context), jobs_(std::move(jobs)), now_(about_now) {}

Task<Result<>> BatchRun::run() {
  WEIR_CO_TRY(transaction, co_await context_->pool.begin(db::Isolation::read_committed));
  transaction_ = std::move(transaction);
  WEIR_CO_TRY_VOID(co_await read_first());
  WEIR_CO_TRY_VOID(co_await work());
  co_return co_await write();
}

Task<> BatchRun::release() {
  if (transaction_) static_cast<void>(co_await transaction_->rollback());
}

Task<Result<>> BatchRun::ask(Questions questions) {
  WEIR_CO_TRY(results, co_await transaction_->execute(std::move(questions.statements)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (auto kept = questions.answers[i](results[i]); !kept) co_return kept.error();
  }
  co_return {};
}

/// The transaction has a number before it is committed, so that one can ask what became of it.
void BatchRun::ask_time(Questions& questions) {
  // Whoever decides that ends are noted from now on waits for those who do not know it yet.
  questions.add(share_ended_text, [](const Rows&) { return Result<>(); });
  // Rows are found by their keys, however small a table seemed when a plan was made.
  questions.add(
      "select clock_timestamp(), pg_current_xact_id()::text,"
      " set_config('enable_seqscan', 'off', true),"
      " exists (select from workflow_facts where name = 'ended_entries')",
      [this](const Rows& rows) -> Result<> {
        auto time = rows[0].get<Time>(0);
        auto number = rows[0].get<std::string>(1);
        auto notes_ends = rows[0].get<bool>(3);
        if (!time) return time.error();
        if (!number) return number.error();
        if (!notes_ends) return notes_ends.error();
        now_ = context_->clock ? context_->clock() : *time;
        transaction_id_ = *std::move(number);
        records_.set_notes_ends(*notes_ends);
        return {};
      });
}

void BatchRun::ask_ownership(Questions& questions) {
  std::vector<std::int64_t> partitions;
  for (const JobRef& job : jobs_) {
    if (const auto owned = job->owned()) partitions.push_back(owned->partition);
  }
  if (partitions.empty()) return;
  // Shared with other batches of this engine, and with nobody who would take it.
  questions.add(db::Statement("select number, epoch from workflow_partitions"
                              " where number = any($1::int8[]) and owner = $2"
                              " order by number for share",
                              partitions, context_->owner),
                [this](const Rows& rows) -> Result<> {
                  for (const db::Row row : rows) {
                    auto owned = row.as<std::uint16_t, std::int64_t>();
                    if (!owned) return owned.error();
                    owned_.insert({std::get<0>(*owned), std::get<1>(*owned)});
                  }
                  return {};
                });
}

template <class R>
Result<> BatchRun::keep_records(const std::vector<KeyOf<R>>& keys, const Rows& rows) {
  for (const db::Row row : rows) {
    auto key = key_in<KeyOf<R>>(row);
    if (!key) return key.error();
    auto record = value_in<R>(row);
    if constexpr (std::is_same_v<KeyOf<R>, ExecutionId>) {
      if (!record) set_aside(row, record.error());
    }
    // Without those that are shared nobody can be claimed.
    if constexpr (!is_shared<R>) {
      if (!record) set_aside_claimers<R>(*key, record.error());
    }
    if (!record) return record.error();
    if constexpr (std::is_same_v<R, Lane>) {
      if (!record->has_room()) full_lanes_.insert(*key);
    }
    if constexpr (std::is_same_v<R, Limit>) limits_.emplace(*key, *record);
    if constexpr (std::is_same_v<R, Execution>) retries_.emplace(*key, record->retries);
    records_.add<R>(*key, *std::move(record));
  }
  for (const KeyOf<R>& key : keys) records_.add<R>(key, std::nullopt);
  return {};
}

/// In the order of kinds, and of keys within each, so that two batches seldom wait for each other.
void BatchRun::ask_records(Missing& missing, bool has_shared, Questions& questions) {
  const auto ask = [&](auto& list) {
    using R = typename std::remove_cvref_t<decltype(list)>::Record;
    auto& keys = list.keys;
    if (keys.empty() || (is_shared<R> && !has_shared)) return;
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
    questions.add(Table<R>::get().read(keys),
                  [this, keys](const Rows& rows) { return keep_records<R>(keys, rows); });
    keys.clear();
  };
  // What belongs to an execution is read when that is locked.
  ask(missing.of<Execution>());
  missing.each(ask);
}

void BatchRun::set_aside(const db::Row& row, const Error& reason) {
  const auto key = row.get<db::Bytes>("key");
  if (!key) return;
  const auto id = key_in<ExecutionId>(row);
  const std::string what = id ? "execution " + to_string(*id) : "an execution with a broken key";
  has_set_aside_ = context_->set_aside(*key, what, reason) || has_set_aside_;
}

template <class R>
void BatchRun::set_aside_claimers(const KeyOf<R>& key, const Error& reason) {
  for (const JobRef& job : jobs_) {
    const auto* claim = dynamic_cast<const ClaimJob*>(job.get());
    if (claim == nullptr) continue;
    for (const ExecutionId& id : claim->untried()) {
      Missing missing = claim->missing_for(id, records_, now_);
      const auto& keys = missing.of<R>().keys;
      if (std::ranges::find(keys, key) == keys.end()) continue;
      const bool is_new = context_->set_aside(encode_key(id), "execution " + to_string(id), reason);
      has_set_aside_ = is_new || has_set_aside_;
    }
  }
}

void BatchRun::ask_candidates(Questions& questions) {
  for (auto& [key, queue] : queues_) {
    const Slot<Lane>* lane = records_.find<Lane>(key.lane);
    const bool is_full = lane != nullptr && lane->current && !lane->current->has_room();
    std::size_t wanted = 0;
    std::set<std::string> closed;
    for (const ClaimJob* job : queue.jobs) {
      wanted += std::min(job->wanted(), candidates_max);
      closed.insert(job->closed_keys().begin(), job->closed_keys().end());
    }
    const bool is_over = queue.is_exhausted || queue.seen.size() >= passed_over_max;
    if (is_over || is_full || wanted == 0) continue;
    // Those before may be under a limit, and those behind them too: look further each time.
    const std::size_t asked = std::min(std::max(wanted, queue.seen.size()), candidates_max);
    questions.add(db::Statement(candidates_text, key.lane, key.capabilities, queue.seen,
                                static_cast<std::int64_t>(asked), key.spaces,
                                std::vector<std::string>(closed.begin(), closed.end()))
                      .about("workflow_executions"),
                  [this, claims = &queue, asked](const Rows& rows) {
                    return offer_candidates(*claims, asked, rows);
                  });
  }
}

Result<> BatchRun::offer_candidates(Queue& queue, std::size_t asked, const Rows& rows) {
  queue.is_exhausted = rows.size() < asked;
  ClaimJob* last = queue.jobs.front();
  for (const db::Row row : rows) {
    auto bytes = row.get<db::Bytes>("key");
    if (!bytes) return bytes.error();
    queue.seen.push_back(*std::move(bytes));
    auto id = key_in<ExecutionId>(row);
    auto execution = value_in<Execution>(row);
    if (!id || !execution) {
      set_aside(row, id ? execution.error() : id.error());
      continue;
    }
    records_.add<Execution>(*id, *std::move(execution));
    const auto taker =
        std::ranges::find_if(queue.jobs, [](const ClaimJob* job) { return job->wanted() > 0; });
    if (taker != queue.jobs.end()) last = *taker;
    last->offer(*id);
    if (std::ranges::find(open_, last) == open_.end()) open_.push_back(last);
  }
  return {};
}

Task<Result<>> BatchRun::read_first() {
  Missing missing;
  for (const JobRef& job : jobs_) {
    job->reset();
    job->refuse(std::nullopt);
    job->look(records_, now_, missing);
    if (auto* claim = dynamic_cast<ClaimJob*>(job.get())) {
      const ClaimRequest& request = claim->request();
      Queue& queue = queues_[{request.lane, request.capabilities, request.spaces}];
      if (queue.jobs.empty()) queue.seen = context_->broken.keys();
      queue.jobs.push_back(claim);
    } else {
      open_.push_back(job.get());
    }
  }
  Questions questions;
  ask_time(questions);
  ask_ownership(questions);
  const std::size_t before = questions.statements.size();
  ask_records(missing, false, questions);
  ask_candidates(questions);
  // Those that everybody needs are locked after all else, and not for long.
  if (questions.statements.size() == before) ask_records(missing, true, questions);
  WEIR_CO_TRY_VOID(co_await ask(std::move(questions)));
  drop_disowned();
  co_return {};
}

/// What is not ours any more, the new owner does.
void BatchRun::drop_disowned() {
  std::erase_if(open_, [&](Job* job) {
    const auto wanted = job->owned();
    if (!wanted) return false;
    const auto owned = owned_.find(wanted->partition);
    if (owned != owned_.end() && owned->second == wanted->epoch) return false;
    job->refuse(
        Error(Errc::stale_lease, to_string(Partition{wanted->partition}) + " has another owner"));
    return true;
  });
}

Task<Result<>> BatchRun::work() {
  for (;;) {
    Missing missing;
    std::erase_if(open_, [&](Job* job) { return job->run(records_, now_, missing); });
    Questions questions;
    if (!open_.empty()) {
      ask_records(missing, true, questions);
    } else {
      ask_candidates(questions);
    }
    if (questions.statements.empty()) co_return {};
    WEIR_CO_TRY_VOID(co_await ask(std::move(questions)));
  }
}

void BatchRun::find_effects() {
  effects_.at = now_;
  const auto& executions = records_.table<Execution>();
  for (const ExecutionId& id : executions.changed) {
    const auto& execution = executions.slots.find(id)->second.current;
    if (!execution) continue;
    if (execution->has_ended()) effects_.ended.push_back(id);
    if (Schedule::is_ready(*execution)) effects_.lanes.insert(execution->lane);
    const auto due = Schedule::due_of(*execution);
    if (due && (!effects_.due || *due < *effects_.due)) effects_.due = due;
  }
  const auto& lanes = records_.table<Lane>();
  for (const std::string& lane : lanes.changed) {
    const auto& current = lanes.slots.find(lane)->second.current;
    if (current && current->has_room() && full_lanes_.contains(lane)) effects_.lanes.insert(lane);
  }
  const auto& limits = records_.table<Limit>();
  effects_.has_limits = !limits.changed.empty();
  effects_.frees_limits = std::ranges::any_of(limits.changed, [&](const std::string& key) {
    return frees(key, limits.slots.find(key)->second.current);
  });
  const auto& workflows = records_.table<Workflow>();
  const auto& groups = records_.table<EdgeGroup>();
  effects_.has_cancels =
      std::ranges::any_of(workflows.changed,
                          [&](const WorkflowId& id) {
                            return is_newly_listed(workflows.slots.find(id)->second);
                          }) ||
      std::ranges::any_of(groups.changed, [&](const ExecutionId& id) {
        return is_newly_listed(groups.slots.find(id)->second);
      });
}

/// Whether others may be let pass that were not before. Whether the limit of its class was reached,
/// if it has none of its own, is not known.
bool BatchRun::frees(const std::string& key, const std::optional<Limit>& after) const {
  const auto found = limits_.find(key);
  const Limit before = found != limits_.end() ? found->second : Limit();
  const Limit now = after.value_or(Limit());
  const bool is_reset = before.concurrency_max != now.concurrency_max || before.rate != now.rate;
  if (is_reset || now.active >= before.active) return is_reset;
  if (before.is_set()) return before.concurrency_max && before.active >= *before.concurrency_max;
  return !workflow::internal::class_of(key).empty();
}

void BatchRun::count() const {
  workflow::internal::EngineFigures& figures = *context_->figures;
  std::map<NoticeKind, std::uint64_t> told;
  for (const Notice& notice : records_.notices()) ++told[notice.kind];
  std::uint64_t retries = 0;
  const auto& executions = records_.table<Execution>();
  for (const ExecutionId& id : executions.changed) {
    const auto& current = executions.slots.find(id)->second.current;
    const auto before = retries_.find(id);
    retries += current && before != retries_.end() && current->retries > before->second ? 1 : 0;
  }
  const bool has_written = records_.is_changed();
  figures.add(&EngineReport::commands, jobs_.size());
  figures.add(&EngineReport::commits, has_written ? 1 : 0);
  figures.add(&EngineReport::claims, told[NoticeKind::lease_acquired]);
  figures.add(&EngineReport::leases_expired, told[NoticeKind::lease_expired]);
  figures.add(&EngineReport::signals, told[NoticeKind::signal]);
  figures.add(&EngineReport::retries, retries);
}

void BatchRun::note_broken() const {
  for (const auto& [key, queue] : queues_) {
    for (const ClaimJob* job : queue.jobs) {
      for (const auto& [id, reason] : job->broken()) {
        context_->set_aside(encode_key(id), "execution " + to_string(id), reason);
      }
    }
  }
}

void BatchRun::add_news(db::Batch& statements) const {
  std::vector<std::string> news = news_of(*context_, effects_);
  if (news.empty()) return;
  statements.emplace_back("select pg_notify($1, news) from unnest($2::text[]) as news",
                          context_->channel, news);
}

Task<Result<>> BatchRun::write() {
  find_effects();
  db::Batch statements;
  records_.each_table([&](const auto& slots) {
    using R = typename std::remove_cvref_t<decltype(slots)>::Record;
    Table<R>::get().write(slots, statements);
  });
  // After all else: from here to the commit nobody else can tell anything.
  if (!records_.notices().empty()) statements.push_back(write_notices(records_.notices()));
  add_news(statements);
  is_ending_ = true;
  auto [written, committed] =
      co_await when_all(transaction_->execute(std::move(statements)), transaction_->commit());
  // After a statement has failed, committing is rolling back.
  if (!written) co_return written.error();
  if (!committed) co_return committed.error();
  co_return {};
}

}  // namespace weir::flow::workflow::postgres::internal
