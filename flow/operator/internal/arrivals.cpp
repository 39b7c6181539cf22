#include <weir/flow/operator/internal/arrivals.hpp>

#include <algorithm>
#include <numeric>

#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::operators::internal {
namespace {

using Varint = storage::ValueCodec<std::uint64_t>;

/// The greatest comes first.
void append_turned(std::uint64_t number, std::string& out) { append_number(~number, out); }

}  // namespace

void append_number(std::uint64_t number, std::string& out) {
  storage::KeyCodec<std::uint64_t>::encode(number, out);
}

bool take_number(std::string_view& in, std::uint64_t& number) noexcept {
  return storage::KeyCodec<std::uint64_t>::decode(in, number);
}

void Arrivals::open(State& state) {
  totals_table_ = &state.add_table();
  numbers_table_ = &state.add_groups();
}

void Arrivals::append_identity(const data::Columns& columns, std::size_t row,
                               std::string& out) const {
  if (has_key()) {
    append_columns(columns, input_->primary_key(), row, out);
  } else {
    append_columns(columns, row, out);
  }
}

Result<> Arrivals::take(const data::ChangeBatch& batch) {
  changes_.clear();
  coming_.clear();
  if (auto read = read_totals(); !read) return read;
  if (identities_.size() < batch.size()) identities_.resize(batch.size());
  for (std::size_t row = 0; row < batch.size(); ++row) {
    identities_[row].clear();
    append_identity(batch.columns(), row, identities_[row]);
  }
  order_.resize(batch.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    const int order = identities_[a].compare(identities_[b]);
    return order != 0 ? order < 0 : batch.weights()[a] < batch.weights()[b];
  });
  for (std::size_t from = 0; from < order_.size();) {
    std::size_t until = from + 1;
    while (until < order_.size() && identities_[order_[until]] == identities_[order_[from]])
      ++until;
    const auto rows = std::span(order_).subspan(from, until - from);
    auto taken = has_key() ? take_row(batch, rows) : take_equal(batch, rows.front());
    if (!taken) return taken;
    from = until;
  }
  return {};
}

/// What goes and what comes with one primary key; what goes is first.
Result<> Arrivals::take_row(const data::ChangeBatch& batch, std::span<const std::uint32_t> rows) {
  const auto weights = batch.weights();
  const bool goes = weights[rows.front()] < 0;
  const bool comes = weights[rows.back()] > 0;
  if (rows.size() > 2 || (rows.size() == 2 && !(goes && comes)) ||
      std::abs(weights[rows.front()]) > 1 || weights[rows.back()] > 1) {
    return Error(Errc::unknown_row,
                 "two rows with one primary key: " + describe_row(batch, rows.back()));
  }
  if (!goes) {
    coming_.push_back(rows.back());
    return {};
  }
  GroupTable::Group group = numbers_table_->find(identities_[rows.front()]);
  if (auto read = read_numbers(group, 1); !read) return read;
  if (numbers_.empty()) return {};  // it was evicted
  changes_.push_back({rows.front(), -1, numbers_.front()});
  if (comes) {
    changes_.push_back({rows.back(), 1, numbers_.front()});
    return {};
  }
  group.remove(item_);
  --totals_.rows;
  return {};
}

/// A row that is known by all its columns.
Result<> Arrivals::take_equal(const data::ChangeBatch& batch, std::uint32_t row) {
  const data::Weight weight = batch.weights()[row];
  if (weight > 0) {
    coming_.insert(coming_.end(), static_cast<std::size_t>(weight), row);
    return {};
  }
  GroupTable::Group group = numbers_table_->find(identities_[row]);
  if (auto read = read_numbers(group, static_cast<std::uint64_t>(-weight)); !read) return read;
  for (const std::uint64_t number : numbers_) {
    item_.clear();
    append_turned(number, item_);
    group.remove(item_);
    changes_.push_back({row, -1, number});
    --totals_.rows;
  }
  return {};
}

Result<> Arrivals::read_numbers(GroupTable::Group& group, std::uint64_t count) {
  numbers_.clear();
  auto cursor = group.scan();
  while (numbers_.size() < count) {
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    if (!*more) break;
    std::string_view item = cursor.item();
    item_.assign(item);
    std::uint64_t turned = 0;
    if (!take_number(item, turned) || !item.empty())
      return Error(Errc::corruption, "state: the number of a row");
    numbers_.push_back(~turned);
  }
  return {};
}

Result<> Arrivals::read_totals() {
  totals_ = {};
  auto slot = totals_table_->find({});
  if (!slot) return std::move(slot).error();
  if (!slot->exists()) return {};
  std::string_view bytes = slot->value();
  const bool is_whole =
      Varint::decode(bytes, totals_.given) && Varint::decode(bytes, totals_.rows) && bytes.empty();
  return is_whole ? Result<>() : Error(Errc::corruption, "state: how many rows came");
}

Result<> Arrivals::set_totals(const Totals& totals) {
  auto slot = totals_table_->find({});
  if (!slot) return std::move(slot).error();
  totals_ = totals;
  if (totals.given == 0) return {};
  std::string& bytes = slot->edit();
  bytes.clear();
  Varint::encode(totals.given, bytes);
  Varint::encode(totals.rows, bytes);
  return {};
}

void Arrivals::keep(std::uint32_t row, std::uint64_t number) {
  item_.clear();
  append_turned(number, item_);
  numbers_table_->find(identities_[row]).put(item_, {});
}

void Arrivals::forget(const data::Columns& columns, std::size_t row, std::uint64_t number) {
  identity_.clear();
  append_identity(columns, row, identity_);
  item_.clear();
  append_turned(number, item_);
  numbers_table_->find(identity_).remove(item_);
}

}  // namespace weir::flow::operators::internal
