#include <weir/storage/internal/transaction_state.hpp>

#include <algorithm>
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

std::optional<std::string> copy_of(const std::optional<std::string_view>& value) {
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

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

/// The same, on a thread that may wait if it has to. `bytes` are those of the writes: nobody may
/// be waiting any more when they are looked for.
Task<Result<std::vector<Write>>> find_replaced(std::shared_ptr<StoreCore> core,
                                               std::vector<Write> writes,
                                               std::shared_ptr<const WriteBytes> bytes) {
  core->high_keys.mark_new(writes);
  auto found = try_find_replaced(*core, writes, Wait::never);
  if (!found) co_return found.error();
  if (*found) co_return writes;
  auto call = [core, waiting = std::move(writes), kept = std::move(bytes)]() mutable {
    auto complete = try_find_replaced(*core, waiting, Wait::allowed);
    return complete ? Result<std::vector<Write>>(std::move(waiting)) : complete.error();
  };
  co_return co_await on_blocking_pool(std::move(call));
}

/// None if there was nothing and there is nothing.
std::optional<Change> make_change(std::string_view key,
                                  const std::optional<std::string_view>& before,
                                  const std::optional<std::string_view>& after) {
  if (!before && !after) return std::nullopt;
  const ChangeKind kind = !before  ? ChangeKind::insert
                          : !after ? ChangeKind::remove
                                   : ChangeKind::update;
  return Change{.kind = kind,
                .key = key,
                .before = before.value_or(std::string_view()),
                .after = after.value_or(std::string_view())};
}

}  // namespace

PendingRead TransactionState::read(Family family, std::string key) {
  if (const Write* own = writes_.find(key)) {
    return Result<PendingRead::Bytes>(copy_of(own->value));
  }
  reads_.push_back(ConflictWindow::hash(key));
  if (family == Family::rows && core()->high_keys.is_beyond(key)) {
    return Result<PendingRead::Bytes>(std::nullopt);
  }
  return PendingRead(PointRead{core(), family, std::move(key), snapshot()});
}

PendingRead TransactionState::read_checkpoint(std::string_view name) {
  const std::string key = row_key(checkpoint_space, name);
  if (const Write* own = writes_.find(key)) {
    return Result<PendingRead::Bytes>(copy_of(own->value));
  }
  reads_.push_back(ConflictWindow::hash(key));
  return PendingRead(PointRead{core(), Family::checkpoints, std::string(name), snapshot()});
}

void TransactionState::write(WriteKind kind, std::string_view key,
                             std::optional<std::string_view> value) {
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
  writes_.put(kind, key, value);
}

void TransactionState::drop(std::uint32_t space, std::string catalog_key) {
  writes_.erase(row_key(space, {}), space_end(space));
  write(WriteKind::row, catalog_key, std::nullopt);
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
  for (const Write* write : writes_.range(begin, end))
    own.push_back({std::string(write->key), copy_of(write->value)});
  return own;
}

std::unique_ptr<CommitRequest> TransactionState::make_request() {
  auto request = std::make_unique<CommitRequest>();
  request->snapshot = snapshot();
  request->reads = std::move(reads_);
  request->ranges = std::move(ranges_);
  request->read_spaces = std::move(read_spaces_);
  request->drops = std::move(drops_);
  std::size_t key_bytes = 0;
  writes_.visit_keys([&](std::string_view key) { key_bytes += key.size(); });
  request->sorted_keys.reserve(writes_.size(), key_bytes);
  writes_.visit_keys([&](std::string_view key) { request->sorted_keys.add(key); });
  request->bytes = writes_.bytes();
  request->writes = writes_.take();
  request->origin = std::move(origin_);
  request->trace = current_trace();
  return request;
}

Task<Result<std::vector<Change>>> TransactionState::find_changes(std::string begin,
                                                                 std::string end) {
  const std::vector<Write*> own = writes_.range(begin, end);
  std::vector<Write> wanted;
  wanted.reserve(own.size());
  for (const Write* write : own) {
    wanted.push_back({.kind = WriteKind::row, .key = write->key, .value = std::nullopt});
    // What is there now is what it saw, or the commit is a conflict.
    reads_.push_back(ConflictWindow::hash(write->key));
  }
  WEIR_CO_TRY(found, co_await find_replaced(core(), std::move(wanted), writes_.bytes()));
  std::vector<Change> changes;
  changes.reserve(found.size());
  for (std::size_t index = 0; index < own.size(); ++index) {
    Write& write = *own[index];
    write.before = std::move(found[index].before);
    write.is_before_known = true;
    std::optional<std::string_view> before;
    if (write.before) {
      const auto stored = parse_stored(*write.before);
      if (!stored) co_return Error(Errc::corruption, "rows: " + printable(write.key));
      before = stored->value;
    }
    if (auto change = make_change(key_of(write.key), before, write.value))
      changes.push_back(*change);
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
  if (state->writes_.is_empty()) co_return state->snapshot();

  const std::shared_ptr<StoreCore> core = state->core();
  if (auto end = core->end()) co_return *end;
  auto request = state->make_request();
  WEIR_CO_TRY(writes, co_await find_replaced(core, std::move(request->writes), request->bytes));
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
