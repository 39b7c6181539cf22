#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::storage {

/// Every batch that a store wrote, byte for byte, so that something else can write the same.
class Recording {
 public:
  enum class Kind : std::uint8_t { put, erase, erase_range };
  struct Operation {
    Kind kind;
    weir::storage::engine::Family family;
    std::string_view key;
    std::string_view value;  // of a range: its end
  };

  /// What comes from now on is what is measured.
  void begin_measured() noexcept { measured_from_ = batch_ends_.size(); }
  std::size_t measured_from() const noexcept { return measured_from_; }

  void add(const Operation& operation);
  void end_batch() { batch_ends_.push_back(operations_.size()); }

  std::size_t batches() const noexcept { return batch_ends_.size(); }
  /// Calls `visit` with each operation of one batch, in order.
  template <class Visit>
  void visit(std::size_t batch, Visit visit) const {
    for (std::size_t index = batch == 0 ? 0 : batch_ends_[batch - 1]; index < batch_ends_[batch];
         ++index)
      visit(at(index));
  }

 private:
  struct Place {
    Kind kind;
    weir::storage::engine::Family family;
    std::uint32_t key_size;
    std::uint32_t value_size;
    std::size_t begin;  // in `bytes_`
  };
  Operation at(std::size_t index) const;

  std::vector<Place> operations_;
  std::vector<std::size_t> batch_ends_;
  std::string bytes_;
  std::size_t measured_from_ = 0;
};

/// A store in a directory, on an engine that tells the recording what it writes. The recording
/// outlives it.
Result<weir::storage::Store> open_recorded(ActorSystem& system, const std::filesystem::path& path,
                                           weir::storage::Durability durability,
                                           Recording* recording);

}  // namespace weir::bench::storage
