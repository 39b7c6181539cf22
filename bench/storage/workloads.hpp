#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <weir/bench/storage/beside_raw.hpp>
#include <weir/bench/storage/directory.hpp>

/// The storage benchmark: what both subjects, Weir's store and raw RocksDB, are asked to do.
namespace weir::bench::storage {

inline constexpr int rows_per_commit = 10;
inline constexpr std::size_t value_bytes = 100;
inline constexpr int committers = 64;
inline constexpr std::int64_t hot_rows = 1000;

/// Bytes that do not compress, the same for the same row.
std::string value_of(std::uint64_t row);

/// Every number once, in no order.
constexpr std::uint64_t scattered(std::uint64_t row) noexcept {
  row = (row ^ row >> 30) * 0xBF58476D1CE4E5B9;
  row = (row ^ row >> 27) * 0x94D049BB133111EB;
  return row ^ row >> 31;
}

/// What it takes here, in the middle, to bring what a commit appends to a file to the disk.
double sync_us();

/// Waits until this process has nothing left to do: what was loaded has been flushed and merged.
/// Who measures reading does not measure that.
void settle();

/// Resident memory of this process.
double resident_mebibytes();

/// Runs `child` in a process of its own, which must not return from it; gives what it wrote to its
/// standard output. For work whose process is to be killed, or measured alone.
std::string run_in_child(void (*child)(const std::filesystem::path&),
                         const std::filesystem::path& path);

/// The workload `open`: `load_and_die` fills a store in a process that it kills; then it is opened
/// twice, which gives how long that took in milliseconds.
void measure_opening(void (*load_and_die)(const std::filesystem::path&),
                     double (*open_ms)(const std::filesystem::path&));

const std::vector<Workload>& weir_workloads();
const std::vector<Workload>& raw_workloads();

}  // namespace weir::bench::storage
