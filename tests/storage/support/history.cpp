#include <weir/tests/storage/support/history.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>

namespace weir::storage::test {
namespace {

enum class Dependency : std::uint8_t { write_write, write_read, read_write, phantom };

struct Edge {
  std::size_t target;
  Dependency dependency;
  std::uint64_t key;
};

/// One value of a key, or its absence, in the order of commits.
struct Installed {
  std::size_t node;  // who wrote it; `nobody` before the first
  Version version;
  Seen value;
};

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

bool is_committed(const TransactionRecord& record) {
  return record.outcome == Outcome::committed ||
         (record.outcome == Outcome::unknown && record.version != Version{});
}

std::string name_of(std::uint64_t transaction) {
  std::string name = "T";
  return name += std::to_string(transaction);
}

/// The graph of dependencies.
class Graph {
 public:
  explicit Graph(const std::vector<TransactionRecord>& history) : history_(history) {
    edges_.resize(history.size());
    for (std::size_t node = 0; node < history.size(); ++node) by_id_[history[node].id] = node;
    install_writes();
  }

  std::optional<Violation> find_bad_read() {
    for (std::size_t node = 0; node < history_.size(); ++node) {
      if (!is_committed(history_[node])) continue;
      for (const auto& read : history_[node].reads) {
        if (auto violation = add_read(node, read.key, read.seen, false)) return violation;
      }
      for (const auto& range : history_[node].ranges) {
        if (auto violation = add_range(node, range)) return violation;
      }
    }
    return std::nullopt;
  }

  std::optional<Violation> find_cycle() const {
    std::vector<Edge> shortest;
    const std::vector<bool> is_cyclic = find_cyclic();
    std::size_t tried = 0;
    for (std::size_t node = 0; node < edges_.size() && tried < tries_max; ++node) {
      if (!is_cyclic[node]) continue;
      ++tried;
      std::vector<Edge> cycle = shortest_cycle_through(node);
      if (!cycle.empty() && (shortest.empty() || cycle.size() < shortest.size())) {
        shortest = std::move(cycle);
      }
    }
    if (shortest.empty()) return std::nullopt;
    return explain(shortest);
  }

 private:
  static constexpr std::size_t tries_max = 200;

  void install_writes() {
    for (std::size_t node = 0; node < history_.size(); ++node) {
      const TransactionRecord& record = history_[node];
      if (!is_committed(record)) continue;
      for (const auto& [key, write] : record.writes) {
        Seen value;
        if (!write.is_removal) value = Writer{record.id, write.step};
        installed_[key].push_back({node, record.version, value});
      }
    }
    for (auto& [key, values] : installed_) {
      std::sort(values.begin(), values.end(),
                [](const Installed& a, const Installed& b) { return a.version < b.version; });
      values.insert(values.begin(), {nobody, Version{}, std::nullopt});
      for (std::size_t i = 2; i < values.size(); ++i) {
        add(values[i - 1].node, {values[i].node, Dependency::write_write, key});
      }
    }
  }

  void add(std::size_t from, Edge edge) {
    if (from != nobody && from != edge.target) edges_[from].push_back(edge);
  }

  std::optional<Violation> add_range(std::size_t node, const TransactionRecord::Range& range) {
    for (const auto& [key, writer] : range.found) {
      if (auto violation = add_read(node, key, writer, false)) return violation;
    }
    const auto end = installed_.lower_bound(range.end);
    for (auto key = installed_.lower_bound(range.begin); key != end; ++key) {
      if (range.found.contains(key->first)) continue;
      if (auto violation = add_read(node, key->first, std::nullopt, true)) return violation;
    }
    return std::nullopt;
  }

  std::optional<Violation> add_read(std::size_t node, std::uint64_t key, Seen seen,
                                    bool is_by_range) {
    if (seen) {
      if (auto violation = check_writer(node, key, *seen)) return violation;
    }
    const auto values = installed_.find(key);
    if (values == installed_.end()) return std::nullopt;  // never there, as it was seen
    const std::size_t place = place_of(values->second, seen, history_[node].snapshot);
    const Installed& read = values->second[place];
    if (read.node != nobody && read.node != node) {
      add(read.node, {node, Dependency::write_read, key});
    }
    if (place + 1 < values->second.size()) {
      add(node, {values->second[place + 1].node,
                 is_by_range ? Dependency::phantom : Dependency::read_write, key});
    }
    return std::nullopt;
  }

