// How a transaction appends to ring buffers and series.

#include <algorithm>
#include <utility>

#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/append_format.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/flow/view/transaction.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

using internal::AppendTotals;
using internal::EncodedKey;
using internal::EncodedValue;
using internal::RelationInfo;

/// What makes room in a ring buffer.
struct Transaction::Evicted {
  std::vector<EncodedKey> keys = {};
  std::size_t bytes = 0;
  std::uint64_t next = 0;
};

Task<Result<std::uint64_t>> Transaction::append(Relation relation, Row row) {
  WEIR_CO_TRY_VOID(check_appended(relation));
  data::BatchBuilder builder(relation.info().append->schema);
  if (auto added = builder.add(row); !added) {
    co_return Error(added.error().code(), "'" + relation.name() + "': " + added.error().detail());
  }
  co_return co_await append_rows(std::move(relation), builder.finish());
}

Task<Result<std::uint64_t>> Transaction::append(Relation relation, data::ChangeBatch rows) {
  WEIR_CO_TRY_VOID(check_appended(relation));
  WEIR_CO_TRY_VOID(check_rows(relation, *relation.info().append->schema, rows));
  co_return co_await append_rows(std::move(relation), std::move(rows));
}

Result<> Transaction::check_appended(const Relation& relation) {
  if (relation.is_view()) return Error(Errc::not_a_table, "'" + relation.name() + "' is a view");
  if (relation.is_appended()) return {};
  return Error(Errc::invalid_argument, "'" + relation.name() + "' is a table: insert into it");
}

Task<Result<std::uint64_t>> Transaction::append_rows(Relation relation, data::ChangeBatch rows) {
  WEIR_CO_TRY_VOID(co_await check(relation));
  const RelationInfo& info = relation.info();
  WEIR_CO_TRY(known, co_await transaction_.get(catalog_->appends(), info.id));
  AppendTotals totals = known.value_or(AppendTotals());
  const std::uint64_t first = totals.given + 1;
  const data::Columns columns = info.append->with_numbers(rows, first);
  Evicted gone;
  std::size_t without_room = 0;
  if (info.entry.kind == internal::RelationKind::ring_buffer) {
    const std::uint64_t all = totals.rows + rows.size();
    const std::uint64_t excess = all > info.entry.capacity ? all - info.entry.capacity : 0;
    const std::uint64_t evicted = std::min(excess, totals.rows);
    WEIR_CO_TRY(found, co_await find_oldest(relation, totals.oldest, evicted));
    gone = std::move(found);
    totals.oldest = gone.next;
    totals.rows = std::min(all, info.entry.capacity);
    without_room = static_cast<std::size_t>(excess - evicted);
  }
  // Views are given what goes as well.
  WEIR_CO_TRY_VOID(count_bytes(relation, rows.bytes() + gone.bytes));
  for (const EncodedKey& key : gone.keys) transaction_.remove(info.rows, key);
  for (std::size_t row = without_room; row < rows.size(); ++row) {
    EncodedKey key;
    EncodedValue value;
    info.format.encode_key(columns, row, key.bytes);
    info.format.encode_value(columns, row, 1, value.bytes);
    transaction_.put(info.rows, key, value);
  }
  totals.given += rows.size();
  transaction_.put(catalog_->appends(), info.id, totals);
  co_return first;
}

/// The oldest rows of a ring buffer. No row that is left has a smaller number than `next`.
Task<Result<Transaction::Evicted>> Transaction::find_oldest(Relation relation, std::uint64_t oldest,
                                                            std::uint64_t count) {
  const RelationInfo& info = relation.info();
  Evicted found{.next = oldest};
  if (count == 0) co_return found;
  // What went long ago need not be passed over.
  auto scan = transaction_.scan(
      info.rows, storage::KeyRange<EncodedKey>::from(internal::position_key(oldest)));
  while (found.keys.size() < count) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    found.bytes += row->key.bytes.size() + row->value.bytes.size();
    found.keys.push_back(std::move(row->key));
  }
  if (found.keys.size() < count)
    co_return Error(Errc::corruption, "'" + relation.name() + "' has fewer rows than it counts");
  std::string_view bytes = found.keys.back().bytes;
  data::Column position(data::Kind::uint64);
  if (!data::take_ordered(bytes, position) || !bytes.empty())
    co_return Error(Errc::corruption, "'" + relation.name() + "': the position of a row");
  found.next = position.values<std::uint64_t>()[0] + 1;
  co_return found;
}

/// A row of a ring buffer was removed.
Task<Result<>> Transaction::count_removed(Relation relation) {
  const std::uint64_t id = relation.id();
  WEIR_CO_TRY(totals, co_await transaction_.get(catalog_->appends(), id));
  if (!totals || totals->rows == 0)
    co_return Error(Errc::corruption, "'" + relation.name() + "' has more rows than it counts");
  --totals->rows;
  transaction_.put(catalog_->appends(), id, *totals);
  co_return {};
}

}  // namespace weir::flow::view
