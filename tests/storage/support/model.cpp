#include <gtest/gtest.h>
#include <weir/tests/storage/support/model.hpp>

#include <algorithm>

namespace weir::storage::test {

using engine::Family;
using Kind = Operation::Kind;

std::string RandomWrites::key() {
  // The bytes that a careless comparison gets wrong.
  static constexpr std::string_view alphabet("\x00\x01\x7f\x80\xff", 5);
  std::string key(1 + below(3), '\0');
  for (char& byte : key) byte = alphabet[below(alphabet.size())];
  return key;
}

std::string RandomWrites::value() {
  const std::size_t size = below(8) == 0 ? below(3000) : below(20);
  std::string value(size, '\0');
  for (char& byte : value) byte = static_cast<char>(below(256));
  return value;
}

Writes RandomWrites::batch(std::size_t operations_max) {
  Writes writes;
  for (std::size_t count = 1 + below(operations_max); count > 0; --count) {
    const auto kind = below(10);
    if (kind < 7) {
      writes.push_back({Kind::put, family(), key(), value()});
    } else if (kind < 9) {
      writes.push_back({Kind::erase, family(), key(), {}});
    } else {
      writes.push_back({Kind::erase_range, family(), key(), key()});
    }
  }
  return writes;
}

void apply(const Writes& writes, Content& content) {
  for (const Operation& operation : writes) {
    auto& family = content[static_cast<std::size_t>(operation.family)];
    switch (operation.kind) {
      case Kind::put: family[operation.key] = operation.value; break;
      case Kind::erase: family.erase(operation.key); break;
      case Kind::erase_range:
        std::erase_if(family, [&](const auto& entry) {
          return entry.first >= operation.key && entry.first < operation.value;
        });
        break;
    }
  }
}

void apply(const Writes& writes, engine::Batch& batch) {
  for (const Operation& operation : writes) {
    switch (operation.kind) {
      case Kind::put: batch.put(operation.family, operation.key, operation.value); break;
      case Kind::erase: batch.erase(operation.family, operation.key); break;
      case Kind::erase_range:
        batch.erase_range(operation.family, operation.key, operation.value);
        break;
    }
  }
}

void write(engine::Engine& engine, const Writes& writes) {
  const auto batch = engine.make_batch();
  apply(writes, *batch);
  const auto written = engine.write(*batch, engine::Wait::allowed);
  ASSERT_TRUE(written) << written.error().message();
}

Result<Content> read_all(const engine::Engine& engine) {
  Content content;
  for (const Family family : all_families) {
    const auto cursor = engine.make_cursor(family, {.is_scan = true});
    for (cursor->seek({}); cursor->is_valid(); cursor->next()) {
      content[static_cast<std::size_t>(family)].emplace(cursor->key(), cursor->value());
    }
    if (auto status = cursor->status(); !status) return std::move(status).error();
  }
  return content;
}

std::string difference(const Content& actual, const Content& expected) {
  for (const Family family : all_families) {
    const auto& left = actual[static_cast<std::size_t>(family)];
    const auto& right = expected[static_cast<std::size_t>(family)];
    if (left == right) continue;
    const auto [in_left, in_right] = std::ranges::mismatch(left, right);
    const std::string name(engine::to_string(family));
    if (in_left == left.end()) {
      return name + ": no key " + testing::PrintToString(in_right->first);
    }
    if (in_right == right.end() || in_left->first < in_right->first) {
      return name + ": unexpected key " + testing::PrintToString(in_left->first);
    }
    return name + ": differs at " + testing::PrintToString(in_right->first);
  }
  return {};
}

std::string difference(const engine::Engine& actual, const Content& expected) {
  auto content = read_all(actual);
  if (!content) return content.error().message();
  return difference(*content, expected);
}

}  // namespace weir::storage::test