  /// A value that was seen must be the last that a committed transaction wrote to the key.
  std::optional<Violation> check_writer(std::size_t node, std::uint64_t key, Writer seen) const {
    const std::uint64_t reader = history_[node].id;
    const std::string what = name_of(reader) + " read from key " + std::to_string(key) + " what " +
                             name_of(seen.transaction) + " wrote";
    const auto writer = by_id_.find(seen.transaction);
    if (writer == by_id_.end()) {
      return Violation{Anomaly::unknown_value, {reader}, what + ", and there is no such one"};
    }
    const TransactionRecord& record = history_[writer->second];
    if (!is_committed(record)) {
      return Violation{Anomaly::aborted_read, {reader, record.id}, what + ", which was given up"};
    }
    const auto write = record.writes.find(key);
    if (write == record.writes.end()) {
      return Violation{Anomaly::unknown_value, {reader, record.id}, what + ", which it did not"};
    }
    if (write->second.is_removal || write->second.step != seen.step) {
      return Violation{Anomaly::dirty_read,
                       {reader, record.id},
                       what + " as step " + std::to_string(seen.step) +
                           ", and that was not its last to that key"};
    }
    return std::nullopt;
  }

  /// Which of the values of a key was seen.
  static std::size_t place_of(const std::vector<Installed>& values, Seen seen, Version snapshot) {
    const auto after = std::upper_bound(
        values.begin(), values.end(), snapshot,
        [](Version version, const Installed& value) { return version < value.version; });
    const auto at_snapshot = static_cast<std::size_t>(after - values.begin()) - 1;
    for (std::size_t place = at_snapshot + 1; place-- > 0;) {
      if (values[place].value == seen) return place;
    }
    for (std::size_t place = at_snapshot + 1; place < values.size(); ++place) {
      if (values[place].value == seen) return place;
    }
    return 0;  // the value has been checked: not reached
  }

  /// Those left when all that lead nowhere and all that nothing leads to are gone, again and again.
  std::vector<bool> find_cyclic() const {
    std::vector<std::vector<std::size_t>> sources(edges_.size());
    std::vector<std::vector<std::size_t>> targets(edges_.size());
    for (std::size_t node = 0; node < edges_.size(); ++node) {
      for (const Edge& edge : edges_[node]) {
        targets[node].push_back(edge.target);
        sources[edge.target].push_back(node);
      }
    }
    std::vector<bool> is_left(edges_.size(), true);
    peel(is_left, targets, sources);
    peel(is_left, sources, targets);
    return is_left;
  }

  using Neighbours = std::vector<std::vector<std::size_t>>;
  static void peel(std::vector<bool>& is_left, const Neighbours& ahead, const Neighbours& behind) {
    std::vector<std::size_t> degree(is_left.size(), 0);
    std::vector<std::size_t> ended;
    for (std::size_t node = 0; node < is_left.size(); ++node) {
      if (!is_left[node]) continue;
      degree[node] = static_cast<std::size_t>(std::count_if(
          ahead[node].begin(), ahead[node].end(), [&](std::size_t next) { return is_left[next]; }));
      if (degree[node] == 0) ended.push_back(node);
    }
    while (!ended.empty()) {
      const std::size_t node = ended.back();
      ended.pop_back();
      is_left[node] = false;
      for (const std::size_t before : behind[node]) {
        if (is_left[before] && --degree[before] == 0) ended.push_back(before);
      }
    }
  }

  std::vector<Edge> shortest_cycle_through(std::size_t start) const {
    std::unordered_map<std::size_t, std::size_t> came_from;
    std::deque<std::size_t> queue{start};
    while (!queue.empty()) {
      const std::size_t node = queue.front();
      queue.pop_front();
      for (const Edge& edge : edges_[node]) {
        if (!came_from.emplace(edge.target, node).second) continue;
        if (edge.target == start) return edges_back(start, came_from);
        queue.push_back(edge.target);
      }
    }
    return {};
  }

