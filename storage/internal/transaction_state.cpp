#include <weir/storage/internal/transaction_state.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/row_format.hpp>

namespace weir::storage::internal {
namespace {

using engine::Family;
using engine::Wait;

Error too_large(std::string_view what, std::size_t bytes, std::size_t bytes_max) {
  return Error(Errc::too_large, std::string(what) + " of " + std::to_string(bytes) +
                                    " bytes; the limit is " + std::to_string(bytes_max));
}

/// Finds the rows that will be replaced. False if some are on disk, and it may not wait.
Result<bool> try_find_replaced(const StoreCore& core, std::vector<Write>& writes, Wait wait) {
  std::vector<engine::Lookup> lookups;
  std::vector<Write*> wanted;
  lookups.reserve(writes.size());
  wanted.reserve(writes.size());
  for (Write& write : writes) {
    if (write.kind != WriteKind::row || write.is_before_known) continue;
    lookups.push_back({.key = write.key});
    wanted.push_back(&write);
  }
  if (lookups.empty()) return true;
  auto is_complete = core.engine->get_many(Family::rows, lookups, wait);
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    wanted[i]->before = std::move(lookups[i].value);
    wanted[i]->is_before_known = lookups[i].is_known;
  }
  return is_complete;
}

/// The same, on a thread that may wait if it has to.
Task<Result<std::vector<Write>>> find_replaced(std::shared_ptr<StoreCore> core,
                                               std::vector<Write> writes) {
  core->high_keys.mark_new(writes);
  auto found = try_find_replaced(*core, writes, Wait::never);
  if (!found) co_return found.error();
  if (*found) co_return writes;
  auto call = [core, waiting = std::move(writes)]() mutable {
    auto complete = try_find_replaced(*core, waiting, Wait::allowed);
    return complete ? Result<std::vector<Write>>(std::move(waiting)) : complete.error();
  };
  co_return co_await on_blocking_pool(std::move(call));
}

/// None if there was nothing and there is nothing.
std::optional<Change> make_change(std::string_view key,
                                  const std::optional<std::string_view>& before,
                                  const std::optional<std::string>& after) {
  if (!before && !after) return std::nullopt;
  const ChangeKind kind = !before  ? ChangeKind::insert
                          : !after ? ChangeKind::remove
                                   : ChangeKind::update;
  return Change{.kind = kind,
                .key = key,
                .before = before.value_or(std::string_view()),
                .after = after ? std::string_view(*after) : std::string_view()};
}

}  // namespace

PendingRead TransactionState::read(Family family, std::string key) {
  if (const auto own = writes_.find(key); own != writes_.end()) {
    return Result<PendingRead::Bytes>(own->second.value);
  }
  reads_.push_back(ConflictWindow::hash(key));
  if (family == Family::rows && core()->high_keys.is_beyond(key)) {
    return Result<PendingRead::Bytes>(std::nullopt);
  }
  return PendingRead(PointRead{core(), family, std::move(key), snapshot()});
}

PendingRead TransactionState::read_checkpoint(std::string_view name) {
  const std::string key = row_key(checkpoint_space, name);
  if (const auto own = writes_.find(key); own != writes_.end()) {
    return Result<PendingRead::Bytes>(own->second.value);
  }
  reads_.push_back(ConflictWindow::hash(key));
  return PendingRead(PointRead{core(), Family::checkpoints, std::string(name), snapshot()});
}

void TransactionState::write(WriteKind kind, std::string key, std::optional<std::string> value) {
  if (key.size() > key_bytes_max + 4) {
    return note_error(too_large("a key", key.size() - 4, key_bytes_max));
  }
  if (value && value->size() > value_bytes_max) {
    return note_error(too_large("a value", value->size(), value_bytes_max));
  }
  bytes_ += key.size() + (value ? value->size() : 0);
  if (bytes_ > transaction_bytes_max) {
    return note_error(too_large("a transaction", bytes_, transaction_bytes_max));
  }
  // Most are written in order, so that each is behind the last.
  const auto hint = last_write_ == writes_.end() ? last_write_ : std::next(last_write_);
  last_write_ =
      writes_.insert_or_assign(hint, std::move(key), Slot{kind, std::move(value), writes_made_++});
}

void TransactionState::drop(std::uint32_t space, std::string catalog_key) {
  writes_.erase(writes_.lower_bound(row_key(space, {})), writes_.lower_bound(space_end(space)));
  write(WriteKind::row, std::move(catalog_key), std::nullopt);
  drops_.push_back(space);
}

bool TransactionState::has_dropped(std::uint32_t space) const noexcept {
  return std::find(drops_.begin(), drops_.end(), space) != drops_.end();
}

