#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::view::test {

struct Work {};

/// How much, and in how many rows of each table.
struct WriterOptions {
  int commits;
  std::uint64_t ids;
};

/// Changes tables, ring buffers and series at random, in transactions of a few rows.
class Writer final : public Actor<Work> {
 public:
  Writer(const Database* database, std::vector<Relation> relations, std::uint64_t seed,
         WriterOptions options)
      : database_(database),
        relations_(std::move(relations)),
        random_(seed),
        commits_(options.commits),
        ids_(options.ids) {}

  Task<> on(Work) {
    for (; commits_ > 0; --commits_)
      if (!co_await write()) co_return;
  }

 private:
  /// False when the store is gone. What is too much for the database is left out.
  Task<bool> write() {
    auto transaction = database_->begin();
    for (std::uint64_t count = random_.below(5) + 1; count > 0; --count) {
      const auto changed = co_await change(&transaction);
      if (!changed) co_return changed.error() == Errc::too_large;
    }
    const auto version = co_await transaction.commit();
    co_return version || version.error() == storage::Errc::conflict ||
        version.error() == Errc::too_large;
  }

  Task<Result<>> change(Transaction* transaction) {
    const Relation& relation = relations_[random_.below(relations_.size())];
    if (relation.is_appended()) {
      WEIR_CO_TRY_VOID(
          co_await transaction->append(relation, random_.row(*relation.append_schema())));
      co_return {};
    }
    const data::Value id(static_cast<std::int64_t>(random_.below(ids_)));
    WEIR_CO_TRY(before, co_await transaction->get(relation, {id}));
    if (before && random_.one_in(3)) co_return co_await transaction->remove(relation, {id});
    Row row = random_.row(*relation.schema());
    row[0] = id;
    co_return co_await transaction->upsert(relation, std::move(row));
  }

  const Database* database_;
  std::vector<Relation> relations_;
  data::test::RandomData random_;
  int commits_;
  std::uint64_t ids_;
};

}  // namespace weir::flow::view::test
