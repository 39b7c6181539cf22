#include <algorithm>
#include <set>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/attempt.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/suspension.hpp>
#include <weir/flow/workflow/internal/token.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

using Numbers = std::vector<std::uint32_t>;

bool is_at(const WaitCondition& condition, const std::string& waitpoint) {
  return std::ranges::find(condition.waitpoints, waitpoint) != condition.waitpoints.end();
}

/// What has to differ between two signals that both count.
std::string counted_as(const WaitCondition& condition, const Mailbox::Entry& entry) {
  switch (condition.distinct) {
    case WaitCondition::Distinct::waitpoints: return entry.waitpoint;
    case WaitCondition::Distinct::sources: return entry.source;
    case WaitCondition::Distinct::signals: return std::to_string(entry.number);
  }
  return {};
}

/// The oldest signals that satisfy the condition; none if they do not.
std::optional<Numbers> match(const WaitCondition& condition, const Mailbox& mailbox) {
  if (condition.waitpoints.empty()) return std::nullopt;
  const bool is_count = condition.kind == WaitCondition::Kind::count;
  const std::size_t needed = is_count ? condition.k : condition.waitpoints.size();
  Numbers taken;
  std::set<std::string> counted;
  for (const Mailbox::Entry& entry : mailbox.entries) {
    if (!is_at(condition, entry.waitpoint)) continue;
    const std::string as = is_count ? counted_as(condition, entry) : entry.waitpoint;
    if (!counted.insert(as).second) continue;
    taken.push_back(entry.number);
    if (taken.size() == needed) return taken;
  }
  return std::nullopt;
}

/// Takes the signals that satisfy the condition out of the mailbox, if there are enough.
std::optional<Numbers> take_matching(Draft& draft, const ExecutionId& id,
                                     const Execution& execution, const WaitCondition& condition) {
  const Mailbox* mailbox = execution.signals > 0 ? draft.find<Mailbox>(id) : nullptr;
  if (mailbox == nullptr) return std::nullopt;
  auto taken = match(condition, *mailbox);
  if (!taken) return std::nullopt;
  std::erase_if(draft.edit<Mailbox>(id)->entries, [&](const Mailbox::Entry& entry) {
    return std::ranges::find(*taken, entry.number) != taken->end();
  });
  return taken;
}

/// The keys that sign, made if there are none.
const Keyring& keyring_of(Draft& draft, const std::string& fresh_secret,
                          std::uint8_t which = the_keyring) {
  const Keyring* found = draft.find<Keyring>(which);
  if (found != nullptr && !found->keys.empty()) return *found;
  return draft.put<Keyring>(which, {{{"initial", fresh_secret, draft.now()}}});
}

/// The suspension that was asked for before, under the same key, if it is over.
const Suspension* answered(Draft& draft, const ExecutionId& id, const Execution& execution,
                           const std::string& key) {
  if (execution.suspensions == 0 || key.empty()) return nullptr;
  const Suspension* found = draft.find<Suspension>(id);
  if (found == nullptr || found->key != key) return nullptr;
  return found->state == SuspensionState::waiting ? nullptr : found;
}

Result<> let_wait(Draft& draft, const ExecutionId& id, const SuspendRequest& request) {
  tell(draft, id, *draft.find<Execution>(id), NoticeKind::lease_released);
  auto changed = change(draft, id, {EventKind::suspend, request.reason});
  if (!changed) return changed.error();
  Execution& execution = **changed;
  execution.lease.reset();
  execution.attempt_deadline.reset();
  execution.suspended_until.reset();
  if (request.timeout) execution.suspended_until = after(draft.now(), *request.timeout);
  execution.newest.outcome = AttemptOutcome::suspended;
  tell(draft, id, execution, NoticeKind::suspended);
  return {};
}

/// How a suspension is over.
struct Release {
  SuspensionState state = SuspensionState::satisfied;
  Numbers signals = {};
  std::string by = {};
};

Result<> let_go_on(Draft& draft, const ExecutionId& id, Release release) {
  Suspension* suspension = draft.edit<Suspension>(id);
  if (suspension == nullptr) return Error(Errc::corruption, "no suspension of " + to_string(id));
  suspension->state = release.state;
  suspension->ended_at = draft.now();
  suspension->ended_by = std::move(release.by);
  suspension->signals = std::move(release.signals);
  const bool is_later = suspension->resume_delay > Duration::zero();
  auto changed = change(draft, id, {is_later ? EventKind::resume_delayed : EventKind::resume});
  if (!changed) return changed.error();
  (*changed)->suspended_until.reset();
  (*changed)->eligible_at = after(draft.now(), suspension->resume_delay);
  tell(draft, id, **changed, NoticeKind::resumed);
  return {};
}

