#include <weir/samples/shop/summary.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include <weir/flow/data/text_form.hpp>
#include <weir/runtime/try.hpp>

namespace shop {
namespace {

using weir::Result;
using weir::Task;
using weir::flow::data::Timestamp;

constexpr auto minutes_shown = std::chrono::minutes(2);

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

/// `20:14:05`
std::string clock_time(Timestamp time) { return weir::flow::data::text_form(time).substr(11, 8); }

/// `1,234.50`
std::string money(std::int64_t cents) {
  const std::string fraction = std::to_string(100 + cents % 100).substr(1);
  return grouped(cents / 100) + "." + fraction;
}

std::string behind(std::chrono::microseconds lag) {
  return grouped(std::chrono::ceil<std::chrono::milliseconds>(lag).count()) + " ms behind";
}

Total total_of(const Figures& figures, const std::string& what) {
  const auto found = figures.totals.find(what);
  return found == figures.totals.end() ? Total{} : found->second;
}

std::string orders_line(const Figures& figures) {
  const Total paid = total_of(figures, "paid");
  const Total placed = total_of(figures, "placed");
  return grouped(placed.count + paid.count) + " orders, " + grouped(paid.count) + " paid, " +
         money(paid.cents);
}

std::string checkouts_line(const Figures& figures) {
  const std::int64_t done = total_of(figures, "ship").count;
  return grouped(done) + " done, " + grouped(total_of(figures, "paid").count - done) + " running";
}

/// A line of the table of products.
std::string columns(const std::string& name, const std::string& revenue, const std::string& sold,
                    const std::string& stock) {
  char line[80];
  std::snprintf(line, sizeof(line), "  %-14s %14s %12s %12s\n", name.c_str(), revenue.c_str(),
                sold.c_str(), stock.c_str());
  return line;
}

Task<Result<std::vector<Row>>> last_minutes(Snapshot snapshot, Relation revenue, Timestamp now) {
  WEIR_CO_TRY(scan, snapshot.scan(revenue, {.from = {now - minutes_shown}}));
  std::vector<Row> found;
  WEIR_CO_TRY(rows, co_await scan.next());
  for (std::size_t row = 0; row < rows.size(); ++row) found.push_back(rows.row(row));
  co_return found;
}

}  // namespace

// [figures]
Task<Result<Figures>> read_figures(const weir::storage::Store* store, const Database* database,
                                   Tables tables) {
  const Snapshot now = database->read();
  Figures figures;
  figures.at = std::chrono::floor<std::chrono::seconds>(store->time());
  WEIR_CO_TRY(totals, co_await all_rows(now, tables.totals));
  for (const Row& row : totals) {
    figures.totals[row[0].as<std::string>()] = {number(row, 1), number(row, 2)};
  }
  WEIR_CO_TRY(revenue, co_await last_minutes(now, tables.revenue, store->time()));
  WEIR_CO_TRY(top_products, co_await all_rows(now, tables.top_products));
  WEIR_CO_TRY(stock, co_await all_rows(now, tables.stock));
  figures.revenue = std::move(revenue);
  figures.top_products = std::move(top_products);
  figures.stock = std::move(stock);
  std::ranges::sort(figures.top_products, std::greater(), [](const Row& row) { return row[2]; });
  for (const Relation& view : {tables.revenue, tables.top_products, tables.stock, tables.totals}) {
    WEIR_CO_TRY(lag, co_await database->lag(view));
    figures.lag = std::max(figures.lag, lag.time);
  }
  co_return figures;
}
// [/figures]

std::string processed(const Figures& begin, const Figures& end) {
  Figures between = end;
  for (auto& [what, total] : between.totals) {
    const Total before = total_of(begin, what);
    total = {total.count - before.count, total.cents - before.cents};
  }
  return orders_line(between) + "; " + grouped(total_of(between, "ship").count) + " checkouts";
}

Screen::Screen(std::string url) : url_(std::move(url)), is_terminal_(isatty(STDOUT_FILENO) == 1) {
  if (is_terminal_) return;
  std::printf("shop: gateway at %s\n", url_.c_str());
  std::fflush(stdout);
}

void Screen::show(const Figures& figures) {
  if (is_terminal_) {
    // To the first line of what was drawn before, so that nothing of it is left.
    if (lines_drawn_ > 0) std::printf("\x1b[%dF\x1b[J", lines_drawn_);
    const std::string drawn = draw(figures);
    lines_drawn_ = static_cast<int>(std::ranges::count(drawn, '\n'));
    std::printf("%s", drawn.c_str());
  } else {
    std::printf("%s  %s; checkouts: %s; views: %s\n", clock_time(figures.at).c_str(),
                orders_line(figures).c_str(), checkouts_line(figures).c_str(),
                behind(figures.lag).c_str());
  }
  std::fflush(stdout);
}

std::string Screen::draw(const Figures& figures) const {
  std::string text = clock_time(figures.at) + " UTC" + "\n  orders     " + orders_line(figures) +
                     "\n  checkouts  " + checkouts_line(figures) + "\n  revenue    ";
  for (const Row& row : figures.revenue) {
    text += clock_time(row[0].as<Timestamp>()).substr(0, 5) + " " + money(number(row, 2)) + "   ";
  }
  text += "\n  views      " + behind(figures.lag) + "\n  gateway    " + url_ + "\n";
  text += columns("", "revenue", "sold", "in stock");
  for (const Row& row : figures.top_products) {
    const auto stock =
        std::ranges::find(figures.stock, row[0], [](const Row& of) { return of[0]; });
    text += columns(row[0].as<std::string>(), money(number(row, 2)), grouped(number(row, 1)),
                    stock == figures.stock.end() ? "" : grouped(number(*stock, 1)));
  }
  return text + "Ctrl-C ends it; started again, it goes on here.\n";
}

}  // namespace shop
