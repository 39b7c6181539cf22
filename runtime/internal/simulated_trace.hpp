#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/simulation_options.hpp>

namespace weir::internal {

/// What happened so far, as one number, and told to whoever listens.
class SimulatedTrace {
 public:
  using Listener = std::function<void(const SimulatedStep&)>;

  explicit SimulatedTrace(Listener listener);

  /// One activation of an actor. Lives as long as that, and may be nested.
  struct Step {
    std::uint64_t actor = 0;
    const ActorType* type = nullptr;
    const std::string* node = nullptr;
    std::string name;  // only if somebody listens
    bool is_recorded = false;
    unsigned depth = 0;
    Step* outer = nullptr;
  };

  void begin(Step& step, const Cell& cell);
  /// Once per step: the message that is handled, null if none is.
  void record(const MessageType* message, std::int64_t now_ns);
  /// The step is over; one without a message is recorded here.
  void end(std::int64_t now_ns);
  /// A node has crashed: not a step, but part of what happened.
  void record_crash(const std::string& node, std::int64_t now_ns);

  Step* current() const noexcept { return current_; }
  std::uint64_t hash() const noexcept { return hash_; }

  void add_failure(const std::string& node, const ActorFailure& failure, std::int64_t now_ns);
  void add_dead_letter(const std::string& node, const DeadLetter& letter, std::int64_t now_ns);
  /// The latest, oldest first.
  const std::deque<std::string>& failures() const noexcept { return failures_; }

 private:
  std::uint64_t hash_of(const MessageType& type);
  void fold(std::uint64_t actor, std::uint64_t what, std::int64_t now_ns) noexcept;

  const bool prints_;
  Listener listener_;
  std::uint64_t hash_ = 0x5EED;
  Step* current_ = nullptr;
  std::vector<std::uint64_t> type_hashes_;  // by MessageType::index; zero: not known yet
  std::deque<std::string> failures_;
};

}  // namespace weir::internal
