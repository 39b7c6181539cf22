#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/directory.hpp>
#include <weir/bench/storage/recording.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::views {

struct SubjectOptions {
  weir::storage::Durability durability = weir::storage::Durability::memory();
  flow::view::DatabaseOptions database = {};
  /// Of all views that are made.
  flow::view::ViewOptions views = {};
  /// If not null, it is told what is written.
  storage::Recording* recording = nullptr;
};

/// A database in a directory of its own, used as an application would: by tasks of a system with
/// two threads. Whatever fails ends the program.
class Subject {
 public:
  explicit Subject(const SubjectOptions& options = {});
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  ActorSystem& system() noexcept { return system_; }
  flow::view::Database& database() noexcept { return *database_; }
  flow::view::Relation create_table(std::string name, flow::data::SchemaRef schema);
  /// Waits until it has all rows.
  flow::view::Relation create_view(std::string name, flow::operators::Plan plan);
  /// One transaction for each batch, then waits until `view` shows them all. In nanoseconds.
  double insert(const flow::view::Relation& table,
                const std::vector<flow::data::ChangeBatch>& batches,
                const flow::view::Relation& view);
  void insert(const flow::view::Relation& table,
              const std::vector<flow::data::ChangeBatch>& batches);
  /// As the first one, but the rows are in their transactions before the clock starts: what is
  /// timed is committing them, and what views do.
  double commit(const flow::view::Relation& table,
                const std::vector<flow::data::ChangeBatch>& batches,
                const flow::view::Relation& view);
  /// How many rows there are; with a column, the sum of that instead.
  std::int64_t total(const flow::view::Relation& relation,
                     std::optional<std::string> column = std::nullopt);

  template <class T>
  T run(Task<Result<T>> task) {
    auto result = system_.run(std::move(task));
    if (!result) fail(result.error());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
  }

 private:
  [[noreturn]] static void fail(const Error& error);
  static weir::storage::Store open(ActorSystem& system, const std::filesystem::path& path,
                                   const SubjectOptions& options);

  storage::Directory directory_;
  flow::view::ViewOptions view_options_;
  ActorSystem system_;
  weir::storage::Store store_;
  std::optional<flow::view::Database> database_;
};

/// Transactions of `transaction_rows` new orders.
std::vector<flow::data::ChangeBatch> make_transactions(std::int64_t count, std::int64_t customers);

}  // namespace weir::bench::views