Result<SignalEffect> resume_if_satisfied(Draft& draft, const ExecutionId& id) {
  const Execution* execution = draft.find<Execution>(id);
  if (execution->state.phase != Phase::suspended) return SignalEffect::kept;
  const Suspension* suspension = draft.find<Suspension>(id);
  if (suspension == nullptr) return Error(Errc::corruption, "no suspension of " + to_string(id));
  auto taken = take_matching(draft, id, *execution, suspension->condition);
  if (!taken) return SignalEffect::kept;
  auto resumed = let_go_on(draft, id, {SuspensionState::satisfied, *std::move(taken)});
  if (!resumed) return resumed.error();
  return SignalEffect::resumed;
}

Result<> check_room(Draft& draft, const ExecutionId& id, const Execution& execution) {
  const Mailbox* mailbox = execution.signals > 0 ? draft.find<Mailbox>(id) : nullptr;
  const std::size_t kept = mailbox != nullptr ? mailbox->entries.size() : 0;
  if (execution.signals < signals_max && kept < mailbox_entries_max) return {};
  return Error(Errc::limit_reached, to_string(id) + " has had " +
                                        std::to_string(execution.signals) + " signals, of which " +
                                        std::to_string(kept) + " wait");
}

Result<SignalEffect> deliver(Draft& draft, const NewSignal& signal, bool is_approval) {
  const ExecutionId& id = signal.execution;
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr) return no_such(id);
  const SignalUseKey use = {id, signal.waitpoint, signal.id};
  const bool may_be_known = !signal.id.empty() && found->signals > 0;
  // First: who has had no answer asks again, also after the end.
  if (may_be_known && draft.find<SignalUse>(use) != nullptr) return SignalEffect::duplicate;
  if (found->has_ended()) {
    return Error(Errc::wrong_state,
                 "a signal to " + to_string(id) + ", which is " + to_string(found->state));
  }
  if (auto room = check_room(draft, id, *found); !room) return room.error();
  Execution& execution = *draft.edit<Execution>(id);
  if (execution.signals == 0) draft.note_absent<Mailbox>(id);
  const std::uint32_t number = execution.signals++;
  execution.changed_at = draft.now();
  draft.put<Signal>({id, number}, {signal.waitpoint, signal.payload, signal.id, signal.source,
                                   is_approval, draft.now()});
  if (!signal.id.empty()) draft.put<SignalUse>(use, {number});
  draft.edit_or_make<Mailbox>(id).entries.push_back({number, signal.waitpoint, signal.source});
  tell(draft, id, execution, NoticeKind::signal, signal.waitpoint);
  return resume_if_satisfied(draft, id);
}

Result<> time_out(Draft& draft, const ExecutionId& id, OnTimeout on_timeout) {
  const std::string reason = "suspension_timeout";
  switch (on_timeout) {
    case OnTimeout::fail: {
      auto failed = fail_attempt(draft, id, {reason, "timeout"}, "engine", false);
      if (!failed) return failed.error();
      return {};
    }
    case OnTimeout::cancel:
      return end(draft, id, {.event = EventKind::cancel, .reason = reason, .by = "engine"});
    case OnTimeout::expire:
      return end(draft, id, {.event = EventKind::expire, .reason = reason, .by = "engine"});
    case OnTimeout::resume: return let_go_on(draft, id, {SuspensionState::timed_out});
    case OnTimeout::escalate: {
      auto changed = change(draft, id, {EventKind::escalate});
      if (!changed) return changed.error();
      (*changed)->suspended_until.reset();
      tell(draft, id, **changed, NoticeKind::escalated);
      return {};
    }
  }
  return Error(Errc::corruption, "suspension of " + to_string(id) + ": timeout behaviour " +
                                     std::to_string(static_cast<int>(on_timeout)));
}

}  // namespace

std::optional<Resumption> resumption_of(Draft& draft, const ExecutionId& id,
                                        const Execution& execution) {
  const Suspension* found = execution.suspensions > 0 ? draft.find<Suspension>(id) : nullptr;
  if (found == nullptr || found->state == SuspensionState::waiting) return std::nullopt;
  Resumption resumption{found->key, found->state, found->ended_by, {}};
  for (const std::uint32_t number : found->signals) {
    const Signal* signal = draft.find<Signal>({id, number});
    if (signal != nullptr) resumption.signals.push_back(*signal);
  }
  return resumption;
}

void drop_suspension(Draft& draft, const ExecutionId& id, Execution& execution) {
  execution.suspended_until.reset();
  if (execution.suspensions > 0) draft.remove<Suspension>(id);
}

void drop_signals(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (execution.signals > 0) draft.remove<Mailbox>(id);
}

