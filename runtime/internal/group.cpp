#include <weir/runtime/internal/group.hpp>

#include <algorithm>
#include <mutex>

#include <weir/runtime/internal/broadcast_messages.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/send_result.hpp>

namespace weir::internal {
namespace {

bool is_running(const GroupMember* member) noexcept { return member->cell.is_running(); }

void let_leave(const std::vector<GroupMember*>& members, bool then_drains) noexcept {
  for (GroupMember* member : members) member->leave(then_drains);
}

// A pin ends soon after, so the message must be where a drain finds it.
SendStatus send_and_publish(GroupMember& member, Node* node) noexcept {
  const SendStatus status = internal::send(&member.cell, node);
  if (this_worker) end_of_handler(*this_worker);
  return status;
}

}  // namespace

void GroupMember::unpin() noexcept {
  const std::uint32_t before = pins.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & count_mask) == 1 && (before & leaving) != 0) end(before);
}

void GroupMember::leave(bool then_drains) noexcept {
  const std::uint32_t flags = leaving | (then_drains ? drains : 0);
  const std::uint32_t before = pins.fetch_or(flags, std::memory_order_acq_rel);
  if ((before & count_mask) == 0) end(flags);
}

void GroupMember::end(std::uint32_t state) noexcept {
  if ((state & drains) != 0) request_stop(cell, StopMode::drain, {});
  delete this;
}

std::uint32_t GroupMember::load() const noexcept {
  const bool is_suspended = cell.control.load(std::memory_order_relaxed) == Cell::waiting;
  return cell.depth() + (pins.load(std::memory_order_relaxed) & count_mask) +
         (is_suspended ? 1 : 0);
}

bool GroupMember::is_full() const noexcept {
  return cell.capacity != unbounded && cell.depth() >= cell.capacity;
}

Group::~Group() { let_leave(members_, false); }

bool Group::add(Cell& cell) {
  if (!cell.is_running()) return false;
  auto made = std::make_unique<GroupMember>(cell);
  std::scoped_lock hold(lock_);
  for (const GroupMember* member : members_) {
    if (&member->cell == &cell) return false;
  }
  made->seat = lowest_free_seat();
  members_.insert(members_.begin() + made->seat, made.get());
  made.release();
  return true;
}

bool Group::remove(const Cell& cell, bool then_drains) {
  GroupMember* removed = nullptr;
  {
    std::scoped_lock hold(lock_);
    const auto at = std::find_if(members_.begin(), members_.end(),
                                 [&](GroupMember* member) { return &member->cell == &cell; });
    if (at == members_.end()) return false;
    removed = *at;
    members_.erase(at);
  }
  removed->leave(then_drains);
  return true;
}

void Group::remove_all(bool then_drains) {
  Members removed;
  {
    std::scoped_lock hold(lock_);
    removed.swap(members_);
  }
  let_leave(removed, then_drains);
}

PinnedMember Group::pick(std::uint64_t key) {
  for (;;) {
    Members stopped;
    {
      std::scoped_lock hold(lock_);
      GroupMember* member = members_.empty() ? nullptr : choose(key);
      if (!member) return nullptr;
      if (is_running(member)) {
        member->pins.fetch_add(1, std::memory_order_relaxed);
        return PinnedMember(member);
      }
      stopped = take_stopped();
    }
    let_leave(stopped, false);
  }
}

std::vector<PinnedMember> Group::pick_all() {
  std::vector<PinnedMember> all;
  Members stopped;
  {
    std::scoped_lock hold(lock_);
    stopped = take_stopped();
    for (GroupMember* member : members_) {
      member->pins.fetch_add(1, std::memory_order_relaxed);
      all.emplace_back(member);
    }
  }
  let_leave(stopped, false);
  return all;
}

SendStatus send_to_member(GroupMember& member, Node* node, bool is_quiet) noexcept {
  const SendStatus status = send_and_publish(member, node);
  if (status == SendStatus::sent) return status;
  if (!is_quiet) report_refusal(member.cell, node->type(), status);
  dispose(node);
  return status;
}

SendStatus Group::send(Node* node, std::uint64_t key) {
  for (;;) {
    const PinnedMember member = pick(key);
    if (!member) return SendStatus::stopped;
    const SendStatus status = send_and_publish(*member, node);
    if (status == SendStatus::full) report_refusal(member->cell, node->type(), status);
    if (status != SendStatus::stopped) return status;
  }
}

std::size_t Group::size() {
  std::scoped_lock hold(lock_);
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(), is_running));
}

std::uint64_t Group::depth() {
  std::scoped_lock hold(lock_);
  std::uint64_t sum = 0;
  for (const GroupMember* member : members_) sum += member->cell.depth();
  return sum;
}

GroupMember* Group::choose(std::uint64_t key) noexcept {
  switch (rule_) {
    case RoutingRule::in_turn: return choose_in_turn();
    case RoutingRule::least_loaded: return choose_least_loaded();
    case RoutingRule::by_key: return choose_by_key(key);
  }
  return nullptr;
}

// A member without room is passed over, unless none has any.
GroupMember* Group::choose_in_turn() noexcept {
  const std::size_t count = members_.size();
  for (std::size_t i = 0; i < count; ++i) {
    GroupMember* member = members_[(next_ + i) % count];
    if (is_running(member) && member->is_full()) continue;
    next_ = (next_ + i + 1) % count;
    return member;
  }
  const std::size_t at = std::exchange(next_, (next_ + 1) % count) % count;
  return members_[at];
}

// Starts at another member each time, so that equals take turns.
GroupMember* Group::choose_least_loaded() noexcept {
  const std::size_t count = members_.size();
  GroupMember* best = nullptr;
  std::uint32_t best_load = 0;
  next_ = (next_ + 1) % count;
  for (std::size_t i = 0; i < count; ++i) {
    GroupMember* member = members_[(next_ + i) % count];
    if (!is_running(member)) return member;  // to be taken out
    const std::uint32_t load = member->load();
    if (best && load >= best_load) continue;
    best = member;
    best_load = load;
  }
  return best;
}

// Each key ranks all seats in an order of its own and goes to the first that is taken: a seat that
// is given up sends only its own keys elsewhere, a new one takes an equal share from all others.
GroupMember* Group::choose_by_key(std::uint64_t key) const noexcept {
  GroupMember* best = nullptr;
  std::uint64_t best_rank = 0;
  const std::uint64_t mixed = mix_bits(key + random_step);
  for (GroupMember* member : members_) {
    const std::uint64_t rank = mix_bits(mixed ^ ((member->seat + 1) * random_step));
    if (best && rank <= best_rank) continue;
    best = member;
    best_rank = rank;
  }
  return best;
}

Group::Members Group::take_stopped() {
  Members stopped;
  std::erase_if(members_, [&](GroupMember* member) {
    if (is_running(member)) return false;
    stopped.push_back(member);
    return true;
  });
  return stopped;
}

std::uint32_t Group::lowest_free_seat() const noexcept {
  std::uint32_t seat = 0;
  while (seat < members_.size() && members_[seat]->seat == seat) ++seat;
  return seat;
}

}  // namespace weir::internal
