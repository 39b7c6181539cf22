#include <weir/storage/transaction.hpp>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>

namespace weir::storage {
namespace {

Error ended(Version version) {
  return Error(Errc::ended,
               "the transaction that began at version " + to_string(version) + " has ended");
}

/// A coroutine of its own, as one that waits must not refer to a transaction that has ended.
template <class T>
Task<Result<T>> fails(Error error) {
  co_return error;
}

}  // namespace

Result<std::optional<Checkpoint>> GetCheckpoint::decode(Result<std::optional<std::string>> bytes) {
  if (!bytes) return std::move(bytes).error();
  if (!*bytes) return std::optional<Checkpoint>();
  const auto stored = internal::parse_checkpoint(**bytes);
  if (!stored) return Error(Errc::corruption, "not a checkpoint");
  return std::optional<Checkpoint>(Checkpoint{stored->version, std::string(stored->payload)});
}

Transaction::Transaction(internal::Pin pin)
    : version_(pin.version()),
      state_(std::make_unique<internal::TransactionState>(std::move(pin))) {}

/// That the space can be used; before the transaction has ended.
Result<> Transaction::check(const internal::SpaceHandle& space) const {
  if (auto known = check_space(*state_->core(), space, version_); !known) return known;
  if (!state_->has_dropped(space.id())) return {};
  return Error(Errc::unknown_space,
               "key space \"" + space.name() + "\" was dropped by the transaction itself");
}

internal::PendingRead Transaction::read(const internal::SpaceHandle& space, engine::Family family,
                                        std::string key) {
  if (!state_) return Result<internal::PendingRead::Bytes>(ended(version_));
  if (auto known = check(space); !known) {
    return Result<internal::PendingRead::Bytes>(known.error());
  }
  state_->note_read_of(space.id());
  return state_->read(family, std::move(key));
}

internal::RangeScan Transaction::scan(const internal::SpaceHandle& space, engine::Family family,
                                      internal::RowCursor::Range range) {
  if (!state_) return internal::RangeScan(ended(version_));
  if (auto known = check(space); !known) return internal::RangeScan(known.error());
  state_->note_read_of(space.id());
  return internal::RangeScan(state_->core(), family, std::move(range), version_, state_.get());
}

void Transaction::write(const internal::SpaceHandle& space, internal::WriteKind kind,
                        std::string_view key, std::optional<std::string_view> value) {
  if (!state_) return;  // `commit` tells
  if (auto known = check(space); !known) return state_->note_error(known.error());
  state_->write(kind, key, value);
}

void Transaction::drop_space(const internal::SpaceHandle& space) {
  if (!state_) return;
  if (auto known = check(space); !known) return state_->note_error(known.error());
  state_->drop(space.id(), internal::row_key(internal::catalog_space, encode_key(space.name())));
}

GetCheckpoint Transaction::checkpoint(std::string_view name) {
  if (!state_) return GetCheckpoint(Result<internal::PendingRead::Bytes>(ended(version_)));
  return GetCheckpoint(state_->read_checkpoint(name));
}

void Transaction::set_checkpoint(std::string_view name, Version version, std::string_view payload) {
  if (!state_) return;
  state_->write(internal::WriteKind::checkpoint,
                internal::row_key(internal::checkpoint_space, name),
                internal::encode_checkpoint({version, payload}));
}

void Transaction::forget_checkpoint(std::string_view name) {
  if (!state_) return;
  state_->write(internal::WriteKind::checkpoint,
                internal::row_key(internal::checkpoint_space, name), std::nullopt);
}

void Transaction::set_origin(std::string origin) {
  if (state_) state_->set_origin(std::move(origin));
}

Task<Result<std::vector<Change>>> Transaction::find_changes(const internal::SpaceHandle& space) {
  if (!state_) return fails<std::vector<Change>>(ended(version_));
  if (auto known = check(space); !known) return fails<std::vector<Change>>(known.error());
  state_->note_read_of(space.id());
  return state_->find_changes(internal::row_key(space.id(), {}), internal::space_end(space.id()));
}

Task<Result<>> Transaction::validate() const {
  return state_ ? state_->validate() : fails<void>(ended(version_));
}

Task<Result<Version>> Transaction::submit() {
  if (!state_) return fails<Version>(ended(version_));
  return internal::TransactionState::submit(std::move(state_));
}

Task<Result<Version>> Transaction::commit() {
  if (!state_) return fails<Version>(ended(version_));
  return internal::TransactionState::commit(std::move(state_));
}

}  // namespace weir::storage
