#include <weir/flow/operator/internal/join_operator.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators::internal {
namespace {

/// So many candidates for pairs are looked at together.
constexpr std::size_t candidates_max = 16 * 1024;

/// Of so many rows groups are fetched together: more would not stay in the nearest cache.
constexpr std::size_t rows_ahead = 32;

bool has_removals(const data::ChangeBatch& batch) {
  return std::ranges::any_of(batch.weights(), [](data::Weight weight) { return weight <= 0; });
}

}  // namespace

JoinOperator::JoinOperator(CheckedJoin join)
    : Operator(std::move(join.schema)),
      kind_(join.kind),
      pairs_schema_(std::move(join.pairs)),
      condition_(std::move(join.condition)) {
  for (std::size_t side = 0; side < 2; ++side) {
    sides_[side].schema = std::move(join.sides[side].schema);
    sides_[side].keys = std::move(join.sides[side].keys);
  }
  sides_[0].is_outer = kind_ != JoinKind::inner && kind_ != JoinKind::right;
  sides_[1].is_outer = kind_ == JoinKind::right || kind_ == JoinKind::full;
  for (Side& side : sides_) side.counts_partners = side.is_outer && condition_.has_value();
}

void JoinOperator::open(State& state) {
  for (Side& side : sides_) side.rows = &state.add_groups();
}

Result<> JoinOperator::apply(const Input& input, Output& out) {
  // Rows that go are looked for, so those that came in the same batch must be counted first. Pairs
  // of different rows are different.
  const bool is_consolidated =
      condition_.has_value() || kind_ == JoinKind::inner || has_removals(input.batch);
  auto computed = sides_[input.port].keys.compute(
      is_consolidated ? input.batch.consolidated() : input.batch, out);
  if (!computed) return std::move(computed).error();
  begin(input.port, *std::move(computed));
  for (std::size_t at = 0; at < order_.size(); at += rows_ahead) {
    const auto rows = std::span(order_).subspan(at, std::min(rows_ahead, order_.size() - at));
    find_groups(rows);
    for (std::size_t index = 0; index < rows.size(); ++index) {
      if (auto taken = take_row(rows[index], index, out); !taken) return taken;
      if (pair_rows_.size() < candidates_max && other_items_.size() < candidates_max) continue;
      if (auto flushed = flush(out); !flushed) return flushed;
    }
  }
  return flush(out);
}

void JoinOperator::find_groups(std::span<const std::uint32_t> rows) {
  key_views_.clear();
  for (const std::uint32_t row : rows) key_views_.push_back(keys_[row]);
  other().rows->peek_all(key_views_, other_groups_);
  own().rows->find_all(key_views_, own_groups_);
  GroupTable::prefetch_items(other_groups_);
  // Those that come are only put between others.
  for (std::size_t index = 0; index < rows.size(); ++index)
    if (batch_->weights()[rows[index]] < 0) own_groups_[index].prefetch(rows_[rows[index]]);
}

void JoinOperator::begin(std::size_t port, Projection::Computed computed) {
  port_ = port;
  batch_ = std::move(computed.batch);
  const std::size_t rows = batch_->size();
  keys_.encode(computed.columns, rows);
  rows_.encode(batch_->columns(), rows);
  has_null_key_.assign(rows, false);
  for (const data::ColumnRef& column : computed.columns) {
    if (!column->has_nulls()) continue;
    for (std::size_t row = 0; row < rows; ++row)
      if (column->is_null(row)) has_null_key_[row] = true;
  }
  order_.clear();
  for (std::uint32_t row = 0; row < rows; ++row)
    if (batch_->weights()[row] > 0) order_.push_back(row);
  for (std::uint32_t row = 0; row < rows; ++row)
    if (batch_->weights()[row] < 0) order_.push_back(row);
  // A cycle that failed may have left something.
  changes_.clear();
  pair_rows_.clear();
  pair_items_.clear();
  pair_weights_.clear();
  pair_changes_.clear();
  own_rows_.clear();
  own_weights_.clear();
  other_items_.clear();
  other_weights_.clear();
}

