#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/operator/internal/encoded_rows.hpp>
#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/join.hpp>
#include <weir/flow/operator/operator.hpp>

namespace weir::flow::operators::internal {

/// A join whose parts were checked.
struct CheckedJoin {
  struct Side {
    data::SchemaRef schema;
    Projection keys;
  };
  JoinKind kind;
  std::array<Side, 2> sides;
  data::SchemaRef pairs = nullptr;   // the columns of both sides
  data::SchemaRef schema = nullptr;  // of the result
  std::optional<Condition> condition = std::nullopt;
};

/// Joins the changes of one side with the rows of the other:
///
///     d(L ⋈ R) = dL ⋈ R_old + L_new ⋈ dR
///
/// State, a table of groups for each side:
///
///     group   the key of the join
///     item    all columns of a row
///     value   its weight, and the weight of its partners where that is needed
///
/// Whether a row has a partner, without a condition, is whether the other side's group has a row;
/// with one, partners are counted. Within a batch rows come before others go, so that a row that is
/// replaced never leaves its partners without one.
class JoinOperator final : public Operator {
 public:
  explicit JoinOperator(CheckedJoin join);

  void open(State& state) override;
  Result<> apply(const Input& input, Output& out) override;

 private:
  struct Side {
    data::SchemaRef schema;
    Projection keys;
    GroupTable* rows = nullptr;
    /// Whether its rows appear by themselves, depending on whether they have a partner.
    bool is_outer = false;
    bool counts_partners = false;
  };
  /// A row of the batch, and its place in the state, while its partners are counted.
  struct Change {
    std::uint32_t row;
    GroupTable::Group own;
    GroupTable::Group other;
    data::Weight weight_after;
    data::Weight partners = 0;
  };
  /// What is known of a row that is kept.
  struct Kept {
    data::Weight weight = 0;
    data::Weight partners = 0;
  };

  bool gives_pairs() const noexcept { return kind_ != JoinKind::semi && kind_ != JoinKind::anti; }
  /// Whether a row that has a partner, or has none, appears by itself.
  bool is_shown(bool has_partner) const noexcept {
    return has_partner == (kind_ == JoinKind::semi);
  }
  const Side& own() const noexcept { return sides_[port_]; }
  const Side& other() const noexcept { return sides_[1 - port_]; }

  void begin(std::size_t port, Projection::Computed computed);
  void find_groups(std::span<const std::uint32_t> rows);
  /// `index` is that of its groups.
  Result<> take_row(std::uint32_t row, std::size_t index, Output& out);
  Result<> take_row_without_key(std::uint32_t row, GroupTable::Group& group);
  /// Adds the weight of a row of the batch to what is kept.
  Result<Kept> add_weight(std::uint32_t row, GroupTable::Group& group);
  /// Notes what the row can be paired with. Whether there is anything, if that matters.
  Result<bool> find_partners(std::uint32_t row, GroupTable::Group& group, Output& out);
  /// The rows of the other side have got their first partner, or lost their last.
  Result<> show_others(GroupTable::Group& group, bool have_partner, Output& out);
  void show_own(std::uint32_t row, bool has_partner);
  static Result<Kept> read(const Side& side, std::string_view value);
  void write(const Side& side, GroupTable::Slot& slot, const Kept& kept);

  /// Gives what was found so far.
  Result<> flush(Output& out);
  Result<> flush_pairs(Output& out);
  Result<> count_partners(std::span<const std::uint32_t> selected);
  Result<> finish_changes();
  void flush_own(Output& out);
  Result<> flush_others(Output& out);
  data::Columns taken(std::span<const std::uint32_t> rows) const;
  /// Rows of the result from columns of the side that changed and of the other one.
  data::Columns arranged(data::Columns own, data::Columns other) const;

  JoinKind kind_;
  std::array<Side, 2> sides_;
  data::SchemaRef pairs_schema_;
  std::optional<Condition> condition_;

  // Of the current batch; kept to use their memory again.
  std::size_t port_ = 0;
  std::optional<data::ChangeBatch> batch_;
  std::vector<bool> has_null_key_;
  EncodedRows keys_;
  EncodedRows rows_;
  std::vector<std::uint32_t> order_;
  std::vector<std::string_view> key_views_;  // of the next rows, and their groups
  std::vector<GroupTable::Group> own_groups_;
  std::vector<GroupTable::Group> other_groups_;
  std::vector<Change> changes_;  // with a condition only
  // Candidates for pairs: a row of the batch, one of the other side and how often that is there.
  std::vector<std::uint32_t> pair_rows_;
  std::vector<std::string_view> pair_items_;
  std::vector<std::string_view> items_;  // what is not decoded yet
  std::vector<data::Weight> pair_weights_;
  std::vector<std::uint32_t> pair_changes_;  // with a condition only
  // Rows that appear by themselves, and their weights in the result.
  std::vector<std::uint32_t> own_rows_;
  data::Weights own_weights_;
  std::vector<std::string_view> other_items_;
  data::Weights other_weights_;
  std::string value_;
};

}  // namespace weir::flow::operators::internal
