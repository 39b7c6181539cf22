#include <weir/flow/view/snapshot.hpp>

#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/flow/view/internal/row_access.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

struct RowScan::Reading {
  storage::Scan<internal::EncodedKey, internal::EncodedValue> scan;
};

Task<Result<data::ChangeBatch>> RowScan::next(std::size_t rows_max) {
  // Kept here, as the task may outlive the scan.
  const Relation relation = relation_;
  const auto reading = reading_;
  data::BatchBuilder builder(relation.schema());
  while (builder.size() < rows_max) {
    WEIR_CO_TRY(row, co_await reading->scan.next());
    if (!row) break;
    auto decoded = relation.info().format.decode(row->key.bytes, row->value.bytes, 1, builder);
    if (!decoded) {
      co_return Error(decoded.error().code(),
                      "'" + relation.name() + "': " + decoded.error().detail());
    }
  }
  co_return builder.finish();
}

Task<Result<std::optional<Row>>> Snapshot::get(Relation relation, Row key) {
  WEIR_CO_TRY(encoded, internal::make_key(relation.info(), key));
  WEIR_CO_TRY(found, co_await transaction_.get(relation.info().rows, encoded));
  if (!found) co_return std::optional<Row>();
  WEIR_CO_TRY(row, internal::decode_row(relation.info(), encoded, *found));
  co_return std::optional(std::move(row));
}

RowScan Snapshot::scan(const Relation& relation) {
  return RowScan(relation, std::make_shared<RowScan::Reading>(
                               RowScan::Reading{transaction_.scan(relation.info().rows)}));
}

}  // namespace weir::flow::view
