#include <weir/flow/operator/internal/ordered_operator.hpp>

#include <algorithm>
#include <numeric>

#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/storage/key.hpp>

namespace weir::flow::operators::internal {
namespace {

/// So many rows of the result are given together.
constexpr std::size_t given_max = 16 * 1024;
/// So many groups are fetched together.
constexpr std::size_t groups_ahead = 32;

/// How many bytes a value has in a key, unless it is text or bytes.
std::size_t ordered_size(data::Kind kind) {
  return data::visit_kind(kind, [](auto of) { return sizeof(data::StoredType<of()>); });
}

/// Takes text or bytes in the form of keys, `00 01` at their end; `turned` has all bits set if they
/// are turned around.
bool skip_text(std::string_view& in, unsigned char turned) {
  for (std::size_t at = 0; at + 1 < in.size(); ++at) {
    if ((static_cast<unsigned char>(in[at]) ^ turned) != 0) continue;
    const auto next = static_cast<unsigned char>(static_cast<unsigned char>(in[++at]) ^ turned);
    if (next != 1) continue;
    in.remove_prefix(at + 1);
    return true;
  }
  return false;
}

bool skip_value(std::string_view& in, data::Kind kind, bool is_descending) {
  if (in.empty()) return false;
  const unsigned char turned = is_descending ? 0xFF : 0;
  const bool is_null = (static_cast<unsigned char>(in.front()) ^ turned) == 0;
  in.remove_prefix(1);
  if (is_null) return true;
  if (kind == data::Kind::text || kind == data::Kind::bytes) return skip_text(in, turned);
  const std::size_t size = ordered_size(kind);
  if (in.size() < size) return false;
  in.remove_prefix(size);
  return true;
}

}  // namespace

Result<CheckedOrder> check_order(const OrderOptions& options, const data::Schema& schema,
                                 const Library& library) {
  std::vector<NamedExpression> columns;
  std::vector<bool> is_descending;
  for (const Order& order : options.order) {
    columns.push_back({to_string(order.value), order.value});
    is_descending.push_back(order.is_descending);
  }
  auto order = Projection::make(columns, schema, library);
  if (!order) return Error(order.error().code(), "order: " + std::string(order.error().detail()));
  std::vector<std::size_t> group_columns;
  for (const std::string& name : options.per) {
    auto column = schema.index_of(name);
    if (!column)
      return Error(column.error().code(), "per: " + std::string(column.error().detail()));
    group_columns.push_back(*column);
  }
  return CheckedOrder{std::move(group_columns), *std::move(order), std::move(is_descending)};
}

Result<> OrderedOperator::apply(const Input& input, Output& out) {
  auto computed = order_.order.compute(input.batch.consolidated(), out);
  if (!computed) return std::move(computed).error();
  begin(*computed);
  const std::size_t groups = starts_.size() - 1;
  for (std::size_t first = 0; first < groups; first += groups_ahead) {
    const std::size_t count = std::min(groups_ahead, groups - first);
    group_views_.clear();
    for (std::size_t index = 0; index < count; ++index)
      group_views_.push_back(groups_[by_group_[starts_[first + index]]]);
    rows_->find_all(group_views_, found_);
    GroupTable::prefetch_items(found_);
    for (std::size_t index = 0; index < count; ++index) {
      const std::size_t start = starts_[first + index];
      const auto rows = std::span(by_group_).subspan(start, starts_[first + index + 1] - start);
      if (auto taken = take_group(found_[index], rows); !taken) return taken;
      if (given_.size() < given_max) continue;
      if (auto flushed = flush(out); !flushed) return flushed;
    }
  }
  return flush(out);
}

void OrderedOperator::begin(const Projection::Computed& computed) {
  batch_ = computed.batch;
  encode(computed);
  by_group_.resize(batch_->size());
  std::iota(by_group_.begin(), by_group_.end(), 0);
  if (!order_.group_columns.empty()) {
    std::ranges::sort(by_group_, [this](std::uint32_t a, std::uint32_t b) {
      const auto order = groups_[a] <=> groups_[b];
      return order < 0 || (order == 0 && a < b);
    });
  }
  starts_.clear();
  for (std::size_t at = 0; at < by_group_.size(); ++at)
    if (at == 0 || groups_[by_group_[at]] != groups_[by_group_[at - 1]]) starts_.push_back(at);
  starts_.push_back(by_group_.size());
  // A cycle that failed may have left something.
  given_.clear();
  given_weights_.clear();
  given_numbers_.clear();
}

void OrderedOperator::encode(const Projection::Computed& computed) {
  groups_.encode_each(batch_->size(), [&](std::size_t row, std::string& bytes) {
    append_columns(batch_->columns(), order_.group_columns, row, bytes);
  });
  items_.encode_each(batch_->size(), [&](std::size_t row, std::string& bytes) {
    for (std::size_t part = 0; part < computed.columns.size(); ++part) {
      const std::size_t from = bytes.size();
      data::append_ordered(*computed.columns[part], row, bytes);
      if (order_.is_descending[part]) storage::internal::complement(bytes, from);
    }
    append_columns(batch_->columns(), row, bytes);
  });
}

Result<> OrderedOperator::take_group(GroupTable::Group& group,
                                     std::span<const std::uint32_t> rows) {
  if (auto done = read(group, before_); !done) return done;
  for (const std::uint32_t row : rows)
    if (auto done = add_weight(group, row); !done) return done;
  if (!may_matter(rows)) return {};
  if (auto done = read(group, after_); !done) return done;
  compare();
  return {};
}

Result<> OrderedOperator::add_weight(GroupTable::Group& group, std::uint32_t row) {
  auto slot = group.find(items_[row]);
  if (!slot) return std::move(slot).error();
  auto weight = weight_of(slot->value());
  if (!weight) return std::move(weight).error();
  *weight += batch_->weights()[row];
  if (*weight < 0) {
    return Error(Errc::unknown_row,
                 "row " + describe_row(*batch_, row) + " went more often than it came");
  }
  if (*weight == 0) {
    slot->remove();
    return {};
  }
  value_.clear();
  append_weight(*weight, value_);
  slot->put(value_);
  return {};
}

Result<> OrderedOperator::read(GroupTable::Group& group, std::vector<Part>& parts) const {
  parts.clear();
  GroupTable::Cursor cursor = group.scan();
  for (data::Weight place = 0; place < what_.rows_max;) {
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    if (!*more) return {};
    auto weight = weight_of(cursor.value());
    if (!weight) return std::move(weight).error();
    const data::Weight count = std::min(*weight, what_.rows_max - place);
    parts.push_back({cursor.item(), place, count});
    place += count;
  }
  return {};
}

bool OrderedOperator::may_matter(std::span<const std::uint32_t> rows) const {
  const bool is_full =
      !before_.empty() && before_.back().first + before_.back().count == what_.rows_max;
  if (!is_full) return true;
  return std::ranges::any_of(rows,
                             [&](std::uint32_t row) { return items_[row] <= before_.back().item; });
}

void OrderedOperator::compare() {
  auto before = before_.begin();
  auto after = after_.begin();
  while (before != before_.end() || after != after_.end()) {
    const bool has_both = before != before_.end() && after != after_.end();
    const bool is_before = after == after_.end() || (has_both && before->item <= after->item);
    const bool is_after = before == before_.end() || (has_both && after->item <= before->item);
    change(is_before ? before->item : after->item, is_before ? *before : Part(),
           is_after ? *after : Part());
    if (is_before) ++before;
    if (is_after) ++after;
  }
}

void OrderedOperator::change(std::string_view item, const Part& before, const Part& after) {
  if (!what_.is_numbered) {
    if (before.count != after.count) give(item, after.count - before.count, 0);
    return;
  }
  const auto has = [](const Part& part, data::Weight place) {
    return place >= part.first && place < part.first + part.count;
  };
  for (data::Weight place = before.first; place < before.first + before.count; ++place)
    if (!has(after, place)) give(item, -1, place + 1);
  for (data::Weight place = after.first; place < after.first + after.count; ++place)
    if (!has(before, place)) give(item, 1, place + 1);
}

void OrderedOperator::give(std::string_view item, data::Weight weight, data::Weight number) {
  given_.push_back(item);
  given_weights_.push_back(weight);
  if (what_.is_numbered) given_numbers_.push_back(number);
}

Result<> OrderedOperator::flush(Output& out) {
  if (given_.empty()) return {};
  for (std::string_view& item : given_)
    if (!skip_order(item)) return Error(Errc::corruption, "state: the order of a row");
  auto columns = decode_rows(*what_.input, given_);
  if (!columns) return std::move(columns).error();
  if (what_.is_numbered) {
    auto numbers = std::make_shared<data::Column>(data::Kind::int64);
    std::ranges::copy(given_numbers_, numbers->resize<std::int64_t>(given_.size()).begin());
    columns->push_back(std::move(numbers));
  }
  out.emit({schema(), *std::move(columns), std::exchange(given_weights_, {})});
  given_.clear();
  given_numbers_.clear();
  return {};
}

bool OrderedOperator::skip_order(std::string_view& item) const {
  const auto& fields = order_.order.fields();
  for (std::size_t part = 0; part < fields.size(); ++part)
    if (!skip_value(item, fields[part].type.kind, order_.is_descending[part])) return false;
  return true;
}

}  // namespace weir::flow::operators::internal
