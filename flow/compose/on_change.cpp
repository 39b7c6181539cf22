#include <weir/flow/compose/on_change.hpp>

#include <exception>
#include <utility>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/channel.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/retry.hpp>

namespace weir::flow::compose {
namespace {

using storage::Version;

/// Commits that are read while executions for those before them are begun.
constexpr std::size_t deltas_ahead = 64;
/// Executions that are begun at once.
constexpr std::size_t begun_max = 256;

std::string checkpoint_of(const std::string& name) { return "compose.on_change." + name; }

/// The same for the same row of the same commit.
workflow::ExecutionId id_of(const Start& start, Version version, std::size_t row) {
  std::uint64_t high = 0xcbf29ce484222325U;
  for (const char c : start.name) high = (high ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::uint64_t low = high ^ (version.number * 0x9e3779b97f4a7c15U);
  low = (low ^ (low >> 29) ^ row) * 0xbf58476d1ce4e5b9U;
  low ^= low >> 32;
  return workflow::ExecutionId::in_lane(start.lane,
                                        workflow::make_timed_uuid(version.number, high, low));
}

Task<Result<>> remember(storage::Store* store, std::string name, Version version) {
  storage::Transaction transaction = store->begin();
  transaction.set_checkpoint(checkpoint_of(name), version);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return {};
}

/// Where it is; from now on if it is new.
Task<Result<Version>> find_place(storage::Store* store, std::string name) {
  storage::Transaction transaction = store->begin();
  WEIR_CO_TRY(known, co_await transaction.checkpoint(checkpoint_of(name)));
  if (known) co_return known->version;
  const Version now = transaction.version();
  transaction.set_checkpoint(checkpoint_of(name), now);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return now;
}

/// In the trace of the commit that it is begun for.
Task<> begin(const workflow::Engine* engine, workflow::NewExecution request,
             telemetry::TraceContext cause, Result<>* outcome) {
  Span beginning = caused_span("flow.on_change", cause, {{"workflow.kind", request.kind}});
  if (beginning.is_recorded()) beginning.set({"workflow.execution", to_string(*request.id)});
  const auto created = co_await engine->create_execution(std::move(request));
  if (!created) *outcome = created.error();
}

/// What it throws is a failure like any other: it is told, and tried again.
Result<std::optional<std::string>> payload_for(const Start& start, const view::Row& row) {
  const auto refused = [&](const std::string& what) {
    return Error(weir::Errc::failed, "on_change '" + start.name + "', the payload: " + what);
  };
  try {
    return start.payload(row);
  } catch (const ErrorException& exception) {
    return exception.error();
  } catch (const std::exception& exception) {
    return refused(exception.what());
  } catch (...) {
    return refused("what was thrown is no std::exception");
  }
}

/// What is asked of an engine at once is one commit, so nothing waits for what is before it.
Task<Result<>> begin_all(const workflow::Engine* engine, const Start* start,
                         std::vector<view::Delta> deltas) {
  Result<> outcome;
  TaskScope scope;
  for (const view::Delta& delta : deltas) {
    // An update that changes nothing that is seen here is no change.
    const data::ChangeBatch changes = delta.changes.consolidated();
    for (std::size_t row = 0; row < changes.size(); ++row) {
      if (changes.weights()[row] <= 0) continue;
      auto payload = payload_for(*start, changes.row(row));
      if (!payload) {
        co_await scope.join();
        co_return payload.error();
      }
      if (!*payload) continue;
      scope.spawn(begin(engine,
                        {.kind = start->kind,
                         .payload = **std::move(payload),
                         .lane = start->lane,
                         .id = id_of(*start, *delta.resume, row),
                         .creator = start->name},
                        delta.trace, &outcome));
      if (scope.running() >= begun_max) co_await scope.join();
    }
  }
  co_await scope.join();
  co_return outcome;
}

/// Why there is no more, which is never that all is read.
Task<> read_all(view::Subscription* subscription, Channel<view::Delta>* deltas, Error* reason) {
  for (;;) {
    auto delta = co_await subscription->next();
    if (!delta) *reason = delta.error();
    if (!delta || !co_await deltas->push(*std::move(delta))) break;
  }
  deltas->close();
}

/// What has come since the last time; waits for something. None when there will be nothing more.
Task<std::vector<view::Delta>> take_all(Channel<view::Delta>* deltas) {
  std::vector<view::Delta> taken;
  auto first = co_await deltas->pop();
  if (!first) co_return taken;
  taken.push_back(*std::move(first));
  while (auto more = deltas->try_pop()) taken.push_back(*std::move(more));
  co_return taken;
}

Task<Result<>> follow(const workflow::Engine* engine, const view::Database* database,
                      std::string relation, std::shared_ptr<const Start> start,
                      internal::WentOn went_on) {
  storage::Store* store = engine->store();
  WEIR_CO_TRY(place, co_await find_place(store, start->name));
  WEIR_CO_TRY(found, co_await database->relation(relation));
  WEIR_CO_TRY(subscription, database->subscribe(found, {.after = place}));
  Channel<view::Delta> deltas(deltas_ahead);
  WEIR_CO_TRY(missed, co_await subscription.next_if_any());
  if (missed) {
    static_cast<void>(co_await deltas.push(*std::move(missed)));
  } else {
    went_on();
  }
  Error reason(weir::Errc::cancelled);
  TaskScope reading;
  reading.spawn(read_all(&subscription, &deltas, &reason));
  Result<> outcome;
  while (outcome) {
    auto taken = co_await take_all(&deltas);
    if (taken.empty()) break;
    const Version version = *taken.back().resume;
    outcome = co_await begin_all(engine, start.get(), std::move(taken));
    // What is begun again, if this is not reached, has the same id.
    if (outcome) outcome = co_await remember(store, start->name, version);
    if (outcome) went_on();
  }
  reading.cancel_all();
  co_await reading.join();
  co_return outcome ? reason : outcome.error();
}

}  // namespace

Task<Result<Follower>> on_change(const workflow::Engine* engine, const view::Database* database,
                                 std::string relation, Start start) {
  if (engine->store() == nullptr) {
    co_return Error(weir::Errc::unsupported, "on_change needs an engine in the database's store");
  }
  if (start.name.empty() || !start.payload) {
    co_return Error(workflow::Errc::invalid_argument, "on_change without a name or a payload");
  }
  WEIR_CO_TRY_VOID(co_await database->relation(relation));
  WEIR_CO_TRY_VOID(co_await find_place(engine->store(), start.name));
  auto shared = std::make_shared<const Start>(std::move(start));
  co_return Follower(&engine->system(), "on_change " + shared->name,
                     [engine = engine->share(), database = database->share(), relation,
                      shared](internal::WentOn went_on) {
                       return follow(engine.get(), database.get(), relation, shared,
                                     std::move(went_on));
                     });
}

}  // namespace weir::flow::compose
