#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/storage/postgres/errc.hpp>
#include <weir/storage/postgres/isolation.hpp>
#include <weir/storage/postgres/rows.hpp>
#include <weir/storage/postgres/statement.hpp>

namespace weir::storage::postgres::internal {

struct Unit;

/// Units by the time at which something must happen to them.
using Deadlines = std::multimap<TimePoint, std::shared_ptr<Unit>>;

/// What is sent to the server as one piece and answered as one: statements up to one sync point.
///
/// Made by a caller, which waits for `done`; then it belongs to the actor that runs it.
struct Unit {
  enum class Kind : std::uint8_t {
    statements,  // outside of transactions they are one themselves
    begin,       // takes a connection for a transaction
    end,         // `commit` or `rollback`, and gives the connection back
    script,      // one text of several statements, without parameters
  };
  using Outcome = Result<std::vector<Rows>>;

  // Set by the caller.
  Kind kind = Kind::statements;
  Batch statements;
  Isolation isolation = Isolation::read_committed;  // of `begin`
  std::uint64_t transaction = 0;                    // zero: none
  Duration timeout{};
  TimePoint submitted;
  TimePoint deadline;

  // The caller has gone; what has not been sent need not be.
  std::atomic<bool> is_wanted{true};

  // Touched by the actor only.
  bool is_finished = false;
  bool is_sent = false;
  bool is_answered = false;
  std::optional<Deadlines::iterator> due;

  // Written before `done` is published, and read by the caller after that.
  Outcome outcome = Error(Errc::closed);
  SequenceBarrier done;

  /// Lets the caller go on. Only the first outcome counts.
  void finish(Outcome result) {
    if (std::exchange(is_finished, true)) return;
    outcome = std::move(result);
    done.publish(1);
  }
};

/// A unit on its way to its actor: if it does not get there, its caller hears of that.
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Unit> unit) noexcept : unit_(std::move(unit)) {}
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (unit_) unit_->finish(Error(Errc::closed));
  }

  std::shared_ptr<Unit> take() noexcept { return std::move(unit_); }

 private:
  std::shared_ptr<Unit> unit_;
};

}  // namespace weir::storage::postgres::internal
