#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <weir/storage/engine/engine.hpp>
#include <weir/storage/engine/memory_batch.hpp>

namespace weir::storage::test {

using Operation = engine::MemoryBatch::Operation;
/// The writes of one batch.
using Writes = std::vector<Operation>;
/// What an engine should hold: its oracle.
using Content = std::array<std::map<std::string, std::string, std::less<>>, engine::family_count>;

inline constexpr std::array<engine::Family, engine::family_count> all_families = {
    engine::Family::meta, engine::Family::rows,  engine::Family::history,
    engine::Family::log,  engine::Family::state, engine::Family::checkpoints};

/// Writes to a few short keys, so that they meet; long values now and then.
class RandomWrites {
 public:
  explicit RandomWrites(std::uint64_t seed) : generator_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }
  engine::Family family() { return all_families[below(all_families.size())]; }
  std::string key();
  std::string value();
  Writes batch(std::size_t operations_max);

 private:
  std::mt19937_64 generator_;
};

void apply(const Writes& writes, Content& content);
void apply(const Writes& writes, engine::Batch& batch);
/// Writes one batch, and expects that to work.
void write(engine::Engine& engine, const Writes& writes);

/// All that can be read, or the error.
Result<Content> read_all(const engine::Engine& engine);
/// Empty if they are equal; otherwise the first key in which they differ.
std::string difference(const Content& actual, const Content& expected);
/// The same for everything that can be read from an engine.
std::string difference(const engine::Engine& actual, const Content& expected);

}  // namespace weir::storage::test
