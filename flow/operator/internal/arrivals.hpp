#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/operator.hpp>

namespace weir::flow::operators::internal {

/// Numbers rows in the order in which they come, and knows the numbers of those that are there.
///
/// State:
///
///     totals    no key: how many numbers were given, and how many rows have one; both varints
///     numbers   group: what a row is known by, its primary key or all its columns; item: its
///               number, 8 bytes, the greatest first, with all bits turned around; no value
class Arrivals {
 public:
  struct Totals {
    std::uint64_t given = 0;
    std::uint64_t rows = 0;
  };
  /// A row of the batch that comes or goes with a number that is known.
  struct Change {
    std::uint32_t row;
    data::Weight weight;  // +1 or -1
    std::uint64_t number;
  };

  explicit Arrivals(data::SchemaRef input) noexcept : input_(std::move(input)) {}

  void open(State& state);

  /// Takes each row once. `changes` then has what goes, and what it becomes where the primary key
  /// stays; `coming` what is new, in order, as often as it comes. Those have no numbers yet.
  Result<> take(const data::ChangeBatch& batch);
  std::span<const Change> changes() const noexcept { return changes_; }
  std::span<const std::uint32_t> coming() const noexcept { return coming_; }

  /// With what was taken; `coming` is not counted.
  const Totals& totals() const noexcept { return totals_; }
  /// Writes them down. After `take`.
  Result<> set_totals(const Totals& totals);
  /// The row of a batch that was taken has this number.
  void keep(std::uint32_t row, std::uint64_t number);
  /// A row with these columns has no number any more.
  void forget(const data::Columns& columns, std::size_t row, std::uint64_t number);

 private:
  Result<> take_row(const data::ChangeBatch& batch, std::span<const std::uint32_t> rows);
  Result<> take_equal(const data::ChangeBatch& batch, std::uint32_t row);
  Result<> read_totals();
  /// The newest numbers of a row, at most so many.
  Result<> read_numbers(GroupTable::Group& group, std::uint64_t count);
  void append_identity(const data::Columns& columns, std::size_t row, std::string& out) const;
  bool has_key() const noexcept { return !input_->primary_key().empty(); }

  data::SchemaRef input_;
  StateTable* totals_table_ = nullptr;
  GroupTable* numbers_table_ = nullptr;

  // Of the current batch; kept to use their memory again.
  Totals totals_;
  std::vector<std::string> identities_;
  std::vector<std::uint32_t> order_;
  std::vector<Change> changes_;
  std::vector<std::uint32_t> coming_;
  std::vector<std::uint64_t> numbers_;
  std::string item_;
  std::string identity_;
};

/// A number as bytes that have its order.
void append_number(std::uint64_t number, std::string& out);
bool take_number(std::string_view& in, std::uint64_t& number) noexcept;

}  // namespace weir::flow::operators::internal