Result<> JoinOperator::take_row(std::uint32_t row, std::size_t index, Output& out) {
  GroupTable::Group& group = own_groups_[index];
  if (has_null_key_[row]) return take_row_without_key(row, group);

  const bool is_first_looked_for = other().is_outer && !condition_;
  bool was_empty = false;
  if (is_first_looked_for) {
    auto empty = group.is_empty();
    if (!empty) return std::move(empty).error();
    was_empty = *empty;
  }
  auto kept = add_weight(row, group);
  if (!kept) return std::move(kept).error();

  GroupTable::Group& partners = other_groups_[index];
  if (condition_) changes_.push_back({row, group, partners, kept->weight});
  auto found = find_partners(row, partners, out);
  if (!found) return std::move(found).error();
  if (condition_) return {};

  if (own().is_outer) show_own(row, *found);
  if (!is_first_looked_for) return {};
  auto is_empty = group.is_empty();
  if (!is_empty) return std::move(is_empty).error();
  return was_empty == *is_empty ? Result<>() : show_others(partners, was_empty, out);
}

Result<> JoinOperator::take_row_without_key(std::uint32_t row, GroupTable::Group& group) {
  if (!own().is_outer || !is_shown(false)) return {};
  if (auto kept = add_weight(row, group); !kept) return std::move(kept).error();
  show_own(row, false);
  return {};
}

Result<JoinOperator::Kept> JoinOperator::add_weight(std::uint32_t row, GroupTable::Group& group) {
  auto slot = group.find(rows_[row]);
  if (!slot) return std::move(slot).error();
  Kept kept;
  if (slot->exists()) {
    auto known = read(own(), slot->value());
    if (!known) return known;
    kept = *known;
  }
  kept.weight += batch_->weights()[row];
  if (kept.weight < 0) {
    return Error(Errc::unknown_row, "row " + describe_row(*batch_, row) + " of the " +
                                        (port_ == 0 ? "left" : "right") +
                                        " side went more often than it came");
  }
  write(own(), *slot, kept);
  return kept;
}

Result<bool> JoinOperator::find_partners(std::uint32_t row, GroupTable::Group& group, Output& out) {
  if (!condition_ && !gives_pairs()) {
    if (!own().is_outer) return false;
    auto is_empty = group.is_empty();
    return is_empty ? Result<bool>(!*is_empty) : std::move(is_empty).error();
  }
  bool is_any = false;
  auto found = group.for_each([&](std::string_view item, std::string_view value) -> Result<> {
    auto kept = read(other(), value);
    if (!kept) return std::move(kept).error();
    // Of one row there may be more than fit. Those of a condition are needed until all are found.
    if (pair_rows_.size() >= candidates_max && !condition_)
      if (auto flushed = flush_pairs(out); !flushed) return flushed;
    is_any = true;
    pair_rows_.push_back(row);
    pair_items_.push_back(item);
    pair_weights_.push_back(kept->weight);
    if (condition_) pair_changes_.push_back(static_cast<std::uint32_t>(changes_.size() - 1));
    return {};
  });
  return found ? Result<bool>(is_any) : std::move(found).error();
}

Result<> JoinOperator::show_others(GroupTable::Group& group, bool have_partner, Output& out) {
  return group.for_each([&](std::string_view item, std::string_view value) -> Result<> {
    auto kept = read(other(), value);
    if (!kept) return std::move(kept).error();
    if (other_items_.size() >= candidates_max)
      if (auto flushed = flush_others(out); !flushed) return flushed;
    other_items_.push_back(item);
    other_weights_.push_back(is_shown(have_partner) ? kept->weight : -kept->weight);
    return {};
  });
}

void JoinOperator::show_own(std::uint32_t row, bool has_partner) {
  if (!is_shown(has_partner)) return;
  own_rows_.push_back(row);
  own_weights_.push_back(batch_->weights()[row]);
}

Result<JoinOperator::Kept> JoinOperator::read(const Side& side, std::string_view value) {
  Kept kept;
  const bool is_ok = take_weight(value, kept.weight) &&
                     (!side.counts_partners || take_weight(value, kept.partners)) && value.empty();
  if (!is_ok) return Error(Errc::corruption, "state: the weight of a row");
  return kept;
}

void JoinOperator::write(const Side& side, GroupTable::Slot& slot, const Kept& kept) {
  if (kept.weight == 0) return slot.remove();
  value_.clear();
  append_weight(kept.weight, value_);
  if (side.counts_partners) append_weight(kept.partners, value_);
  slot.put(value_);
}