Result<SuspendResult> suspend(Draft& draft, const Handle& handle, const SuspendRequest& request,
                              const std::string& fresh_secret) {
  if (auto valid = validate(request); !valid) return valid.error();
  auto held = fenced(draft, handle);
  if (!held) return held.error();
  const ExecutionId& id = handle.execution;
  Execution& execution = **held;
  SuspendResult result;
  if (answered(draft, id, execution, request.key) != nullptr) {
    result.resumed = resumption_of(draft, id, execution);
    return result;
  }
  ++execution.suspensions;
  auto taken = take_matching(draft, id, execution, request.condition);
  Suspension& suspension = draft.put<Suspension>(id, {.key = request.key,
                                                      .condition = request.condition,
                                                      .on_timeout = request.on_timeout,
                                                      .resume_delay = request.resume_delay,
                                                      .suspended_at = draft.now()});
  if (taken) {
    suspension.state = SuspensionState::satisfied;
    suspension.ended_at = draft.now();
    suspension.signals = *std::move(taken);
    result.resumed = resumption_of(draft, id, execution);
    return result;
  }
  for (const std::string& waitpoint : request.condition.waitpoints) {
    const Keyring& keyring = keyring_of(draft, fresh_secret);
    result.tokens.push_back({waitpoint, make_token(keyring, id, waitpoint)});
  }
  if (auto waits = let_wait(draft, id, request); !waits) return waits.error();
  return result;
}

Result<SignalEffect> signal(Draft& draft, const NewSignal& signal, const std::string& token) {
  if (auto valid = validate(signal); !valid) return valid.error();
  const Keyring* keyring = draft.find<Keyring>(the_keyring);
  auto known = verify_token(keyring != nullptr ? *keyring : Keyring(), signal.execution,
                            signal.waitpoint, token);
  if (!known) return known.error();
  return deliver(draft, signal, false);
}

Result<SignalEffect> approve(Draft& draft, const NewSignal& signal) {
  if (auto valid = validate(signal); !valid) return valid.error();
  return deliver(draft, signal, true);
}

Result<> resume(Draft& draft, const ExecutionId& id, const std::string& by) {
  if (auto valid = validate_name("operator", by); !valid) return valid;
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr) return no_such(id);
  if (execution->state.phase != Phase::suspended) {
    return Error(Errc::wrong_state,
                 "resume " + to_string(id) + ", which is " + to_string(execution->state));
  }
  return let_go_on(draft, id, {SuspensionState::overruled, {}, by});
}

Result<bool> expire_suspension(Draft& draft, const ExecutionId& id) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr || found->state.phase != Phase::suspended || !found->suspended_until ||
      *found->suspended_until > draft.now()) {
    return false;
  }
  const Suspension* suspension = draft.find<Suspension>(id);
  if (suspension == nullptr) return Error(Errc::corruption, "no suspension of " + to_string(id));
  if (auto met = time_out(draft, id, suspension->on_timeout); !met) return met.error();
  return true;
}

Result<std::string> waitpoint_token(Draft& draft, const ExecutionId& id,
                                    const std::string& waitpoint, const std::string& fresh_secret) {
  if (auto valid = validate_name("waitpoint", waitpoint); !valid) return valid.error();
  if (draft.find<Execution>(id) == nullptr) return no_such(id);
  return make_token(keyring_of(draft, fresh_secret), id, waitpoint);
}

std::string handle_secret(Draft& draft, const std::string& fresh_secret) {
  return keyring_of(draft, fresh_secret, handle_keyring).keys.back().secret;
}

Result<> rotate_key(Draft& draft, const std::string& id, const std::string& secret) {
  if (auto valid = validate_signing_key(id, secret); !valid) return valid;
  Keyring& keyring = draft.edit_or_make<Keyring>(the_keyring);
  const auto known = std::ranges::find(keyring.keys, id, &SigningKey::id);
  if (known != keyring.keys.end()) {
    // The same again: the caller may not have had the answer.
    if (known + 1 == keyring.keys.end() && known->secret == secret) return {};
    return Error(Errc::already_exists, "signing key '" + id + "'");
  }
  if (keyring.keys.size() >= signing_keys_max) {
    return Error(Errc::limit_reached, std::to_string(keyring.keys.size()) + " signing keys");
  }
  keyring.keys.push_back({id, secret, draft.now()});
  return {};
}

Result<> retire_key(Draft& draft, const std::string& id) {
  Keyring* keyring = draft.edit<Keyring>(the_keyring);
  const Error unknown(Errc::not_found, "signing key '" + id + "'");
  if (keyring == nullptr) return unknown;
  const auto known = std::ranges::find(keyring->keys, id, &SigningKey::id);
  if (known == keyring->keys.end()) return unknown;
  if (known + 1 == keyring->keys.end()) {
    return Error(Errc::wrong_state, "signing key '" + id + "' is the one that signs");
  }
  keyring->keys.erase(known);
  return {};
}

}  // namespace weir::flow::workflow::internal
