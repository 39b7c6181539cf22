// `weir_bench_views weir|hand|views|raw <workload>`: one workload, done by Weir's operators or by a
// loop written for it, by views of a database or by RocksDB alone.

#include <cstdio>
#include <unordered_map>

#include <weir/bench/views/changes.hpp>
#include <weir/bench/views/view_workloads.hpp>

namespace weir::bench::views {
namespace {

/// Cuts changes into batches as they are added.
template <class Change>
class Batches {
 public:
  void add(const Change& change) {
    if (batches_.empty() || batches_.back().size() == batch_rows) {
      batches_.emplace_back();
      batches_.back().reserve(batch_rows);
    }
    batches_.back().push_back(change);
  }
  std::vector<std::vector<Change>> take() { return std::move(batches_); }

 private:
  std::vector<std::vector<Change>> batches_;
};

}  // namespace

OrderLoad make_orders(std::int64_t customers, std::int64_t loaded, std::int64_t changed) {
  OrderLoad load{.customers = customers, .loaded = loaded, .changed = changed};
  Random random;
  std::vector<OrderChange> there;
  std::int64_t next_id = 0;
  const auto make = [&] {
    return OrderChange{.id = next_id++,
                       .customer = random.below(customers),
                       .amount = random.below(1'000),
                       .price = static_cast<double>(random.below(100'000)) / 100,
                       .weight = 1};
  };
  Batches<OrderChange> loading;
  for (std::int64_t row = 0; row < loaded; ++row) {
    there.push_back(make());
    loading.add(there.back());
  }
  Batches<OrderChange> changing;
  for (std::int64_t row = 0; row < changed; ++row) {
    if (there.empty() || random.below(3) != 0) {
      there.push_back(make());
      changing.add(there.back());
      continue;
    }
    OrderChange& gone =
        there[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(there.size())))];
    gone.weight = -1;
    changing.add(gone);
    gone = there.back();
    there.pop_back();
  }
  load.loading = loading.take();
  load.changing = changing.take();
  return load;
}

std::vector<CustomerBatch> make_customers(std::int64_t customers) {
  Batches<CustomerChange> batches;
  for (std::int64_t id = 0; id < customers; ++id)
    batches.add({.id = id, .city = id % 100, .weight = 1});
  return batches.take();
}

std::vector<CustomerBatch> move_customers(std::int64_t customers, std::int64_t changed) {
  Batches<CustomerChange> batches;
  Random random;
  std::unordered_map<std::int64_t, std::int64_t> moved;
  for (std::int64_t row = 0; row < changed; row += 2) {
    const std::int64_t id = random.below(customers);
    std::int64_t& city = moved.try_emplace(id, id % 100).first->second;
    batches.add({.id = id, .city = city, .weight = -1});
    city = (city + 1) % 100;
    batches.add({.id = id, .city = city, .weight = 1});
  }
  return batches.take();
}

namespace {

struct ViewWorkloads {
  ViewWorkloads() {
    add_query_workloads(views, raw);
    add_freshness_workloads(views);
    add_backfill_workloads(views);
    add_state_workloads(views);
  }

  std::vector<Workload> views;
  std::vector<Workload> raw;
};

const ViewWorkloads& all_view_workloads() {
  static const ViewWorkloads workloads;
  return workloads;
}

}  // namespace

const std::vector<Workload>& view_workloads() { return all_view_workloads().views; }
const std::vector<Workload>& raw_workloads() { return all_view_workloads().raw; }

}  // namespace weir::bench::views

int main(int argc, char** argv) {
  using namespace weir::bench::views;
  const auto workloads_of = [](std::string_view subject) {
    if (subject == "hand") return hand_workloads();
    if (subject == "views") return view_workloads();
    if (subject == "raw") return raw_workloads();
    return operator_workloads();
  };
  if (argc == 3) {
    for (const auto& workload : workloads_of(argv[1])) {
      if (workload.name == argv[2]) {
        workload.run();
        return 0;
      }
    }
  }
  std::fprintf(stderr, "usage: %s weir|hand|views|raw <workload>\n", argv[0]);
  return 2;
}
