#include <weir/tests/flow/operator/support/random_events.hpp>

namespace weir::flow::operators::test {
namespace {

using data::Value;
using namespace std::chrono_literals;

Value random_time(bool has_limits, data::test::RandomData& random) {
  const std::chrono::seconds seconds(random.below(40));
  if (random.one_in(15)) return {};
  if (has_limits && random.one_in(15)) return data::timestamp_min + seconds;
  if (has_limits && random.one_in(15)) return data::timestamp_max - seconds;
  return data::Timestamp(seconds - 20s);
}

Value small(data::test::RandomData& random, std::uint64_t limit) {
  if (random.one_in(8)) return {};
  return static_cast<std::int64_t>(random.below(limit));
}

}  // namespace

const data::SchemaRef& RandomEvents::schema() {
  static const data::SchemaRef schema = make_schema(
      {{"user", data::Kind::int64}, {"at", data::Kind::timestamp}, {"n", data::Kind::int64}});
  return schema;
}

Row RandomEvents::random_row(data::test::RandomData& random) const {
  Row row{small(random, 2)};
  row.push_back(random_time(has_limits_, random));
  row.push_back(small(random, 5));
  return row;
}

data::ChangeBatch RandomEvents::change(std::size_t changes_max, data::test::RandomData& random) {
  std::vector<std::pair<Row, data::Weight>> changes;
  for (std::uint64_t count = random.below(changes_max) + 1; count > 0; --count) {
    if (rows_.empty() || !random.one_in(3)) {
      changes.emplace_back(random_row(random), random.one_in(4) ? 3 : 1);
    } else {
      auto at = rows_.begin();
      std::advance(at, random.below(rows_.size()));
      changes.emplace_back(at->first, random.one_in(2) ? -1 : -at->second);
    }
    add(rows_, changes.back().first, changes.back().second);
  }
  return make_batch(schema(), changes);
}

Window random_window(data::test::RandomData& random) {
  const auto seconds = [&random](std::uint64_t limit) {
    return std::chrono::seconds(random.below(limit) + 1);
  };
  data::Expression time = data::col("at");
  if (random.one_in(5)) time = data::cast(time, data::Kind::date);
  const data::Expression order = random.one_in(2) ? data::col("n") : time;
  WindowGroups groups;
  if (random.one_in(2)) groups.per.emplace_back("user");
  switch (random.below(8)) {
    case 0: return tumbling(time, seconds(15), {.offset = seconds(20) - 10s});
    case 1:
      return hopping(time, {.size = seconds(15), .hop = seconds(8), .offset = seconds(20) - 10s});
    case 2: return session(time, seconds(4), groups);
    case 3: return tumbling_rows(order, random.below(5) + 1, groups);
    case 4: return rolling(time, seconds(6), groups);
    case 5: return sliding(time, seconds(6), groups);
    case 6:
      return hopping_rows(order, {.rows = random.below(6) + 1, .hop = random.below(4) + 1}, groups);
    default: return rolling_rows(order, random.below(5), groups);
  }
}

Window random_closing_window(data::test::RandomData& random) {
  Window window = random_window(random);
  if (window.form == WindowForm::hopping)
    window.size = window.hop * static_cast<std::int64_t>(random.below(3) + 1);
  window.order = data::col("at");
  window.lateness = std::chrono::seconds(random.below(30));
  window.emit = static_cast<WindowEmit>(random.below(2));
  return window;
}

}  // namespace weir::flow::operators::test
