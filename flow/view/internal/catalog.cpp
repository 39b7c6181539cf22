#include <weir/flow/view/internal/catalog.hpp>

#include <algorithm>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>

namespace weir::flow::view::internal {

Task<Result<Catalog>> Catalog::open(std::shared_ptr<storage::Store> store) {
  WEIR_CO_TRY(known, co_await store->spaces());
  if (std::ranges::find(known, "weir.flow.state", &storage::SpaceInfo::name) != known.end()) {
    co_return Error(Errc::corruption,
                    "'weir.flow.state': the state of all views in one key space, which is not "
                    "read any more");
  }
  WEIR_CO_TRY(relations,
              co_await store->open_rows<std::uint64_t, RelationEntry>("weir.flow.relations"));
  WEIR_CO_TRY(names, co_await store->open_rows<std::string, std::uint64_t>("weir.flow.names"));
  WEIR_CO_TRY(counters,
              co_await store->open_state<std::string, std::uint64_t>("weir.flow.counters"));
  WEIR_CO_TRY(appends,
              co_await store->open_state<std::uint64_t, AppendTotals>("weir.flow.appends"));
  WEIR_CO_TRY(dropped, co_await store->open_state<std::uint64_t, bool>("weir.flow.dropped"));
  WEIR_CO_TRY(ready, co_await store->open_rows<std::uint64_t, std::uint64_t>("weir.flow.ready"));
  WEIR_CO_TRY(progress, co_await store->open_state<std::uint64_t, Progress>("weir.flow.progress"));
  co_return Catalog(store, {.relations = std::move(relations),
                            .names = std::move(names),
                            .counters = std::move(counters),
                            .appends = std::move(appends),
                            .dropped = std::move(dropped),
                            .ready = std::move(ready),
                            .progress = std::move(progress)});
}

Task<Result<std::uint64_t>> Catalog::find(storage::Transaction& transaction,
                                          std::string name) const {
  WEIR_CO_TRY(id, co_await transaction.get(spaces_.names, name));
  if (!id) co_return Error(Errc::unknown_relation, "'" + name + "'");
  co_return *id;
}

Task<Result<RelationEntry>> Catalog::read(storage::Transaction& transaction,
                                          std::uint64_t id) const {
  WEIR_CO_TRY(entry, co_await transaction.get(spaces_.relations, id));
  if (!entry) co_return Error(Errc::unknown_relation, "number " + std::to_string(id));
  co_return *std::move(entry);
}

Task<Result<std::uint64_t>> Catalog::add(storage::Transaction& transaction,
                                         RelationEntry entry) const {
  WEIR_CO_TRY(taken, co_await transaction.get(spaces_.names, entry.name));
  if (taken) co_return Error(Errc::already_exists, "'" + entry.name + "'");
  WEIR_CO_TRY(last, co_await transaction.get(spaces_.counters, "relation"));
  const std::uint64_t id = last.value_or(0) + 1;
  transaction.put(spaces_.counters, "relation", id);
  transaction.put(spaces_.names, entry.name, id);
  transaction.put(spaces_.relations, id, entry);
  co_return id;
}

void Catalog::replace(storage::Transaction& transaction, std::uint64_t id,
                      const RelationEntry& entry) const {
  transaction.put(spaces_.relations, id, entry);
}

void Catalog::rename(storage::Transaction& transaction, std::uint64_t id, RelationEntry entry,
                     std::string name) const {
  transaction.remove(spaces_.names, entry.name);
  entry.name = std::move(name);
  transaction.put(spaces_.names, entry.name, id);
  transaction.put(spaces_.relations, id, entry);
}

void Catalog::remove(storage::Transaction& transaction, std::uint64_t id, const std::string& name,
                     RelationKind kind) const {
  transaction.remove(spaces_.names, name);
  transaction.remove(spaces_.relations, id);
  transaction.remove(spaces_.appends, id);
  transaction.put(spaces_.dropped, id, kind == RelationKind::view);
}

Task<Result<std::vector<std::string>>> Catalog::readers(storage::Transaction& transaction,
                                                        std::uint64_t id,
                                                        std::optional<std::uint32_t> column) const {
  std::vector<std::string> names;
  auto scan = transaction.scan(spaces_.relations);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    const bool reads = std::ranges::any_of(row->value.sources, [&](const SourceEntry& source) {
      return source.relation == id &&
             (!column || std::ranges::find(source.columns, *column) != source.columns.end());
    });
    if (reads) names.push_back(row->value.name);
  }
  std::ranges::sort(names);
  co_return names;
}

