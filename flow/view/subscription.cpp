#include <weir/flow/view/subscription.hpp>

#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/flow/view/internal/flow_run.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view {

struct Subscription::Following {
  std::shared_ptr<const internal::Catalog> catalog;
  Relation relation;
  storage::ChangeLog log;
  storage::ReadLimits limits;
  storage::Version seen;
  std::optional<RowScan> snapshot;  // as of `seen`, as long as there are rows
  // Whether it could be read as of `seen`: a view, once that is known.
  bool knows_ready = false;
  bool is_ready = true;
  storage::ChangeLog::Records records = {};
  std::size_t next_record = 0;

  Task<Result<std::optional<Delta>>> next_of_log();
  Task<Result<std::optional<Delta>>> next_rows();
  Task<Result<>> learn_ready();
  Task<Result<bool>> was_ready() const;
  Result<std::optional<bool>> ready_after(const storage::ChangeRecord& record) const;
  Result<std::optional<Delta>> take(const storage::ChangeRecord& record);
  Result<> check(const storage::ChangeRecord& record) const;
};

Result<Subscription> Database::subscribe(const Relation& relation, SubscribeOptions options) const {
  if (options.after && options.with_snapshot) {
    return Error(Errc::invalid_argument,
                 "a subscription goes on after a version, or begins with a snapshot, not both");
  }
  std::optional<RowScan> snapshot;
  storage::Version seen = options.after.value_or(core_->store->version());
  if (options.with_snapshot) {
    Snapshot now = read();
    seen = now.version();
    snapshot = now.scan(relation);
  }
  return Subscription(std::make_shared<Subscription::Following>(
      Subscription::Following{.catalog = core_->catalog,
                              .relation = relation,
                              .log = core_->store->log(),
                              .limits = options.limits,
                              .seen = seen,
                              .snapshot = std::move(snapshot),
                              // A snapshot finds it out itself.
                              .knows_ready = options.with_snapshot || !relation.is_view()}));
}

Task<Result<Delta>> Subscription::next() {
  const auto following = following_;
  for (;;) {
    WEIR_CO_TRY(delta, co_await following->next_of_log());
    if (delta) co_return *std::move(delta);
    WEIR_CO_TRY_VOID(co_await following->log.wait_past(following->seen));
  }
}

Task<Result<std::optional<Delta>>> Subscription::next_if_any() {
  const auto following = following_;
  co_return co_await following->next_of_log();
}

storage::Version Subscription::seen() const noexcept { return following_->seen; }

/// Of the snapshot, if there are rows left, and then of what is in the log already.
Task<Result<std::optional<Delta>>> Subscription::Following::next_of_log() {
  if (snapshot) {
    WEIR_CO_TRY(rows, co_await next_rows());
    if (rows) co_return rows;
  }
  if (!knows_ready) WEIR_CO_TRY_VOID(co_await learn_ready());
  if (!knows_ready) co_return std::optional<Delta>();
  for (;;) {
    while (next_record < records.size()) {
      // Seen only when it has been taken: after a failure it fails again.
      const storage::ChangeRecord& record = records[next_record];
      WEIR_CO_TRY(delta, take(record));
      seen = record.version();
      ++next_record;
      if (delta) co_return delta;
    }
    next_record = 0;
    records.clear();
    WEIR_CO_TRY(read, co_await log.read(seen, limits));
    if (read.empty()) co_return std::optional<Delta>();
    records = std::move(read);
  }
}

/// The next rows of the snapshot; nothing behind the last.
Task<Result<std::optional<Delta>>> Subscription::Following::next_rows() {
  WEIR_CO_TRY(rows, co_await snapshot->next(limits.records_max));
  const bool is_last = rows.size() < limits.records_max;
  if (is_last) snapshot.reset();
  if (rows.is_empty()) co_return std::optional<Delta>();
  co_return Delta{.changes = std::move(rows),
                  .resume = is_last ? std::optional(seen) : std::nullopt};
}

/// As of where it begins. Unknown until that is there.
Task<Result<>> Subscription::Following::learn_ready() {
  const storage::Store* store = catalog->store();
  if (seen > store->version()) co_return {};
  auto reading = store->read_at(seen);
  if (reading) {
    WEIR_CO_TRY(ready, co_await reading->get(catalog->ready(), relation.id()));
    is_ready = ready.has_value();
  } else {
    WEIR_CO_TRY(ready, co_await was_ready());
    is_ready = ready;
  }
  knows_ready = true;
  co_return {};
}

/// The same of a version that is not kept any more: it is as it is now, unless the log tells of a
/// change.
Task<Result<bool>> Subscription::Following::was_ready() const {
  const storage::ReadTransaction now = catalog->store()->read();
  for (storage::Version at = seen; at < now.version();) {
    WEIR_CO_TRY(read, co_await log.read(at, limits));
    if (read.empty()) break;
    for (const storage::ChangeRecord& record : read) {
      if (record.version() > now.version()) break;
      WEIR_CO_TRY(after, ready_after(record));
      if (after) co_return !*after;
    }
    at = read.back().version();
  }
  WEIR_CO_TRY(ready, co_await now.get(catalog->ready(), relation.id()));
  co_return ready.has_value();
}

/// Whether it can be read then; none if the commit does not change that.
Result<std::optional<bool>> Subscription::Following::ready_after(
    const storage::ChangeRecord& record) const {
  for (const storage::Change& change : record.of(catalog->ready().id())) {
    auto decoded = catalog->ready().decode(change);
    if (!decoded) return std::move(decoded).error();
    if (decoded->key == relation.id() && decoded->before.has_value() != decoded->after.has_value())
      return std::optional(decoded->after.has_value());
  }
  return std::optional<bool>();
}

Result<std::optional<Delta>> Subscription::Following::take(const storage::ChangeRecord& record) {
  if (auto checked = check(record); !checked) return std::move(checked).error();
  auto ready = ready_after(record);
  if (!ready) return std::move(ready).error();
  if (*ready && !**ready) return Error(Errc::not_ready, "view '" + relation.name() + "'");
  // What makes it ready is the last part of what it is then.
  if (!std::exchange(is_ready, is_ready || ready->has_value())) return std::optional<Delta>();
  data::BatchBuilder builder(relation.schema());
  if (auto decoded = internal::decode_changes(relation.info(), record, builder); !decoded)
    return std::move(decoded).error();
  // A row of a view that is there twice now instead of once came once.
  data::ChangeBatch changes = builder.finish().consolidated();
  if (changes.is_empty()) return std::optional<Delta>();
  changes.version = record.version();
  return std::optional(
      Delta{.changes = std::move(changes), .resume = record.version(), .trace = record.trace()});
}

/// Whether the relation is what it was before this commit.
Result<> Subscription::Following::check(const storage::ChangeRecord& record) const {
  for (const storage::Change& change : record.of(catalog->relations().id())) {
    auto decoded = catalog->relations().decode(change);
    if (!decoded) return std::move(decoded).error();
    const bool is_other = decoded->before && decoded->before != decoded->after;
    if (decoded->key == relation.id() && is_other)
      return Error(Errc::stale_relation, "'" + relation.name() + "'");
  }
  return {};
}

}  // namespace weir::flow::view
