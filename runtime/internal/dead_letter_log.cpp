#include <weir/runtime/internal/dead_letter_log.hpp>

#include <algorithm>

namespace weir::internal {

void DeadLetterLog::add(const DeadLetter& letter, std::int64_t now_ns) noexcept {
  if (!lock_.try_lock()) return;
  Entry& entry = entries_[count_++ % entries_.size()];
  entry.reason = letter.reason;
  entry.name_size =
      static_cast<std::uint8_t>(std::min(letter.actor_name.size(), entry.name.size()));
  std::copy_n(letter.actor_name.data(), entry.name_size, entry.name.data());
  entry.message = letter.message;
  entry.actor_type = letter.actor_type;
  entry.actor = letter.actor;
  entry.time_ns = now_ns;
  lock_.unlock();
}

std::vector<RecentDeadLetter> DeadLetterLog::newest(std::int64_t now_ns) const {
  std::vector<Entry> entries;
  entries.reserve(entries_.size());
  lock_.lock();
  const std::uint64_t kept = std::min<std::uint64_t>(count_, entries_.size());
  for (std::uint64_t back = 1; back <= kept; ++back)
    entries.push_back(entries_[(count_ - back) % entries_.size()]);
  lock_.unlock();
  std::vector<RecentDeadLetter> letters;
  for (const Entry& entry : entries) {
    letters.push_back({.reason = entry.reason,
                       .message = entry.message,
                       .actor_type = entry.actor_type,
                       .actor_name = std::string(entry.name.data(), entry.name_size),
                       .actor = entry.actor,
                       .age = Duration(std::max<std::int64_t>(now_ns - entry.time_ns, 0))});
  }
  return letters;
}

}  // namespace weir::internal
