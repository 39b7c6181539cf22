#include <weir/storage/engine/simulated_disk.hpp>

#include <algorithm>
#include <utility>

namespace weir::storage::engine {

void SimulatedDisk::crash(std::size_t survivors) {
  const std::lock_guard lock(mutex_);
  unsynced_.resize(std::min(survivors, unsynced_.size()));
  ++life_;
}

std::size_t SimulatedDisk::unsynced() const {
  const std::lock_guard lock(mutex_);
  return unsynced_.size();
}

void SimulatedDisk::fail_write(std::uint64_t nth, Error error) {
  const std::lock_guard lock(mutex_);
  write_fault_ = Fault{writes_ + nth, std::move(error)};
}

void SimulatedDisk::fail_sync(std::uint64_t nth, Error error) {
  const std::lock_guard lock(mutex_);
  sync_fault_ = Fault{syncs_ + nth, std::move(error)};
}

void SimulatedDisk::fail_reads(Family family, Error error) {
  const std::lock_guard lock(mutex_);
  read_faults_[static_cast<std::size_t>(family)] = std::move(error);
  has_read_faults_ = true;
}

void SimulatedDisk::repair() {
  const std::lock_guard lock(mutex_);
  write_fault_.reset();
  sync_fault_.reset();
  read_faults_.fill(std::nullopt);
  has_read_faults_ = false;
}

Result<> SimulatedDisk::check_readable(Family family) const {
  if (!has_read_faults_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(mutex_);
  const auto& fault = read_faults_[static_cast<std::size_t>(family)];
  return fault ? Result<>(*fault) : Result<>();
}

std::uint64_t SimulatedDisk::writes() const {
  const std::lock_guard lock(mutex_);
  return writes_;
}

std::uint64_t SimulatedDisk::syncs() const {
  const std::lock_guard lock(mutex_);
  return syncs_;
}

std::uint64_t SimulatedDisk::attach(Content& content) {
  const std::lock_guard lock(mutex_);
  // What survived the crash is in the log that the engine replays and syncs when it opens.
  for (const auto& operations : std::exchange(unsynced_, {})) apply(synced_, operations);
  content = synced_;
  return ++life_;
}

Result<> SimulatedDisk::write(std::uint64_t life, const std::vector<Operation>& operations) {
  const std::lock_guard lock(mutex_);
  if (auto alive = check_life(life); !alive) return alive;
  ++writes_;
  if (write_fault_ && writes_ >= write_fault_->at) return write_fault_->error;
  unsynced_.push_back(operations);
  return {};
}

Result<> SimulatedDisk::sync(std::uint64_t life) {
  const std::lock_guard lock(mutex_);
  if (auto alive = check_life(life); !alive) return alive;
  ++syncs_;
  if (sync_fault_ && syncs_ >= sync_fault_->at) return sync_fault_->error;
  for (const auto& operations : std::exchange(unsynced_, {})) apply(synced_, operations);
  return {};
}

Result<> SimulatedDisk::check_life(std::uint64_t life) const {
  if (life == life_) return {};
  return Error(Errc::io_error, "the simulated disk has crashed or belongs to a later engine");
}

void SimulatedDisk::apply(Content& content, const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    auto& family = content[static_cast<std::size_t>(operation.family)];
    switch (operation.kind) {
      case Operation::Kind::put: family.insert_or_assign(operation.key, operation.value); break;
      case Operation::Kind::erase: family.erase(operation.key); break;
      case Operation::Kind::erase_range:
        if (operation.key < operation.value) {
          family.erase(family.lower_bound(operation.key), family.lower_bound(operation.value));
        }
        break;
    }
  }
}

}  // namespace weir::storage::engine
