#pragma once

#include <memory>
#include <utility>

#include <weir/storage/internal/store_core.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// A version that stays readable while this lives, and with it the store.
class Pin {
 public:
  Pin() noexcept = default;
  /// Of a version that has been pinned already.
  Pin(std::shared_ptr<StoreCore> core, Version pinned) noexcept
      : core_(std::move(core)), version_(pinned) {}
  Pin(Pin&& other) noexcept : core_(std::move(other.core_)), version_(other.version_) {}
  Pin& operator=(Pin&& other) noexcept {
    Pin moved(std::move(other));
    std::swap(core_, moved.core_);
    std::swap(version_, moved.version_);
    return *this;
  }
  ~Pin() {
    if (core_) core_->pins.unpin(version_);
  }

  explicit operator bool() const noexcept { return core_ != nullptr; }
  Version version() const noexcept { return version_; }
  const std::shared_ptr<StoreCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<StoreCore> core_;
  Version version_;
};

/// The newest version. The horizon never passes it.
inline Pin pin_newest(std::shared_ptr<StoreCore> core) {
  const Version newest = core->pins.pin_newest([&] { return core->newest(); });
  return Pin(std::move(core), newest);
}

}  // namespace weir::storage::internal
