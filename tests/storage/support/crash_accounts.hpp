#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <weir/storage/store.hpp>

// What the writer that is killed and the test that kills it agree on.
namespace weir::storage::test {

using Accounts = RowSpace<std::uint64_t, std::string>;

inline constexpr const char* accounts_name = "accounts";
inline constexpr std::uint64_t account_count = 8;
inline constexpr long long account_money = 100;

inline StoreOptions crash_options(std::filesystem::path directory, Durability durability) {
  StoreOptions options{.directory = std::move(directory), .durability = durability};
  options.retention.log = std::chrono::hours(24);
  options.memory_budget = std::size_t{16} << 20;
  return options;
}

}  // namespace weir::storage::test
