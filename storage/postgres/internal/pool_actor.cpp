#include <weir/storage/postgres/internal/pool_actor.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/postgres/errc.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::storage::postgres::internal {
namespace {

std::string milliseconds_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) +
         " ms";
}

Statement begin_statement(Isolation isolation) {
  switch (isolation) {
    case Isolation::repeatable_read: return "begin isolation level repeatable read";
    case Isolation::serializable: return "begin isolation level serializable";
    default: return "begin isolation level read committed";
  }
}

}  // namespace

PoolActor::PoolActor(Options options, const ConnectionParameters& parameters, bool reconnects,
                     std::shared_ptr<PoolStatus> status)
    : options_(std::move(options)),
      reconnects_(reconnects),
      status_(std::move(status)),
      metrics_(system().options().telemetry, options_.name, status_),
      members_(options_.connections) {
  for (Member& member : members_) {
    member.session = std::make_unique<Session>(
        system(), options_, Session::Settings{parameters, reconnects}, hooks_of(member));
  }
}

PoolActor::~PoolActor() {
  fail_waiting(Error(Errc::closed));
  for (Member& member : members_) member.session->fail(Error(Errc::closed));
}

void PoolActor::on_start() {
  down_since_ = now();
  last_error_ = Error(Errc::unavailable, "not connected yet");
  for (Member& member : members_) member.session->start();
}

Session::Hooks PoolActor::hooks_of(Member& member) {
  Session::Hooks hooks;
  hooks.pipeline.on_answer = [this](const std::shared_ptr<Unit>& unit, Unit::Outcome outcome) {
    answer(unit, std::move(outcome));
  };
  hooks.pipeline.on_notice = [this](const Notice& notice) { note(notice); };
  hooks.on_up = [this, &member] { came_up(member); };
  hooks.on_down = [this, &member](const Error& cause) { went_down(member, cause); };
  hooks.on_progress = [this] { pump(); };
  return hooks;
}

void PoolActor::came_up(Member& member) {
  if (std::exchange(member.was_up, true)) status_->reconnects.fetch_add(1);
  count_connected();
  down_since_.reset();
  pump();
}

void PoolActor::went_down(Member& member, const Error& cause) {
  last_error_ = cause;
  status_->set_last_error(cause.message());
  transactions_.erase(std::exchange(member.transaction, 0));
  if (count_connected() == 0 && !down_since_) down_since_ = now();
  if (is_out()) fail_waiting(outage());
  pump();
  arm();
}

std::uint32_t PoolActor::count_connected() {
  std::uint32_t up = 0;
  for (const Member& member : members_) up += member.session->is_up() ? 1 : 0;
  status_->connected.store(up);
  return up;
}

void PoolActor::on(Submit message) {
  auto unit = message.ticket.take();
  if (unit->transaction != 0 && unit->kind != Unit::Kind::begin) {
    watch(unit, unit->deadline);
    send_in_transaction(std::move(unit));
    return;
  }
  if (is_out()) return finish(*unit, outage());
  if (queue_.size() >= options_.queue_max) {
    return finish(*unit,
                  Error(Errc::overloaded, std::to_string(queue_.size()) + " calls wait already"));
  }
  queue_.push_back(unit);
  watch(unit, unit->deadline);
  pump();
}

void PoolActor::on(Abandon message) {
  if (!transactions_.contains(message.transaction)) return;
  auto unit = std::make_shared<Unit>();
  unit->kind = Unit::Kind::end;
  unit->transaction = message.transaction;
  unit->statements.emplace_back("rollback");
  unit->timeout = options_.call_timeout;
  unit->submitted = now();
  unit->deadline = unit->submitted + unit->timeout;
  watch(unit, unit->deadline);
  send_in_transaction(std::move(unit));
}

/// Gives units that wait to sessions that have room.
void PoolActor::pump() {
  while (!queue_.empty()) {
    Unit& next = *queue_.front();
    const bool is_over = next.is_finished || !next.is_wanted.load(std::memory_order_relaxed);
    Member* member = is_over ? nullptr : choose();
    if (!is_over && !member) break;
    const std::shared_ptr<Unit> unit = std::move(queue_.front());
    queue_.pop_front();
    if (is_over) {
      finish(*unit, Error(weir::Errc::cancelled));
    } else if (unit->kind == Unit::Kind::begin) {
      begin(*member, unit);
    } else {
      send(*member, unit);
    }
  }
  report();
}

PoolActor::Member* PoolActor::choose() {
  Member* best = nullptr;
  for (Member& member : members_) {
    const bool is_free = member.session->is_up() && member.transaction == 0 &&
                         member.session->depth() < options_.pipeline_depth_max;
    if (!is_free) continue;
    if (!best || member.session->depth() < best->session->depth()) best = &member;
  }
  return best;
}

void PoolActor::send(Member& member, std::shared_ptr<Unit> unit) {
  member.session->send(std::move(unit));
}