  std::vector<Edge> edges_back(
      std::size_t start, const std::unordered_map<std::size_t, std::size_t>& came_from) const {
    std::vector<Edge> cycle;
    std::size_t node = start;
    do {
      const std::size_t before = came_from.at(node);
      cycle.push_back(strongest(before, node));
      node = before;
    } while (node != start);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  /// Of several reasons for an order the one that says most.
  Edge strongest(std::size_t from, std::size_t to) const {
    std::optional<Edge> best;
    for (const Edge& edge : edges_[from]) {
      if (edge.target == to && (!best || edge.dependency < best->dependency)) best = edge;
    }
    return *best;
  }

  static bool is_anti(const Edge& edge) {
    return edge.dependency == Dependency::read_write || edge.dependency == Dependency::phantom;
  }

  /// `cycle[i]` leads from the target of the one before it.
  static Anomaly classify(const std::vector<Edge>& cycle) {
    std::size_t antis = 0;
    bool has_adjacent = false;
    bool has_phantom = false;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (!is_anti(cycle[i])) continue;
      ++antis;
      has_adjacent = has_adjacent || is_anti(cycle[(i + 1) % cycle.size()]);
      has_phantom = has_phantom || cycle[i].dependency == Dependency::phantom;
    }
    if (antis == 0) return Anomaly::dirty_read;
    if (has_phantom) return Anomaly::phantom;
    if (antis == 1) return classify_single(cycle);
    if (!has_adjacent) return Anomaly::long_fork;
    return cycle.size() == 2 ? Anomaly::write_skew : Anomaly::other_cycle;
  }

  static Anomaly classify_single(const std::vector<Edge>& cycle) {
    if (cycle.size() == 2 && cycle[0].key == cycle[1].key &&
        std::any_of(cycle.begin(), cycle.end(),
                    [](const Edge& edge) { return edge.dependency == Dependency::write_write; })) {
      return Anomaly::lost_update;
    }
    return Anomaly::read_skew;
  }

  Violation explain(const std::vector<Edge>& cycle) const {
    Violation violation{classify(cycle), {}, {}};
    violation.text = to_string(violation.anomaly);
    std::size_t from = cycle.back().target;
    for (const Edge& edge : cycle) {
      violation.transactions.push_back(history_[from].id);
      violation.text += "; " + describe(from, edge);
      from = edge.target;
    }
    return violation;
  }

  std::string describe(std::size_t from, const Edge& edge) const {
    const std::string source = name_of(history_[from].id);
    const std::string target = name_of(history_[edge.target].id);
    const std::string key = "key " + std::to_string(edge.key);
    switch (edge.dependency) {
      case Dependency::write_write: return target + " replaced what " + source + " wrote to " + key;
      case Dependency::write_read: return target + " read what " + source + " wrote to " + key;
      case Dependency::read_write:
        return source + " did not see what " + target + " wrote to " + key;
      case Dependency::phantom: break;
    }
    return source + " did not see, in a range, that " + target + " wrote " + key;
  }

  const std::vector<TransactionRecord>& history_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::map<std::uint64_t, std::vector<Installed>> installed_;  // by key
  std::vector<std::vector<Edge>> edges_;
};

}  // namespace

const char* to_string(Anomaly anomaly) noexcept {
  switch (anomaly) {
    case Anomaly::unknown_value: return "unknown value";
    case Anomaly::aborted_read: return "aborted read";
    case Anomaly::dirty_read: return "dirty read";
    case Anomaly::lost_update: return "lost update";
    case Anomaly::read_skew: return "read skew";
    case Anomaly::write_skew: return "write skew";
    case Anomaly::phantom: return "phantom";
    case Anomaly::long_fork: return "long fork";
    case Anomaly::other_cycle: break;
  }
  return "cycle";
}

std::optional<Violation> find_violation(const std::vector<TransactionRecord>& history) {
  Graph graph(history);
  if (auto violation = graph.find_bad_read()) return violation;
  return graph.find_cycle();
}

}  // namespace weir::storage::test
