#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/introspection.hpp>

namespace weir::internal {

/// The newest dead letters, each in the place of the oldest. Adding allocates nothing and waits for
/// nobody, as messages may be dropped by the million.
class DeadLetterLog {
 public:
  void add(const DeadLetter& letter, std::int64_t now_ns) noexcept;
  /// The newest first.
  std::vector<RecentDeadLetter> newest(std::int64_t now_ns) const;

 private:
  struct Entry {
    DeadLetterReason reason;
    std::uint8_t name_size;
    std::array<char, 54> name;
    std::string_view message;  // of the program, as is the next
    std::string_view actor_type;
    ActorId actor;
    std::int64_t time_ns;
  };

  mutable SpinLock lock_;
  // Guarded by it.
  std::uint64_t count_ = 0;
  std::array<Entry, recent_dead_letters_max> entries_{};
};

}  // namespace weir::internal