Result<> JoinOperator::flush(Output& out) {
  if (auto done = flush_pairs(out); !done) return done;
  if (auto done = finish_changes(); !done) return done;
  flush_own(out);
  return flush_others(out);
}

Result<> JoinOperator::flush_pairs(Output& out) {
  if (pair_rows_.empty()) return {};
  data::Weights weights(pair_rows_.size());
  for (std::size_t pair = 0; pair < weights.size(); ++pair)
    weights[pair] = pair_weights_[pair] * batch_->weights()[pair_rows_[pair]];
  items_ = pair_items_;
  auto other_columns = decode_rows(*other().schema, items_);
  if (!other_columns) return std::move(other_columns).error();
  data::ChangeBatch pairs(pairs_schema_, arranged(taken(pair_rows_), *std::move(other_columns)),
                          std::move(weights));
  if (condition_) {
    auto selected = condition_->select(pairs, out);
    if (!selected) return std::move(selected).error();
    if (auto counted = count_partners(*selected); !counted) return counted;
    if (gives_pairs() && selected->size() < pairs.size()) pairs = pairs.take(*selected);
  }
  pair_rows_.clear();
  pair_items_.clear();
  pair_weights_.clear();
  pair_changes_.clear();
  if (!gives_pairs()) return {};
  data::ChangeBatch given = pairs.with_columns(schema(), pairs.columns());
  if (batch_->is_consolidated()) given.note_consolidated();
  out.emit(std::move(given));
  return out.check_size();
}

Result<> JoinOperator::count_partners(std::span<const std::uint32_t> selected) {
  if (!own().is_outer && !other().is_outer) return {};
  for (const std::uint32_t pair : selected) {
    Change& change = changes_[pair_changes_[pair]];
    change.partners += pair_weights_[pair];
    if (!other().is_outer) continue;
    auto slot = change.other.find(pair_items_[pair]);
    if (!slot) return std::move(slot).error();
    auto kept = read(other(), slot->value());
    if (!kept) return std::move(kept).error();
    const bool had_partner = kept->partners != 0;
    kept->partners += batch_->weights()[change.row];
    if (kept->partners < 0) return Error(Errc::corruption, "state: the partners of a row");
    write(other(), *slot, *kept);
    const bool has_partner = kept->partners != 0;
    if (had_partner == has_partner) continue;
    other_items_.push_back(pair_items_[pair]);
    other_weights_.push_back(is_shown(has_partner) ? kept->weight : -kept->weight);
  }
  return {};
}

Result<> JoinOperator::finish_changes() {
  if (own().is_outer) {
    for (Change& change : changes_) {
      auto slot = change.own.find(rows_[change.row]);
      if (!slot) return std::move(slot).error();
      write(own(), *slot, {change.weight_after, change.partners});
      show_own(change.row, change.partners != 0);
    }
  }
  changes_.clear();
  return {};
}

void JoinOperator::flush_own(Output& out) {
  if (own_rows_.empty()) return;
  data::Columns columns = taken(own_rows_);
  if (gives_pairs())
    columns = arranged(std::move(columns), null_columns(*other().schema, own_rows_.size()));
  out.emit({schema(), std::move(columns), std::exchange(own_weights_, {})});
  own_rows_.clear();
}

Result<> JoinOperator::flush_others(Output& out) {
  if (other_items_.empty()) return {};
  auto columns = decode_rows(*other().schema, other_items_);
  if (!columns) return std::move(columns).error();
  if (gives_pairs())
    columns = arranged(null_columns(*own().schema, other_items_.size()), *std::move(columns));
  out.emit({schema(), *std::move(columns), std::exchange(other_weights_, {})});
  other_items_.clear();
  return out.check_size();
}

data::Columns JoinOperator::taken(std::span<const std::uint32_t> rows) const {
  data::Columns columns;
  columns.reserve(batch_->columns().size());
  for (const data::ColumnRef& column : batch_->columns())
    columns.push_back(std::make_shared<const data::Column>(column->take(rows)));
  return columns;
}

data::Columns JoinOperator::arranged(data::Columns own, data::Columns other) const {
  if (port_ == 1) std::swap(own, other);
  own.insert(own.end(), std::make_move_iterator(other.begin()),
             std::make_move_iterator(other.end()));
  return own;
}

}  // namespace weir::flow::operators::internal
