#include <weir/flow/view/database.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/flow/view/internal/database_core.hpp>
#include <weir/flow/view/internal/replacement.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::view {

namespace {

/// Writers wait while a transactional view takes a piece of the rows that were there before it.
constexpr std::size_t inline_rows_max = 2'048;

using internal::Catalog;

}  // namespace

Database::Database(std::shared_ptr<internal::DatabaseCore> core, bool closes) noexcept
    : core_(std::move(core)), closes_(closes) {}
Database::Database(Database&&) noexcept = default;

Database::~Database() {
  if (!core_ || !closes_ || core_->gone->published() > 0) return;
  try {
    static_cast<void>(core_->store->system().run(close()));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the views.
    core_->flows.stop();
    core_->coordinator.stop();
  }
}

std::shared_ptr<Database> Database::share() const {
  return std::shared_ptr<Database>(new Database(core_, false));
}

Task<Result<Database>> Database::open(storage::Store* store, DatabaseOptions options) {
  if (options.workers == 0) co_return Error(Errc::invalid_argument, "workers must be 1 or more");
  if (options.backfill_rows == 0 || options.cycle.records_max == 0)
    co_return Error(Errc::invalid_argument, "backfill_rows and records_max must be 1 or more");
  WEIR_CO_TRY(catalog, co_await Catalog::open(store->share()));
  WEIR_CO_TRY_VOID(co_await catalog.sweep_all());
  auto core = std::make_shared<internal::DatabaseCore>();
  core->library = options.library;
  core->batch_bytes_max = options.batch_bytes_max;
  core->catalog = std::make_shared<const Catalog>(std::move(catalog));
  core->store = core->catalog->store();
  core->board = std::make_shared<internal::FlowBoard>();
  core->gone = std::make_shared<SequenceBarrier>();
  core->flows_gone = std::make_shared<SequenceBarrier>();
  if (auto* telemetry = store->system().options().telemetry) {
    core->metrics =
        std::make_unique<internal::FlowMetrics>(core->board, core->store, telemetry->meter());
  }
  const internal::FlowOptions flow{.state_memory_max = options.state_memory_max,
                                   .row_errors = options.row_errors,
                                   .library = options.library,
                                   .verifies_rows = options.verifies_rows,
                                   .output_bytes_max = options.batch_bytes_max,
                                   .cycle_deadline = options.cycle_deadline};
  // Both hold one message of each who waits for an answer, and what they tell themselves: that must
  // not be refused, or views would not move again.
  core->flows = store->system().spawn<internal::TransactionalFlows>(
      SpawnOptions{.name = "flow.transactional", .mailbox_capacity = unbounded}, core->catalog,
      core->board, core->flows_gone,
      internal::TransactionalOptions{
          .flow = flow,
          .backfill_rows = std::min(options.backfill_rows, inline_rows_max),
          .retry_backoff = options.retry_backoff,
          .failures_max = options.failures_max});
  core->coordinator = store->system().spawn<internal::Coordinator>(
      SpawnOptions{.name = "flow.coordinator", .mailbox_capacity = unbounded}, core->catalog,
      core->board, core->gone,
      internal::CoordinatorOptions{
          .flow = flow,
          .workers = options.workers,
          .backfill_rows = options.backfill_rows,
          .backfill_step = options.backfill_step,
          .cycle = options.cycle,
          .retry_backoff = options.retry_backoff,
          .failures_max = options.failures_max,
          .cycle_duration = core->metrics ? core->metrics->cycle_duration() : nullptr});
  Database database(core, true);
  WEIR_CO_TRY_VOID(co_await core->flows.ask<internal::LoadViews>().within(forever));
  WEIR_CO_TRY_VOID(co_await core->coordinator.ask<internal::Start>().within(forever));
  WEIR_CO_TRY_VOID(co_await internal::drop_replacements(core));
  co_return std::move(database);
}

Task<Result<>> Database::close() {
  const auto core = core_;
  const CancellationShield shield;
  core->flows.stop(Stop::when_drained);
  WEIR_CO_TRY_VOID(co_await core->flows_gone->wait_until(1));
  static_cast<void>(co_await core->coordinator.ask<internal::Close>().within(forever));
  core->coordinator.stop(Stop::when_drained);
  WEIR_CO_TRY_VOID(co_await core->gone->wait_until(1));
  co_return {};
}

Task<Result<Relation>> internal::open_relation(std::shared_ptr<const DatabaseCore> core,
                                               std::string name) {
  auto transaction = core->store->begin();
  WEIR_CO_TRY(id, co_await core->catalog->find(transaction, name));
  WEIR_CO_TRY(entry, co_await core->catalog->read(transaction, id));
  WEIR_CO_TRY(info, co_await core->catalog->load(id, std::move(entry)));
  co_return Relation(std::move(info));
}

Task<Result<>> internal::sweep_removed(std::shared_ptr<DatabaseCore> core,
                                       std::vector<std::uint64_t> ids, storage::Version version) {
  // They are dropped already: also if whoever asked for it waits no more.
  const CancellationShield shield;
  const auto reached = co_await core->board->reach(version);
  // One that has stopped sees nothing any more: what is left goes when the store is opened again.
  const bool is_closed = !reached && reached.error() == weir::Errc::stopped;
  if (is_closed || (!reached && core->board->stopped(ViewUpdate::deferred))) co_return {};
  if (!reached) co_return reached.error();
  co_return co_await core->catalog->sweep(std::move(ids));
}

Task<Result<Relation>> Database::relation(std::string name) const {
  return internal::open_relation(core_, std::move(name));
}

Task<Result<std::vector<Relation>>> Database::relations() const {
  const auto core = core_;
  auto reading = core->store->read();
  auto scan = reading.scan(core->catalog->relations());
  std::vector<Relation> relations;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    if (internal::is_hidden(row->value.name)) continue;
    auto info = co_await core->catalog->load(row->key, std::move(row->value));
    if (!info && info.error() == Errc::unknown_relation) continue;  // dropped meanwhile
    if (!info) co_return std::move(info).error();
    relations.emplace_back(*std::move(info));
  }
  std::ranges::sort(relations, {}, &Relation::name);
  co_return relations;
}

ActorSystem& Database::system() const noexcept { return core_->store->system(); }

Transaction Database::begin() const { return Transaction(core_->store->begin(), core_); }

Snapshot Database::read() const { return Snapshot(core_->store->read(), core_->catalog); }

Result<Snapshot> Database::read_at(storage::Version version) const {
  auto reading = core_->store->read_at(version);
  if (!reading) return std::move(reading).error();
  return Snapshot(*std::move(reading), core_->catalog);
}

operators::Plan from(const Relation& relation) {
  return operators::from(relation.name(), relation.schema());
}

}  // namespace weir::flow::view
