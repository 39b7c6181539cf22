#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The benchmark of operators: what both subjects, Weir's operators and a loop written by hand, are
/// asked to do.
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

/// One workload: prints the result line, nanoseconds for each change.
struct Workload {
  std::string_view name;
  void (*run)();
};

const std::vector<Workload>& weir_workloads();
const std::vector<Workload>& hand_workloads();

}  // namespace weir::bench::views