/// The caller goes on at once: what it sends comes after the beginning.
void PoolActor::begin(Member& member, const std::shared_ptr<Unit>& unit) {
  unit->statements.push_back(begin_statement(unit->isolation));
  member.transaction = unit->transaction;
  transactions_.emplace(unit->transaction, &member);
  send(member, unit);
  finish(*unit, std::vector<Rows>());
}

void PoolActor::send_in_transaction(std::shared_ptr<Unit> unit) {
  const auto found = transactions_.find(unit->transaction);
  if (found == transactions_.end() || !found->second->session->is_up()) {
    finish(*unit, Error(Errc::unavailable,
                        "the connection was lost during the transaction: " + last_error_.detail()));
    return;
  }
  Member& member = *found->second;
  const bool ends = unit->kind == Unit::Kind::end;
  send(member, std::move(unit));
  if (!ends) return report();
  // What is sent from now on comes after the end.
  member.transaction = 0;
  transactions_.erase(found);
  pump();
}

void PoolActor::answer(const std::shared_ptr<Unit>& unit, Unit::Outcome outcome) {
  unwatch(*unit);
  finish(*unit, std::move(outcome));
}

void PoolActor::finish(Unit& unit, Unit::Outcome outcome) {
  unwatch(unit);
  if (unit.is_finished) return;
  if (unit.kind != Unit::Kind::begin) metrics_.record(now() - unit.submitted, outcome);
  unit.finish(std::move(outcome));
}

void PoolActor::fail_waiting(const Error& cause) {
  for (const auto& unit : std::exchange(queue_, {})) finish(*unit, cause);
}

void PoolActor::watch(const std::shared_ptr<Unit>& unit, TimePoint when) {
  unit->due = deadlines_.emplace(when, unit);
  arm();
}

void PoolActor::unwatch(Unit& unit) {
  if (unit.due) deadlines_.erase(*std::exchange(unit.due, std::nullopt));
}

/// Lets the timer come when the next thing is due, or before.
void PoolActor::arm() {
  std::optional<TimePoint> next;
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (down_since_ && !queue_.empty()) {
    const TimePoint out = *down_since_ + options_.reconnect_budget;
    next = next ? std::min(*next, out) : out;
  }
  if (!next || (timer_.is_pending() && timer_due_ <= *next)) return;
  timer_.cancel();
  timer_due_ = *next;
  timer_ = schedule_once<Tick>(std::max(*next - now(), Duration::zero()));
}

void PoolActor::on(Tick) {
  const TimePoint time = now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= time) {
    const std::shared_ptr<Unit> unit = deadlines_.begin()->second;
    unwatch(*unit);
    expire(unit);
  }
  if (is_out()) fail_waiting(outage());
  std::erase_if(queue_, [](const auto& unit) { return unit->is_finished; });
  report();
  arm();
}

/// The caller has waited long enough. If the unit has been sent, somebody has to notice when its
/// answer never comes.
void PoolActor::expire(const std::shared_ptr<Unit>& unit) {
  const bool is_in_flight = unit->is_sent && !unit->is_answered;
  if (!unit->is_finished) {
    const char* what = is_in_flight ? ", and may have been carried out" : ", and was not sent";
    finish(*unit,
           Error(Errc::timed_out, "no answer within " + milliseconds_text(unit->timeout) + what));
  }
  if (!is_in_flight) return;
  give_up_hung();
  if (!unit->is_answered) watch(unit, now() + options_.hang_grace);
}

void PoolActor::give_up_hung() {
  for (Member& member : members_) {
    if (!member.session->is_hung(now(), options_.hang_grace)) continue;
    member.session->give_up(Error(Errc::unavailable, "the server did not answer for " +
                                                         milliseconds_text(options_.hang_grace)));
  }
}

/// True if there has been no connection for too long.
bool PoolActor::is_out() const {
  if (!down_since_) return false;
  const bool is_lost = !reconnects_ && members_.front().session->is_over();
  return is_lost || now() - *down_since_ >= options_.reconnect_budget;
}

Error PoolActor::outage() const {
  return Error(Errc::unavailable, "no connection for " + milliseconds_text(now() - *down_since_) +
                                      ": " + last_error_.detail());
}

void PoolActor::report() {
  std::uint64_t in_flight = 0;
  for (const Member& member : members_) in_flight += member.session->depth();
  status_->in_flight.store(in_flight, std::memory_order_relaxed);
  status_->queued.store(queue_.size(), std::memory_order_relaxed);
}

void PoolActor::note(const Notice& notice) const {
  if (options_.on_notice) return options_.on_notice(notice);
  telemetry::Telemetry* telemetry = system().options().telemetry;
  if (!telemetry) return;
  const bool is_serious = notice.severity != "NOTICE" && notice.severity != "INFO";
  telemetry->logger().log(is_serious ? telemetry::Level::warning : telemetry::Level::debug,
                          "notice of the database",
                          {{"weir.pool", options_.name},
                           {"severity", notice.severity},
                           {"sqlstate", notice.sqlstate},
                           {"notice", notice.message}});
}

}  // namespace weir::storage::postgres::internal
