#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/bench/actors/measure.hpp>

/// The benchmark of views: what Weir, a loop written by hand and RocksDB alone are asked to do.
namespace weir::bench::views {

inline constexpr std::size_t batch_rows = 1024;

/// One decoded change of the table `orders(id, customer, amount, price)`.
struct OrderChange {
  std::int64_t id;
  std::int64_t customer;
  std::int64_t amount;
  double price;
  std::int64_t weight;
};
using OrderBatch = std::vector<OrderChange>;

/// Of the workload with windows: when an order was made, in microseconds; 6,000 come in a minute.
inline std::int64_t event_time(const OrderChange& change) noexcept { return change.id * 10'000; }
/// Windows of five minutes, of which one begins every minute.
inline constexpr std::int64_t pane_microseconds = 60'000'000;
inline constexpr std::int64_t panes_per_row = 5;

/// One decoded change of the table `customers(id, city)`.
struct CustomerChange {
  std::int64_t id;
  std::int64_t city;
  std::int64_t weight;
};
using CustomerBatch = std::vector<CustomerChange>;

/// A generator with the same numbers everywhere.
class Random {
 public:
  std::uint64_t operator()() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::int64_t below(std::int64_t limit) noexcept {
    return static_cast<std::int64_t>((*this)() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

/// Batches of orders of so many customers: first `loaded` inserts, then a third deletes of orders
/// that are there and two thirds inserts.
struct OrderLoad {
  std::int64_t customers;
  std::int64_t loaded;
  std::int64_t changed;

  std::vector<OrderBatch> loading = {};
  std::vector<OrderBatch> changing = {};
};
OrderLoad make_orders(std::int64_t customers, std::int64_t loaded, std::int64_t changed);
/// Batches that insert customers, and then move some of them to another city.
std::vector<CustomerBatch> make_customers(std::int64_t customers);
std::vector<CustomerBatch> move_customers(std::int64_t customers, std::int64_t changed);

/// Calls `work`, which is all that is timed. Tools that count instructions find it by its name.
template <class Work>
[[gnu::noinline]] double measured(Work work) {
  actors::Stopwatch watch;
  watch.start();
  work();
  watch.stop();
  return watch.elapsed_ns();
}

/// What is remembered in the end.
struct StateSize {
  double bytes = 0;
  /// Groups, or rows where those are what is remembered.
  std::int64_t keys = 0;
};

/// The result of a workload over changes: nanoseconds for each.
inline void print_changes(const char* workload, double elapsed_ns, std::int64_t changes,
                          StateSize state = {}) {
  const auto count = static_cast<double>(changes);
  const auto keys = static_cast<double>(std::max<std::int64_t>(state.keys, 1));
  actors::print_result(workload, elapsed_ns / count, "ns",
                       {{"changes", count},
                        {"state_mb", state.bytes / (1 << 20)},
                        {"key_bytes", state.bytes / keys}});
}

/// One workload: prints the result line.
struct Workload {
  std::string_view name;
  void (*run)();
};

/// Operators alone, by Weir and by hand.
const std::vector<Workload>& operator_workloads();
const std::vector<Workload>& hand_workloads();
/// Views of a database, and the same bytes written by RocksDB alone.
const std::vector<Workload>& view_workloads();
const std::vector<Workload>& raw_workloads();

}  // namespace weir::bench::views
