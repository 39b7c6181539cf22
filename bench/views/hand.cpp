// What one would write for each query alone: a loop over changes and standard containers.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <weir/bench/views/changes.hpp>
#include <weir/bench/views/sizes.hpp>

namespace weir::bench::views {
namespace {

/// Keeps the compiler from leaving out what nobody reads.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Loads orders, then measures what changes of them cost; `query.apply(batch, out)` adds rows.
template <class Row, class Query>
void run_orders(const char* name, const OrderLoad& load, Query query) {
  std::vector<Row> out;
  for (const OrderBatch& batch : load.loading) {
    out.clear();
    query.apply(batch, out);
  }
  std::int64_t changes = 0;
  const double elapsed_ns = measured([&] {
    for (const OrderBatch& batch : load.changing) {
      out.clear();
      query.apply(batch, out);
      keep(out);
      changes += static_cast<std::int64_t>(batch.size());
    }
  });
  print_changes(name, elapsed_ns, changes);
}

void filter_map() {
  struct Out {
    std::int64_t id;
    std::int64_t twice;
    double total;
    std::int64_t bucket;
    std::int64_t weight;
  };
  const OrderLoad load = make_orders(10'000, 0, filter_map_changes());
  std::int64_t changes = 0;
  std::vector<Out> out;
  const double elapsed_ns = measured([&] {
    for (int round = 0; round < filter_map_rounds; ++round) {
      for (const OrderBatch& batch : load.changing) {
        out.clear();
        for (const OrderChange& change : batch) {
          if (change.amount <= 300) continue;
          out.push_back({change.id, change.amount * 2,
                         change.price * static_cast<double>(change.amount), change.customer % 16,
                         change.weight});
        }
        keep(out);
        changes += static_cast<std::int64_t>(batch.size());
      }
    }
  });
  print_changes("filter_map", elapsed_ns, changes);
}

/// count, sum and max of each group, under removal.
class Groups {
 public:
  struct Row {
    std::int64_t customer;
    std::int64_t count;
    std::int64_t sum;
    std::int64_t max;
    std::int64_t weight;
  };

  explicit Groups(bool has_max) : has_max_(has_max) {}

  void apply(const OrderBatch& batch, std::vector<Row>& out) {
    touched_.clear();
    for (const OrderChange& change : batch) {
      const auto [at, is_new] = groups_.try_emplace(change.customer);
      Group& group = at->second;
      if (group.batch != batch_) {
        group.batch = batch_;
        touched_.push_back(change.customer);
        if (group.count > 0) out.push_back(row_of(change.customer, group, -1));
      }
      group.count += change.weight;
      group.sum += change.weight * change.amount;
      if (!has_max_) continue;
      const auto value = group.values.try_emplace(change.amount).first;
      if ((value->second += change.weight) == 0) group.values.erase(value);
    }
    for (const std::int64_t customer : touched_) {
      const auto at = groups_.find(customer);
      if (at->second.count > 0) {
        out.push_back(row_of(customer, at->second, 1));
      } else {
        groups_.erase(at);
      }
    }
    ++batch_;
  }

 private:
  struct Group {
    std::int64_t count = 0;
    std::int64_t sum = 0;
    std::map<std::int64_t, std::int64_t> values;
    std::int64_t batch = -1;
  };

  Row row_of(std::int64_t customer, const Group& group, std::int64_t weight) const {
    return {customer, group.count, group.sum,
            group.values.empty() ? 0 : group.values.rbegin()->first, weight};
  }

  bool has_max_;
  std::unordered_map<std::int64_t, Group> groups_;
  std::vector<std::int64_t> touched_;
  std::int64_t batch_ = 0;
};

void group_by(const char* name, const OrderLoad& load, bool has_max) {
  run_orders<Groups::Row>(name, load, Groups(has_max));
}

void group_by_few() {
  group_by("group_by_10k", make_orders(10'000, few_loaded(), few_changed()), true);
}
void group_by_many() {
  group_by("group_by_1m", make_orders(many_groups(), many_loaded(), many_changed()), false);
}

/// orders join customers on customer = id.
class HashJoin {
 public:
  struct Out {
    std::int64_t order;
    std::int64_t customer;
    std::int64_t amount;
    double price;
    std::int64_t city;
    std::int64_t weight;
  };

  void apply(const OrderBatch& batch, std::vector<Out>& out) {
    for (const OrderChange& change : batch) {
      auto& orders = orders_[change.customer];
      if (change.weight > 0) {
        orders.push_back(change);
      } else {
        std::erase_if(orders, [&](const OrderChange& order) { return order.id == change.id; });
      }
      const auto customers = customers_.find(change.customer);
      if (customers == customers_.end()) continue;
      for (const CustomerChange& customer : customers->second)
        out.push_back({change.id, change.customer, change.amount, change.price, customer.city,
                       change.weight});
    }
  }
  void apply(const CustomerBatch& batch, std::vector<Out>& out) {
    for (const CustomerChange& change : batch) {
      auto& customers = customers_[change.id];
      if (change.weight > 0) {
        customers.push_back(change);
      } else {
        std::erase_if(customers,
                      [&](const CustomerChange& customer) { return customer.city == change.city; });
      }
      const auto orders = orders_.find(change.id);
      if (orders == orders_.end()) continue;
      for (const OrderChange& order : orders->second)
        out.push_back(
            {order.id, order.customer, order.amount, order.price, change.city, change.weight});
    }
  }

 private:
  std::unordered_map<std::int64_t, std::vector<OrderChange>> orders_;
  std::unordered_map<std::int64_t, std::vector<CustomerChange>> customers_;
};

void join() {
  const OrderLoad load = make_orders(join_customers(), join_orders(), join_changed());
  const auto customers = make_customers(join_customers());
  const auto moving = move_customers(join_customers(), join_changed() / 8);
  HashJoin hash_join;
  std::vector<HashJoin::Out> out;
  for (const CustomerBatch& batch : customers) hash_join.apply(batch, out);
  for (const OrderBatch& batch : load.loading) {
    out.clear();
    hash_join.apply(batch, out);
  }
  std::int64_t changes = 0;
  std::size_t next_move = 0;
  const double elapsed_ns = measured([&] {
    for (std::size_t index = 0; index < load.changing.size(); ++index) {
      out.clear();
      hash_join.apply(load.changing[index], out);
      changes += static_cast<std::int64_t>(load.changing[index].size());
      if (index % 8 == 7 && next_move < moving.size()) {
        hash_join.apply(moving[next_move], out);
        changes += static_cast<std::int64_t>(moving[next_move].size());
        ++next_move;
      }
      keep(out);
    }
  });
  print_changes("join", elapsed_ns, changes);
}

/// The ten largest orders of each customer.
class Tops {
 public:
  void apply(const OrderBatch& batch, std::vector<OrderChange>& out) {
    touched_.clear();
    for (const OrderChange& change : batch) {
      Group& group = groups_[change.customer];
      if (group.batch != batch_) {
        group.batch = batch_;
        touched_.push_back(change.customer);
        group.before.assign(group.rows.begin(), end_of_top(group));
      }
      if (change.weight > 0) {
        group.rows.insert(change);
      } else {
        OrderChange there = change;
        there.weight = 1;
        group.rows.erase(there);
      }
    }
    for (const std::int64_t customer : touched_) emit(groups_[customer], out);
    ++batch_;
  }

 private:
  static constexpr std::size_t top = 10;

  struct Larger {
    bool operator()(const OrderChange& a, const OrderChange& b) const noexcept {
      return a.amount != b.amount ? a.amount > b.amount : a.id < b.id;
    }
  };
  struct Group {
    std::set<OrderChange, Larger> rows;
    std::vector<OrderChange> before;
    std::int64_t batch = -1;
  };

  static std::set<OrderChange, Larger>::const_iterator end_of_top(const Group& group) {
    auto end = group.rows.begin();
    for (std::size_t row = 0; row < top && end != group.rows.end(); ++row) ++end;
    return end;
  }
  static void emit(const Group& group, std::vector<OrderChange>& out) {
    const Larger larger;
    auto now = group.rows.begin();
    const auto end = end_of_top(group);
    for (const OrderChange& row : group.before) {
      for (; now != end && larger(*now, row); ++now) out.push_back(*now);
      if (now != end && !larger(row, *now)) {
        ++now;
      } else {
        out.push_back(row);
        out.back().weight = -1;
      }
    }
    for (; now != end; ++now) out.push_back(*now);
  }

  std::unordered_map<std::int64_t, Group> groups_;
  std::vector<std::int64_t> touched_;
  std::int64_t batch_ = 0;
};

void top_n() {
  run_orders<OrderChange>("top_n", make_orders(top_groups(), top_loaded(), top_changed()), Tops());
}

/// count and sum of each customer in each window.
class Panes {
 public:
  struct Row {
    std::int64_t start;
    std::int64_t customer;
    std::int64_t count;
    std::int64_t sum;
    std::int64_t weight;
  };

  void apply(const OrderBatch& batch, std::vector<Row>& out) {
    touched_.clear();
    for (const OrderChange& change : batch) {
      const std::int64_t last = event_time(change) / pane_microseconds;
      for (std::int64_t pane = last - panes_per_row + 1; pane <= last; ++pane) {
        const Key key{pane * pane_microseconds, change.customer};
        Group& group = groups_[key];
        if (group.batch != batch_) {
          group.batch = batch_;
          touched_.push_back(key);
          if (group.count > 0) out.push_back({key.start, key.customer, group.count, group.sum, -1});
        }
        group.count += change.weight;
        group.sum += change.weight * change.amount;
      }
    }
    for (const Key& key : touched_) {
      const auto at = groups_.find(key);
      const Group& group = at->second;
      if (group.count > 0) {
        out.push_back({key.start, key.customer, group.count, group.sum, 1});
      } else {
        groups_.erase(at);
      }
    }
    ++batch_;
  }

 private:
  struct Key {
    std::int64_t start;
    std::int64_t customer;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      const std::hash<std::int64_t> hash;
      return hash(key.start) * 31 + hash(key.customer);
    }
  };
  struct Group {
    std::int64_t count = 0;
    std::int64_t sum = 0;
    std::int64_t batch = -1;
  };

  std::unordered_map<Key, Group, Hash> groups_;
  std::vector<Key> touched_;
  std::int64_t batch_ = 0;
};

void window() {
  run_orders<Panes::Row>("window", make_orders(window_customers, window_loaded(), window_changed()),
                         Panes());
}

}  // namespace

const std::vector<Workload>& hand_workloads() {
  static const std::vector<Workload> workloads{{"filter_map", &filter_map},
                                               {"group_by_10k", &group_by_few},
                                               {"group_by_1m", &group_by_many},
                                               {"join", &join},
                                               {"top_n", &top_n},
                                               {"window", &window}};
  return workloads;
}

}  // namespace weir::bench::views
