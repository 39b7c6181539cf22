#pragma once

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// A bag of rows with times that are close to each other, around 1970; few are null, or at the
/// limits of what a timestamp can hold. Rows are there more than once.
class RandomEvents {
 public:
  explicit RandomEvents(bool has_limits = true) noexcept : has_limits_(has_limits) {}

  /// `user`, `at` and `n`, all of which may be null.
  static const data::SchemaRef& schema();

  const Rows& rows() const noexcept { return rows_; }
  /// Up to `changes_max` rows come or go.
  data::ChangeBatch change(std::size_t changes_max, data::test::RandomData& random);

 private:
  Row random_row(data::test::RandomData& random) const;

  bool has_limits_;
  Rows rows_;
};

/// One that does not close.
Window random_window(data::test::RandomData& random);
/// One that does, with a lateness; a hopping one without gaps.
Window random_closing_window(data::test::RandomData& random);

}  // namespace weir::flow::operators::test
