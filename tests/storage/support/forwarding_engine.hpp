#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/storage/engine/memory_engine.hpp>

namespace weir::storage::test {

/// An engine in memory, for those that do one thing differently.
class ForwardingEngine : public engine::Engine {
 public:
  ForwardingEngine() = default;
  explicit ForwardingEngine(std::shared_ptr<engine::SimulatedDisk> disk)
      : memory_(std::move(disk)) {}

  std::unique_ptr<engine::Batch> make_batch() override { return memory_.make_batch(); }
  Result<> write(engine::Batch& batch, engine::Wait wait) override {
    return memory_.write(batch, wait);
  }
  Result<> sync() override { return memory_.sync(); }
  Result<bool> get(engine::Family family, std::string_view key, std::string& value,
                   engine::Wait wait) const override {
    return memory_.get(family, key, value, wait);
  }
  std::unique_ptr<engine::Cursor> make_cursor(engine::Family family,
                                              engine::CursorOptions options) const override {
    return memory_.make_cursor(family, std::move(options));
  }
  void set_horizon(std::uint64_t horizon) noexcept override { memory_.set_horizon(horizon); }
  Result<> collect() override { return memory_.collect(); }
  Result<std::vector<std::string>> copy_to(const std::filesystem::path& directory) override {
    return memory_.copy_to(directory);
  }
  Result<> check_files() override { return memory_.check_files(); }
  engine::Statistics statistics() const override { return memory_.statistics(); }
  Result<> close() override { return memory_.close(); }

 private:
  engine::MemoryEngine memory_;
};

}  // namespace weir::storage::test
