#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weir/storage/engine/engine.hpp>

namespace weir::storage::engine {

/// A batch as a list of operations.
class MemoryBatch final : public Batch {
 public:
  struct Operation {
    enum class Kind : std::uint8_t { put, erase, erase_range };

    Kind kind;
    Family family;
    std::string key;
    std::string value;  // of a range: its end
  };

  void put(Family family, std::string_view key, std::string_view value) override {
    add(Operation::Kind::put, family, key, value);
  }
  void erase(Family family, std::string_view key) override {
    add(Operation::Kind::erase, family, key, {});
  }
  void erase_range(Family family, std::string_view begin, std::string_view end) override {
    add(Operation::Kind::erase_range, family, begin, end);
  }
  void clear() override {
    operations_.clear();
    bytes_ = 0;
  }

  std::size_t bytes() const override { return bytes_; }
  bool is_empty() const override { return operations_.empty(); }

  const std::vector<Operation>& operations() const noexcept { return operations_; }

 private:
  void add(Operation::Kind kind, Family family, std::string_view key, std::string_view value) {
    operations_.push_back({kind, family, std::string(key), std::string(value)});
    bytes_ += 2 + key.size() + value.size();
  }

  std::vector<Operation> operations_;
  std::size_t bytes_ = 0;
};

}  // namespace weir::storage::engine
