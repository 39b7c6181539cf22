#include <weir/flow/view/internal/catalog.hpp>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

Task<Result<Catalog>> Catalog::open(storage::Store* store) {
  WEIR_CO_TRY(relations,
              co_await store->open_rows<std::uint64_t, RelationEntry>("weir.flow.relations"));
  WEIR_CO_TRY(names, co_await store->open_rows<std::string, std::uint64_t>("weir.flow.names"));
  WEIR_CO_TRY(counters,
              co_await store->open_state<std::string, std::uint64_t>("weir.flow.counters"));
  WEIR_CO_TRY(dropped, co_await store->open_state<std::uint64_t, bool>("weir.flow.dropped"));
  co_return Catalog(store, std::move(relations), std::move(names), std::move(counters),
                    std::move(dropped));
}

Task<Result<std::uint64_t>> Catalog::find(storage::Transaction& transaction,
                                          std::string name) const {
  WEIR_CO_TRY(id, co_await transaction.get(names_, name));
  if (!id) co_return Error(Errc::unknown_relation, "'" + name + "'");
  co_return *id;
}

Task<Result<RelationEntry>> Catalog::read(storage::Transaction& transaction,
                                          std::uint64_t id) const {
  WEIR_CO_TRY(entry, co_await transaction.get(relations_, id));
  if (!entry) co_return Error(Errc::unknown_relation, "number " + std::to_string(id));
  co_return *std::move(entry);
}

Task<Result<std::uint64_t>> Catalog::add(storage::Transaction& transaction,
                                         RelationEntry entry) const {
  WEIR_CO_TRY(taken, co_await transaction.get(names_, entry.name));
  if (taken) co_return Error(Errc::already_exists, "'" + entry.name + "'");
  WEIR_CO_TRY(last, co_await transaction.get(counters_, "relation"));
  const std::uint64_t id = last.value_or(0) + 1;
  transaction.put(counters_, "relation", id);
  transaction.put(names_, entry.name, id);
  transaction.put(relations_, id, entry);
  co_return id;
}

void Catalog::replace(storage::Transaction& transaction, std::uint64_t id,
                      const RelationEntry& entry) const {
  transaction.put(relations_, id, entry);
}

void Catalog::remove(storage::Transaction& transaction, std::uint64_t id,
                     const std::string& name) const {
  transaction.remove(names_, name);
  transaction.remove(relations_, id);
  transaction.put(dropped_, id, true);
}

Task<Result<EncodedRows>> Catalog::open_rows(std::uint64_t id) const {
  return store_->open_rows<EncodedKey, EncodedValue>("weir.flow.rows." + std::to_string(id));
}

Task<Result<>> Catalog::sweep() const {
  for (;;) {
    auto transaction = store_->begin();
    auto scan = transaction.scan(dropped_);
    WEIR_CO_TRY(dropped, co_await scan.next());
    if (!dropped) co_return {};
    WEIR_CO_TRY(rows, co_await open_rows(dropped->key));
    for (bool has_more = true; has_more;) {
      WEIR_CO_TRY(more, co_await sweep_some(rows, dropped->key));
      has_more = more;
    }
  }
}

/// False when there is nothing left.
Task<Result<bool>> Catalog::sweep_some(EncodedRows rows, std::uint64_t id) const {
  constexpr int at_once = 1'000;
  auto reading = store_->read();
  auto scan = reading.scan(rows);
  auto transaction = store_->begin();
  int removed = 0;
  for (; removed < at_once; ++removed) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    transaction.remove(rows, row->key);
  }
  if (removed < at_once) transaction.remove(dropped_, id);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return removed == at_once;
}

Task<Result<std::shared_ptr<const RelationInfo>>> Catalog::load(std::uint64_t id,
                                                                RelationEntry entry) const {
  auto format = RowFormat::make(entry);
  if (!format) co_return std::move(format).error();
  WEIR_CO_TRY(rows, co_await open_rows(id));
  co_return std::make_shared<const RelationInfo>(
      RelationInfo{id, std::move(entry), *std::move(format), std::move(rows)});
}

}  // namespace weir::flow::view::internal
