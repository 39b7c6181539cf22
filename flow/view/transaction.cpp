#include <weir/flow/view/transaction.hpp>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/flow/view/internal/row_access.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

using internal::EncodedKey;
using internal::EncodedValue;
using internal::RelationInfo;

namespace {

/// A row whose key one before it has, if there is one.
std::optional<std::size_t> find_repeated(const std::vector<EncodedKey>& keys) {
  // As rows are mostly given.
  const auto falling = std::ranges::adjacent_find(keys, std::greater_equal(), &EncodedKey::bytes);
  if (falling == keys.end()) return std::nullopt;
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < keys.size(); ++row)
    if (!seen.insert(keys[row].bytes).second) return row;
  return std::nullopt;
}

}  // namespace

Transaction::Transaction(storage::Transaction transaction,
                         std::shared_ptr<const internal::DatabaseCore> core) noexcept
    : transaction_(std::move(transaction)), core_(std::move(core)), catalog_(core_->catalog) {}

Task<Result<>> Transaction::check(Relation relation) {
  const RelationInfo& info = relation.info();
  if (checked_.contains(&info)) co_return {};
  auto entry = co_await catalog_->read(transaction_, info.id);
  if (!entry && entry.error() != Errc::unknown_relation) co_return std::move(entry).error();
  if (!entry || *entry != info.entry)
    co_return Error(Errc::stale_relation, "'" + relation.name() + "'");
  if (relation.is_view()) {
    WEIR_CO_TRY(ready, co_await transaction_.get(catalog_->ready(), info.id));
    if (!ready) co_return Error(Errc::not_ready, "view '" + relation.name() + "'");
  }
  checked_.insert(&info);
  if (!entry->followers.empty()) followed_.emplace(info.id, relation.shared_info());
  co_return {};
}

Task<Result<>> Transaction::check_table(Relation relation) {
  if (relation.is_view()) co_return Error(Errc::not_a_table, "'" + relation.name() + "' is a view");
  co_return co_await check(relation);
}

Task<Result<>> Transaction::insert(Relation table, Row row) {
  WEIR_CO_TRY(rows, internal::make_row(table.info(), row));
  co_return co_await write(std::move(table), std::move(rows), Mode::insert);
}

/// Many rows to be added.
Result<> Transaction::check_rows(const Relation& relation, const data::Schema& schema,
                                 const data::ChangeBatch& rows) const {
  if (*rows.schema() != schema) {
    return Error(Errc::invalid_argument, "'" + relation.name() + "' has " + to_string(schema) +
                                             ", not " + to_string(*rows.schema()));
  }
  if (std::ranges::any_of(rows.weights(), [](data::Weight weight) { return weight != 1; })) {
    return Error(Errc::invalid_argument,
                 "'" + relation.name() + "': rows to be inserted must have the weight 1");
  }
  if (rows.bytes() > core_->batch_bytes_max) {
    return Error(Errc::too_large, "'" + relation.name() + "': a batch of " +
                                      std::to_string(rows.bytes()) + " bytes, " +
                                      std::to_string(core_->batch_bytes_max) + " at most");
  }
  return {};
}

/// Views are given what a transaction did to a relation all at once: more than they can take is
/// refused here, before it is written.
Result<> Transaction::count_bytes(const Relation& relation, std::size_t bytes) {
  std::size_t& known = bytes_[relation.id()];
  if (known + bytes > core_->batch_bytes_max) {
    return Error(Errc::too_large, "'" + relation.name() + "': " + std::to_string(known + bytes) +
                                      " bytes in one transaction, " +
                                      std::to_string(core_->batch_bytes_max) + " at most");
  }
  known += bytes;
  return {};
}

Task<Result<>> Transaction::insert(Relation table, data::ChangeBatch rows) {
  WEIR_CO_TRY_VOID(check_rows(table, *table.schema(), rows));
  co_return co_await write(std::move(table), std::move(rows), Mode::insert);
}

Task<Result<>> Transaction::update(Relation table, Row row) {
  WEIR_CO_TRY(rows, internal::make_row(table.info(), row));
  co_return co_await write(std::move(table), std::move(rows), Mode::update);
}

Task<Result<>> Transaction::upsert(Relation table, Row row) {
  WEIR_CO_TRY(rows, internal::make_row(table.info(), row));
  co_return co_await write(std::move(table), std::move(rows), Mode::upsert);
}

Task<Result<>> Transaction::write(Relation table, data::ChangeBatch rows, Mode mode) {
  WEIR_CO_TRY_VOID(co_await check_table(table));
  const RelationInfo& info = table.info();
  if (info.append) {
    co_return Error(Errc::append_only,
                    "'" + table.name() + "' is " + to_string(info.entry.kind) + ": append to it");
  }
  std::vector<EncodedKey> keys(rows.size());
  std::size_t bytes = rows.bytes();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    info.format.encode_key(rows.columns(), row, keys[row].bytes);
    if (mode == Mode::upsert) continue;
    WEIR_CO_TRY(found, co_await transaction_.get(info.rows, keys[row]));
    if (mode == Mode::update && !found)
      co_return Error(Errc::unknown_key, internal::describe_key(info, rows, row));
    if (found) bytes += keys[row].bytes.size() + found->bytes.size();
    if (mode == Mode::insert && found)
      co_return Error(Errc::duplicate_key, internal::describe_key(info, rows, row));
  }
  if (const auto row = mode == Mode::insert ? find_repeated(keys) : std::nullopt)
    co_return Error(Errc::duplicate_key, internal::describe_key(info, rows, *row));
  WEIR_CO_TRY_VOID(count_bytes(table, bytes));
  EncodedValue value;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    value.bytes.clear();
    info.format.encode_value(rows.columns(), row, 1, value.bytes);
    transaction_.put(info.rows, keys[row], value);
  }
  co_return {};
}

Task<Result<>> Transaction::remove(Relation table, Row key) {
  WEIR_CO_TRY_VOID(co_await check_table(table));
  WEIR_CO_TRY(encoded, internal::make_key(table.info(), key));
  WEIR_CO_TRY(found, co_await transaction_.get(table.info().rows, encoded));
  if (!found) {
    std::string text;
    for (const data::Value& value : key) text += (text.empty() ? "" : ", ") + to_string(value);
    co_return Error(Errc::unknown_key, "'" + table.name() + "': (" + text + ")");
  }
  WEIR_CO_TRY_VOID(count_bytes(table, encoded.bytes.size() + found->bytes.size()));
  if (table.info().entry.kind == internal::RelationKind::ring_buffer)
    WEIR_CO_TRY_VOID(co_await count_removed(table));
  transaction_.remove(table.info().rows, encoded);
  co_return {};
}

Task<Result<std::optional<Row>>> Transaction::get(Relation relation, Row key) {
  WEIR_CO_TRY_VOID(co_await check(relation));
  WEIR_CO_TRY(encoded, internal::make_key(relation.info(), key));
  WEIR_CO_TRY(found, co_await transaction_.get(relation.info().rows, encoded));
  if (!found) co_return std::optional<Row>();
  WEIR_CO_TRY(row, internal::decode_row(relation.info(), encoded, *found));
  co_return std::optional(std::move(row));
}

Task<Result<storage::Version>> Transaction::commit() {
  if (followed_.empty()) return transaction_.commit();
  std::vector<std::shared_ptr<const RelationInfo>> tables;
  for (const auto& [id, table] : followed_) tables.push_back(table);
  return internal::commit_with_views(core_->flows, core_->store->log(), std::move(transaction_),
                                     std::move(tables));
}

}  // namespace weir::flow::view
