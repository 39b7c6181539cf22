#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weir/samples/shop/tables.hpp>
#include <weir/storage/store.hpp>

namespace shop {

struct Total {
  std::int64_t count = 0;
  std::int64_t cents = 0;
};

/// What the views say, all at one version.
struct Figures {
  std::map<std::string, Total> totals;  // placed, paid, charge, ship
  std::vector<Row> revenue;             // of the last minutes
  std::vector<Row> top_products;        // the best first
  std::vector<Row> stock;
  std::chrono::sys_seconds at = {};
  std::chrono::microseconds lag = {};  // of the view that is the furthest behind
};

weir::Task<weir::Result<Figures>> read_figures(const weir::storage::Store* store,
                                               const Database* database, Tables tables);

/// What came between the two: `1,990 orders, 1,790 paid, 31,002.40; 1,790 checkouts`
std::string processed(const Figures& begin, const Figures& end);

/// The summary on standard output: redrawn in place on a terminal, a line each time elsewhere.
class Screen {
 public:
  /// `url` is where the gateway is.
  explicit Screen(std::string url);

  bool is_terminal() const noexcept { return is_terminal_; }
  void show(const Figures& figures);

 private:
  std::string draw(const Figures& figures) const;

  std::string url_;
  bool is_terminal_;
  int lines_drawn_ = 0;
};

}  // namespace shop
