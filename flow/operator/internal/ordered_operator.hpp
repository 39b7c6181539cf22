#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/internal/encoded_rows.hpp>
#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/operator.hpp>
#include <weir/flow/operator/order.hpp>

namespace weir::flow::operators::internal {

/// An order whose parts were checked.
struct CheckedOrder {
  std::vector<std::size_t> group_columns;
  Projection order;
  std::vector<bool> is_descending;
};
Result<CheckedOrder> check_order(const OrderOptions& options, const data::Schema& schema,
                                 const Library& library);

/// What becomes of rows by their place in an order: the first of each group, or all with their
/// numbers.
///
/// State, a table of groups:
///
///     group   the columns that rows of a group have in common
///     item    what they are ordered by, descending parts with all bits turned around; then all
///             columns of the row
///     value   its weight
class OrderedOperator final : public Operator {
 public:
  struct What {
    data::SchemaRef input;
    data::SchemaRef schema;
    data::Weight rows_max;  // of a group, that are looked at
    bool is_numbered;
  };

  OrderedOperator(CheckedOrder order, What what)
      : Operator(what.schema), order_(std::move(order)), what_(std::move(what)) {}

  void open(State& state) override { rows_ = &state.add_groups(); }
  Result<> apply(const Input& input, Output& out) override;

 private:
  /// An item, and which places in its group it takes: from zero.
  struct Part {
    std::string_view item;
    data::Weight first = 0;
    data::Weight count = 0;
  };

  void begin(const Projection::Computed& computed);
  void encode(const Projection::Computed& computed);
  /// Takes the changes of one group.
  Result<> take_group(GroupTable::Group& group, std::span<const std::uint32_t> rows);
  Result<> add_weight(GroupTable::Group& group, std::uint32_t row);
  /// The rows of a group that are looked at.
  Result<> read(GroupTable::Group& group, std::vector<Part>& parts) const;
  /// Whether rows may become others among those that were looked at.
  bool may_matter(std::span<const std::uint32_t> rows) const;
  void compare();
  void change(std::string_view item, const Part& before, const Part& after);
  void give(std::string_view item, data::Weight weight, data::Weight number);
  Result<> flush(Output& out);
  /// Takes the order off an item, so that the row is left. False if there is something else.
  bool skip_order(std::string_view& item) const;

  CheckedOrder order_;
  What what_;
  GroupTable* rows_ = nullptr;

  // Of the current batch; kept to use their memory again.
  std::optional<data::ChangeBatch> batch_;
  EncodedRows groups_;
  EncodedRows items_;
  std::vector<std::uint32_t> by_group_;
  std::vector<std::size_t> starts_;  // of groups in by_group_, and its end
  std::vector<std::string_view> group_views_;
  std::vector<GroupTable::Group> found_;
  std::vector<Part> before_;
  std::vector<Part> after_;
  std::vector<std::string_view> given_;
  data::Weights given_weights_;
  std::vector<data::Weight> given_numbers_;
  std::string value_;
};

}  // namespace weir::flow::operators::internal
