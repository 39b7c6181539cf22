#include <weir/flow/view/snapshot.hpp>

#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/flow/view/internal/row_access.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>

namespace weir::flow::view {

namespace {

Task<Result<>> check_ready(std::shared_ptr<const storage::ReadTransaction> transaction,
                           std::shared_ptr<const internal::Catalog> catalog, Relation relation) {
  if (!relation.is_view()) co_return {};
  WEIR_CO_TRY(ready, co_await transaction->get(catalog->ready(), relation.id()));
  if (!ready) co_return Error(Errc::not_ready, "view '" + relation.name() + "'");
  co_return {};
}

/// What is left of a relation that was dropped is a handle of a key space.
Error about(const Relation& relation, const Error& error) {
  if (error != storage::Errc::unknown_space) return error;
  return Error(Errc::unknown_relation, "'" + relation.name() + "' was dropped");
}

}  // namespace

struct RowScan::Reading {
  std::shared_ptr<const storage::ReadTransaction> transaction;
  std::shared_ptr<const internal::Catalog> catalog;
  storage::Scan<internal::EncodedKey, internal::EncodedValue> scan;
  bool has_begun = false;
};

Snapshot::Snapshot(storage::ReadTransaction transaction,
                   std::shared_ptr<const internal::Catalog> catalog)
    : transaction_(std::make_shared<const storage::ReadTransaction>(std::move(transaction))),
      catalog_(std::move(catalog)) {}

Task<Result<data::ChangeBatch>> RowScan::next(std::size_t rows_max) {
  // Kept here, as the task may outlive the scan.
  const Relation relation = relation_;
  const auto reading = reading_;
  if (!reading->has_begun)
    WEIR_CO_TRY_VOID(co_await check_ready(reading->transaction, reading->catalog, relation));
  reading->has_begun = true;
  data::BatchBuilder builder(relation.schema());
  while (builder.size() < rows_max) {
    auto row = co_await reading->scan.next();
    if (!row) co_return about(relation, row.error());
    if (!*row) break;
    const auto& [key, value] = **row;
    auto decoded = relation.info().format.decode(key.bytes, value.bytes, 1, builder);
    if (!decoded) {
      co_return Error(decoded.error().code(),
                      "'" + relation.name() + "': " + decoded.error().detail());
    }
  }
  co_return builder.finish();
}

Task<Result<storage::Version>> Snapshot::view_position() const {
  const auto transaction = transaction_;
  const auto catalog = catalog_;
  WEIR_CO_TRY(position,
              co_await transaction->get(catalog->ready(), internal::Catalog::position_key));
  co_return storage::Version{position.value_or(0)};
}

Task<Result<std::optional<Row>>> Snapshot::get(Relation relation, Row key) {
  WEIR_CO_TRY_VOID(co_await check_ready(transaction_, catalog_, relation));
  WEIR_CO_TRY(encoded, internal::make_key(relation.info(), key));
  const auto found = co_await transaction_->get(relation.info().rows, encoded);
  if (!found) co_return about(relation, found.error());
  if (!*found) co_return std::optional<Row>();
  WEIR_CO_TRY(row, internal::decode_row(relation.info(), encoded, **found));
  co_return std::optional(std::move(row));
}

RowScan Snapshot::scan(const Relation& relation) {
  return RowScan(relation, std::make_shared<RowScan::Reading>(RowScan::Reading{
                               transaction_, catalog_, transaction_->scan(relation.info().rows)}));
}

Result<RowScan> Snapshot::scan(const Relation& relation, const RowRange& range) {
  auto keys = internal::make_range(relation.info(), range);
  if (!keys) return std::move(keys).error();
  return RowScan(relation,
                 std::make_shared<RowScan::Reading>(RowScan::Reading{
                     transaction_, catalog_, transaction_->scan(relation.info().rows, *keys)}));
}

}  // namespace weir::flow::view