void TransactionState::note_read_of(std::uint32_t space) {
  const bool is_noted =
      std::find(read_spaces_.begin(), read_spaces_.end(), space) != read_spaces_.end();
  if (!is_noted) read_spaces_.push_back(space);
}

std::size_t TransactionState::begin_range(std::string begin) {
  ranges_.push_back({begin, begin});
  return ranges_.size() - 1;
}

void TransactionState::extend_range(std::size_t index, std::string end) {
  ranges_[index].end = std::move(end);
}

std::vector<OwnWrite> TransactionState::own_writes(std::string_view begin,
                                                   std::string_view end) const {
  std::vector<OwnWrite> own;
  for (auto write = writes_.lower_bound(begin); write != writes_.end(); ++write) {
    if (!end.empty() && write->first >= end) break;
    own.push_back({write->first, write->second.value});
  }
  return own;
}

std::unique_ptr<CommitRequest> TransactionState::make_request() {
  auto request = std::make_unique<CommitRequest>();
  request->snapshot = snapshot();
  request->reads = std::move(reads_);
  request->ranges = std::move(ranges_);
  request->read_spaces = std::move(read_spaces_);
  request->drops = std::move(drops_);
  request->sorted_keys.reserve(writes_.size(), bytes_);
  for (const auto& [key, slot] : writes_) request->sorted_keys.add(key);

  std::vector<Own*> in_order;
  in_order.reserve(writes_.size());
  for (Own& own : writes_) in_order.push_back(&own);
  std::sort(in_order.begin(), in_order.end(),
            [](const Own* a, const Own* b) { return a->second.order < b->second.order; });
  request->writes.reserve(in_order.size());
  for (Own* own : in_order) {
    request->writes.push_back({own->second.kind, own->first, std::move(own->second.value),
                               std::move(own->second.before), own->second.is_before_known});
  }
  request->origin = std::move(origin_);
  request->trace = current_trace();
  return request;
}

Task<Result<std::vector<Change>>> TransactionState::find_changes(std::string begin,
                                                                 std::string end) {
  const auto first = writes_.lower_bound(begin);
  const auto last = writes_.lower_bound(end);
  std::vector<Write> wanted;
  for (auto own = first; own != last; ++own) {
    wanted.push_back({.kind = WriteKind::row, .key = own->first, .value = std::nullopt});
    // What is there now is what it saw, or the commit is a conflict.
    reads_.push_back(ConflictWindow::hash(own->first));
  }
  WEIR_CO_TRY(found, co_await find_replaced(core(), std::move(wanted)));
  std::vector<Change> changes;
  changes.reserve(found.size());
  auto own = first;
  for (Write& write : found) {
    auto& [key, slot] = *own++;
    slot.before = std::move(write.before);
    slot.is_before_known = true;
    std::optional<std::string_view> before;
    if (slot.before) {
      const auto stored = parse_stored(*slot.before);
      if (!stored) co_return Error(Errc::corruption, "rows: " + printable(key));
      before = stored->value;
    }
    if (auto change = make_change(key_of(key), before, slot.value)) changes.push_back(*change);
  }
  co_return changes;
}

Task<Result<>> TransactionState::validate() const {
  auto request = std::make_unique<CommitRequest>();
  request->snapshot = snapshot();
  request->reads = reads_;
  request->ranges = ranges_;
  request->read_spaces = read_spaces_;
  const std::shared_ptr<StoreCore> core = this->core();
  auto valid = co_await core->committer.ask<Validate>(std::move(request)).within(forever);
  if (!valid) co_return valid.error();
  co_return {};
}

Task<Result<Version>> TransactionState::submit(std::unique_ptr<TransactionState> state) {
  if (state->error_) co_return *state->error_;
  if (state->writes_.empty()) co_return state->snapshot();

  const std::shared_ptr<StoreCore> core = state->core();
  if (auto end = core->end()) co_return *end;
  auto request = state->make_request();
  WEIR_CO_TRY(writes, co_await find_replaced(core, std::move(request->writes)));
  request->writes = std::move(writes);

  // From here on the outcome is not the caller's any more: it is waited for.
  const CancellationShield shield;
  auto version = co_await core->committer.ask<Commit>(std::move(request)).within(forever);
  if (!version && version.error() == weir::Errc::stopped) {
    co_return core->end().value_or(Error(Errc::closed, "the actor system has stopped"));
  }
  co_return version;
}

Task<Result<Version>> TransactionState::commit(std::unique_ptr<TransactionState> state) {
  const std::shared_ptr<StoreCore> core = state->core();
  WEIR_CO_TRY(version, co_await submit(std::move(state)));
  const CancellationShield shield;
  WEIR_CO_TRY_VOID(co_await core->published.wait_until(version.number));
  co_return version;
}

}  // namespace weir::storage::internal
