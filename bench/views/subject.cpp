#include <weir/bench/views/subject.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <weir/bench/views/sizes.hpp>
#include <weir/bench/views/tables.hpp>
#include <weir/runtime/try.hpp>

namespace weir::bench::views {
namespace {

using flow::data::ChangeBatch;
using flow::view::Database;
using flow::view::Relation;
using flow::view::Snapshot;
using flow::view::Transaction;
using weir::storage::Store;
using weir::storage::Version;

Task<Result<Version>> insert_all(Database* database, Relation table,
                                 const std::vector<ChangeBatch>* batches) {
  Version last;
  for (const ChangeBatch& batch : *batches) {
    auto transaction = database->begin();
    WEIR_CO_TRY_VOID(co_await transaction.insert(table, batch));
    WEIR_CO_TRY(version, co_await transaction.commit());
    last = version;
  }
  co_return last;
}

Task<Result<Version>> insert_and_wait(Database* database, Relation table,
                                      const std::vector<ChangeBatch>* batches, Relation view) {
  WEIR_CO_TRY(last, co_await insert_all(database, table, batches));
  co_return co_await database->fresh(view, last);
}

Task<Result<std::vector<Transaction>>> prepare_all(Database* database, Relation table,
                                                   const std::vector<ChangeBatch>* batches) {
  std::vector<Transaction> transactions;
  for (const ChangeBatch& batch : *batches) {
    transactions.push_back(database->begin());
    WEIR_CO_TRY_VOID(co_await transactions.back().insert(table, batch));
  }
  co_return transactions;
}

Task<Result<Version>> commit_and_wait(Database* database, std::vector<Transaction> transactions,
                                      Relation view) {
  Version last;
  for (Transaction& transaction : transactions) {
    WEIR_CO_TRY(version, co_await transaction.commit());
    last = version;
  }
  co_return co_await database->fresh(view, last);
}

Task<Result<std::int64_t>> add_up(Snapshot snapshot, Relation relation,
                                  std::optional<std::size_t> column) {
  std::int64_t sum = 0;
  auto scan = snapshot.scan(relation);
  for (;;) {
    WEIR_CO_TRY(rows, co_await scan.next());
    if (rows.is_empty()) co_return sum;
    if (!column) {
      sum += static_cast<std::int64_t>(rows.size());
      continue;
    }
    for (const std::int64_t value : rows.column(*column).values<std::int64_t>()) sum += value;
  }
}

}  // namespace

Subject::Subject(const SubjectOptions& options)
    : view_options_(options.views),
      system_({.threads = static_cast<unsigned>(actors::threads())}),
      store_(open(system_, directory_.path() / "store", options)),
      database_(run(Database::open(&store_, options.database))) {}

Subject::~Subject() {
  run(database_->close());
  database_.reset();
}

void Subject::fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  std::_Exit(1);
}

Store Subject::open(ActorSystem& system, const std::filesystem::path& path,
                    const SubjectOptions& options) {
  auto store = options.recording == nullptr
                   ? Store::open(system, {.directory = path, .durability = options.durability})
                   : storage::open_recorded(system, path, options.durability, options.recording);
  if (!store) fail(store.error());
  return *std::move(store);
}

Relation Subject::create_table(std::string name, flow::data::SchemaRef schema) {
  return run(database_->create_table(std::move(name), std::move(schema)));
}

Relation Subject::create_view(std::string name, flow::operators::Plan plan) {
  Relation view = run(database_->create_view(std::move(name), std::move(plan), view_options_));
  run(database_->fresh(view, store_.version()));
  return view;
}

double Subject::insert(const Relation& table, const std::vector<ChangeBatch>& batches,
                       const Relation& view) {
  actors::Stopwatch watch;
  watch.start();
  run(insert_and_wait(&*database_, table, &batches, view));
  watch.stop();
  return watch.elapsed_ns();
}

double Subject::commit(const Relation& table, const std::vector<ChangeBatch>& batches,
                       const Relation& view) {
  auto transactions = run(prepare_all(&*database_, table, &batches));
  actors::Stopwatch watch;
  watch.start();
  run(commit_and_wait(&*database_, std::move(transactions), view));
  watch.stop();
  return watch.elapsed_ns();
}

void Subject::insert(const Relation& table, const std::vector<ChangeBatch>& batches) {
  run(insert_all(&*database_, table, &batches));
}

std::int64_t Subject::total(const Relation& relation, std::optional<std::string> column) {
  std::optional<std::size_t> index;
  if (column) index = relation.schema()->find(*column);
  return run(add_up(database_->read(), relation, index));
}

std::vector<ChangeBatch> make_transactions(std::int64_t count, std::int64_t customers) {
  Random random;
  std::vector<ChangeBatch> batches;
  std::int64_t id = 0;
  for (std::int64_t transaction = 0; transaction < count; ++transaction) {
    OrderBatch orders;
    for (int row = 0; row < transaction_rows; ++row) {
      orders.push_back({.id = id++,
                        .customer = random.below(customers),
                        .amount = random.below(1'000),
                        .price = static_cast<double>(random.below(100'000)) / 100,
                        .weight = 1});
    }
    batches.push_back(decode(orders));
  }
  return batches;
}

}  // namespace weir::bench::views
