#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weir/tests/storage/support/forwarding_engine.hpp>

namespace weir::storage::test {

/// An engine in memory that says of much that it would have to wait for a disk.
class HesitantEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  Result<> write(engine::Batch& batch, engine::Wait wait) override {
    if (hesitates(wait)) return engine::Errc::would_block;
    return ForwardingEngine::write(batch, wait);
  }
  Result<bool> get(engine::Family family, std::string_view key, std::string& value,
                   engine::Wait wait) const override {
    if (hesitates(wait)) return Error(engine::Errc::would_block);
    return ForwardingEngine::get(family, key, value, wait);
  }
  std::unique_ptr<engine::Cursor> make_cursor(engine::Family family,
                                              engine::CursorOptions options) const override {
    const engine::Wait wait = options.wait;
    return std::make_unique<HesitantCursor>(
        *this, wait, ForwardingEngine::make_cursor(family, std::move(options)));
  }

 private:
  class HesitantCursor final : public engine::Cursor {
   public:
    HesitantCursor(const HesitantEngine& engine, engine::Wait wait,
                   std::unique_ptr<engine::Cursor> memory)
        : engine_(engine), wait_(wait), memory_(std::move(memory)) {}

    void seek(std::string_view key) override {
      move([&] { memory_->seek(key); });
    }
    void seek_back(std::string_view key) override {
      move([&] { memory_->seek_back(key); });
    }
    void next() override {
      move([&] { memory_->next(); });
    }
    void previous() override {
      move([&] { memory_->previous(); });
    }
    bool is_valid() const override { return !has_stopped_ && memory_->is_valid(); }
    std::string_view key() const override { return memory_->key(); }
    std::string_view value() const override { return memory_->value(); }
    Result<> status() const override {
      if (has_stopped_) return engine::Errc::would_block;
      return memory_->status();
    }

   private:
    template <class Move>
    void move(Move step) {
      if (engine_.hesitates(wait_)) has_stopped_ = true;
      if (!has_stopped_) step();
    }

    const HesitantEngine& engine_;
    const engine::Wait wait_;
    const std::unique_ptr<engine::Cursor> memory_;
    bool has_stopped_ = false;
  };

  /// About every third time.
  bool hesitates(engine::Wait wait) const noexcept {
    if (wait != engine::Wait::never) return false;
    const std::uint64_t call = calls_.fetch_add(1) + 1;
    return (call * 0x9E3779B97F4A7C15 >> 32) % 3 == 0;
  }

  mutable std::atomic<std::uint64_t> calls_{0};
};

}  // namespace weir::storage::test
