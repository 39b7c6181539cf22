#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weir/storage/errc.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/forwarding_engine.hpp>

namespace weir::storage::test {

/// What a `WatchedEngine` does, seen from outside; outlives it.
struct EngineWatch {
  /// Rows that cursors on threads that may wait came to.
  std::atomic<std::uint64_t> rows_read{0};
  /// Such a cursor stops at this one until it is let go. Zero: at none.
  std::atomic<std::uint64_t> hold_at{0};
  weir::testing::Event held;
  weir::testing::Event let_go;
  std::atomic<bool> is_gone{false};
  /// Whether cursors that may not wait find no rows, as if those were on a disk.
  std::atomic<bool> must_wait{false};
};

/// An engine in memory whose cursors are watched, and can be held.
class WatchedEngine final : public ForwardingEngine {
 public:
  explicit WatchedEngine(EngineWatch* watch) : watch_(watch) {}
  ~WatchedEngine() override { watch_->is_gone = true; }

  std::unique_ptr<engine::Cursor> make_cursor(engine::Family family,
                                              engine::CursorOptions options) const override {
    const bool is_watched = family == engine::Family::rows && options.wait == engine::Wait::allowed;
    if (family == engine::Family::rows && !is_watched && watch_->must_wait)
      return std::make_unique<BlockedCursor>();
    auto cursor = ForwardingEngine::make_cursor(family, std::move(options));
    if (!is_watched) return cursor;
    return std::make_unique<WatchedCursor>(*watch_, std::move(cursor));
  }

 private:
  class BlockedCursor final : public engine::Cursor {
   public:
    void seek(std::string_view) override {}
    void seek_back(std::string_view) override {}
    void next() override {}
    void previous() override {}
    bool is_valid() const override { return false; }
    std::string_view key() const override { return {}; }
    std::string_view value() const override { return {}; }
    Result<> status() const override { return Errc::would_block; }
  };

  class WatchedCursor final : public engine::Cursor {
   public:
    WatchedCursor(EngineWatch& watch, std::unique_ptr<engine::Cursor> memory)
        : watch_(watch), memory_(std::move(memory)) {}

    void seek(std::string_view key) override {
      memory_->seek(key);
      note();
    }
    void seek_back(std::string_view key) override { memory_->seek_back(key); }
    void next() override {
      memory_->next();
      note();
    }
    void previous() override { memory_->previous(); }
    bool is_valid() const override { return memory_->is_valid(); }
    std::string_view key() const override { return memory_->key(); }
    std::string_view value() const override { return memory_->value(); }
    Result<> status() const override { return memory_->status(); }

   private:
    void note() {
      if (!memory_->is_valid()) return;
      if (++watch_.rows_read != watch_.hold_at) return;
      watch_.held.set();
      watch_.let_go.wait();
    }

    EngineWatch& watch_;
    const std::unique_ptr<engine::Cursor> memory_;
  };

  EngineWatch* const watch_;
};

}  // namespace weir::storage::test