Task<Result<EncodedRows>> Catalog::open_rows(std::uint64_t id) const {
  return store_->open_rows<EncodedKey, EncodedValue>("weir.flow.rows." + std::to_string(id));
}

Task<Result<FlowStateSpace>> Catalog::open_state(std::uint64_t id) const {
  return store_->open_state<EncodedKey, EncodedValue>("weir.flow.state." + std::to_string(id));
}

Task<Result<>> Catalog::sweep_all() const {
  for (;;) {
    auto transaction = store_->begin();
    auto scan = transaction.scan(spaces_.dropped);
    WEIR_CO_TRY(dropped, co_await scan.next());
    if (!dropped) co_return {};
    WEIR_CO_TRY_VOID(co_await drop_spaces(dropped->key, dropped->value));
  }
}

Task<Result<>> Catalog::sweep(std::vector<std::uint64_t> ids) const {
  for (const std::uint64_t id : ids) {
    auto transaction = store_->begin();
    WEIR_CO_TRY(has_state, co_await transaction.get(spaces_.dropped, id));
    if (has_state) WEIR_CO_TRY_VOID(co_await drop_spaces(id, *has_state));
  }
  co_return {};
}

Task<Result<>> Catalog::drop_spaces(std::uint64_t id, bool has_state) const {
  WEIR_CO_TRY(rows, co_await open_rows(id));
  std::optional<FlowStateSpace> state;
  if (has_state) {
    WEIR_CO_TRY(opened, co_await open_state(id));
    state = std::move(opened);
  }
  auto transaction = store_->begin();
  transaction.drop(rows);
  if (state) transaction.drop(*state);
  transaction.remove(spaces_.ready, id);
  transaction.remove(spaces_.progress, id);
  transaction.remove(spaces_.dropped, id);
  transaction.forget_checkpoint(checkpoint_of(id));
  const auto committed = co_await transaction.commit();
  // Someone else has swept at the same time.
  if (committed || committed.error() == storage::Errc::unknown_space) co_return {};
  co_return committed.error();
}

Task<Result<bool>> Catalog::clear_some(storage::Transaction* transaction,
                                       std::shared_ptr<const RelationInfo> view) const {
  constexpr int at_once = 1'000;
  const auto reading = store_->read();
  auto scan = reading.scan(view->rows);
  int removed = 0;
  for (; removed < at_once; ++removed) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    transaction->remove(view->rows, row->key);
  }
  auto state = transaction->scan(*view->state);
  for (; removed < at_once; ++removed) {
    WEIR_CO_TRY(entry, co_await state.next());
    if (!entry) break;
    transaction->remove(*view->state, entry->key);
  }
  co_return removed < at_once;
}

/// Opening a key space makes it if it is not there: of a relation that was dropped, and swept, that
/// goes again, as nobody else would let it go.
Task<Result<>> Catalog::check_there(std::uint64_t id, bool has_state) const {
  auto transaction = store_->begin();
  WEIR_CO_TRY(entry, co_await transaction.get(spaces_.relations, id));
  if (entry) co_return {};
  WEIR_CO_TRY(dropped, co_await transaction.get(spaces_.dropped, id));
  if (dropped) co_return {};
  WEIR_CO_TRY_VOID(co_await drop_spaces(id, has_state));
  co_return Error(Errc::unknown_relation, "number " + std::to_string(id));
}

Task<Result<std::shared_ptr<const RelationInfo>>> Catalog::load(std::uint64_t id,
                                                                RelationEntry entry) const {
  auto format = RowFormat::make(entry);
  if (!format) co_return std::move(format).error();
  auto append = AppendFormat::make(entry);
  if (!append) co_return std::move(append).error();
  WEIR_CO_TRY(rows, co_await open_rows(id));
  std::optional<FlowStateSpace> state;
  if (entry.kind == RelationKind::view) {
    WEIR_CO_TRY(opened, co_await open_state(id));
    state = std::move(opened);
  }
  WEIR_CO_TRY_VOID(co_await check_there(id, state.has_value()));
  co_return std::make_shared<const RelationInfo>(RelationInfo{.id = id,
                                                              .entry = std::move(entry),
                                                              .format = *std::move(format),
                                                              .rows = std::move(rows),
                                                              .state = std::move(state),
                                                              .append = *std::move(append)});
}

}  // namespace weir::flow::view::internal
