#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a gate lets pass, commit by commit.
class LatchHistory {
 public:
  /// The rows that pass once its input is these.
  Rows next(const Gate& gate, const Rows& input, const data::SchemaRef& schema);

 private:
  std::map<Row, Row> before_;  // by primary key
  std::set<Row> open_;
};

/// Rows by the order in which they came, commit by commit; of a ring buffer only the last.
class ArrivalHistory {
 public:
  explicit ArrivalHistory(std::optional<std::uint64_t> capacity) : capacity_(capacity) {}

  struct Numbered {
    std::uint64_t number;
    Row row;
  };
  /// Those that there are once the input is this, the oldest first.
  const std::list<Numbered>& next(const Rows& input, const data::Schema& schema);

 private:
  void remove(const Row& row);

  std::optional<std::uint64_t> capacity_;
  Rows before_;
  std::list<Numbered> rows_;
  std::uint64_t given_ = 0;
};

}  // namespace weir::flow::operators::test
