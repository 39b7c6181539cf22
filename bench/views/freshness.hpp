#pragma once

#include <cstdint>
#include <functional>

#include <weir/bench/views/subject.hpp>

namespace weir::bench::views {

/// How long after a commit began its view showed it, in microseconds.
struct Freshness {
  double p50;
  double p99;
  double p999;
  std::int64_t commits;
};

/// Commits single rows to `table`, `commits_per_second` of them, and follows `view`. At most
/// `commits`, and none any more once `is_over`.
Freshness measure_freshness(
    Subject& subject, const flow::view::Relation& table, const flow::view::Relation& view,
    std::int64_t commits, std::function<bool()> is_over = [] { return false; });

/// A small table and a view that follows it.
struct LiveView {
  explicit LiveView(Subject& subject);

  flow::view::Relation table;
  flow::view::Relation view;
};

}  // namespace weir::bench::views
