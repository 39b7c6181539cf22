#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/runtime/actor.hpp>
#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/storage/postgres/internal/pool_core.hpp>
#include <weir/storage/postgres/internal/pool_metrics.hpp>
#include <weir/storage/postgres/internal/session.hpp>
#include <weir/storage/postgres/internal/unit.hpp>

namespace weir::storage::postgres::internal {

/// Something is due.
struct Tick {};

/// Owns all connections of a pool, and gives each unit to one of them.
///
///     Submit ──> queue ──> the session with the fewest units in flight ──> answer
///                      └─> a transaction has a session for itself until it ends
///
/// A unit ends when its answer comes, when its deadline passes, or when there has been no
/// connection for too long; whatever comes first. It does so here, so that no caller waits for what
/// nobody watches.
class PoolActor final : public Actor<Submit, Abandon, Tick> {
 public:
  PoolActor(Options options, const ConnectionParameters& parameters, bool reconnects,
            std::shared_ptr<PoolStatus> status);
  ~PoolActor();

  void on(Submit message);
  void on(Abandon message);
  void on(Tick);
  void on_start();

 private:
  struct Member {
    std::unique_ptr<Session> session;
    std::uint64_t transaction = 0;  // which has it for itself
    bool was_up = false;
  };

  Session::Hooks hooks_of(Member& member);
  void came_up(Member& member);
  void went_down(Member& member, const Error& cause);
  std::uint32_t count_connected();

  void pump();
  Member* choose();
  void send(Member& member, std::shared_ptr<Unit> unit);
  void begin(Member& member, const std::shared_ptr<Unit>& unit);
  void send_in_transaction(std::shared_ptr<Unit> unit);

  void answer(const std::shared_ptr<Unit>& unit, Unit::Outcome outcome);
  void finish(Unit& unit, Unit::Outcome outcome);
  void fail_waiting(const Error& cause);

  void watch(const std::shared_ptr<Unit>& unit, TimePoint when);
  void unwatch(Unit& unit);
  void expire(const std::shared_ptr<Unit>& unit);
  void give_up_hung();
  bool is_out() const;
  Error outage() const;
  void arm();
  void report();
  void note(const Notice& notice) const;

  const Options options_;
  const bool reconnects_;
  const std::shared_ptr<PoolStatus> status_;
  PoolMetrics metrics_;

  std::deque<std::shared_ptr<Unit>> queue_;  // wait for a session
  std::unordered_map<std::uint64_t, Member*> transactions_;
  Deadlines deadlines_;
  Timer timer_;
  TimePoint timer_due_{};
  std::optional<TimePoint> down_since_;  // no session is up
  Error last_error_;

  std::vector<Member> members_;  // last: their tasks use what stands above
};

}  // namespace weir::storage::postgres::internal
