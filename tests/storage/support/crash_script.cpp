#include <weir/tests/storage/support/crash_script.hpp>

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/internal/open.hpp>
#include <weir/tests/storage/support/crash_model.hpp>

namespace weir::storage::test {
namespace {

using rocksdb::test::FaultyDisk;

StoreOptions options_for(const std::filesystem::path& directory) {
  StoreOptions options{.directory = directory};
  options.memory_budget = rocksdb::memory_budget_min;
  options.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  options.collect_interval = std::chrono::hours(1000);
  return options;
}

Task<> commit_into(Store* store, Spaces spaces, int number, Result<Version>* outcome) {
  const ScriptCommit commit = script_commit(number);
  Transaction transaction = store->begin();
  for (const auto& [key, value] : commit.rows) {
    if (value) {
      transaction.put(spaces.rows, key, *value);
    } else {
      transaction.remove(spaces.rows, key);
    }
  }
  for (const auto& [key, value] : commit.states) transaction.put(spaces.states, key, value);
  if (commit.checkpoint) {
    transaction.set_checkpoint(script_consumer, commit.checkpoint->version,
                               commit.checkpoint->payload);
  }
  transaction.set_origin(std::to_string(number));
  *outcome = co_await transaction.commit();
}

/// All at once, so that they share a write and a sync.
Task<> commit_together(Store* store, Spaces spaces, int first,
                       std::vector<Result<Version>>* outcomes) {
  TaskScope scope;
  for (Result<Version>& outcome : *outcomes) {
    scope.spawn(commit_into(store, spaces, first++, &outcome));
  }
  co_await scope.join();
}

/// Runs the steps one after the other, as long as they succeed.
class ScriptRun {
 public:
  ScriptRun(FaultyDisk& disk, std::filesystem::path directory)
      : disk_(disk), directory_(std::move(directory)) {
    progress_.acknowledged.assign(fresh_versions + 1, -1);
  }

  ScriptProgress run() && {
    if (open()) {
      commit(3) && commit(1) && collect() && commit(1) && save("first") && commit(4) && commit(1) &&
          reopen() && commit(2) && commit(1) && collect() && commit(1) && commit(1) &&
          save("second") && commit(3) && reopen() && commit(4);
    }
    return std::move(progress_);
  }

 private:
  bool note(const Result<>& result) {
    if (!result && !progress_.failure) progress_.failure = result.error();
    return result.has_value();
  }
  bool open() {
    life_.emplace(disk_, directory_);
    return note(life_->error() ? Result<>(*life_->error()) : Result<>());
  }
  bool reopen() {
    reader_.reset();
    const auto closed = life_->run(life_->store().close());
    life_.reset();
    return note(closed) && open();
  }

  bool commit(std::size_t count) {
    const int first = progress_.begun;
    progress_.begun += static_cast<int>(count);
    std::vector<Result<Version>> outcomes(count, Result<Version>(Version{}));
    life_->run(commit_together(&life_->store(), life_->spaces(), first, &outcomes));
    bool is_done = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_done &= note(outcomes[i] ? Result<>() : Result<>(outcomes[i].error()));
      if (outcomes[i]) acknowledge(*outcomes[i], first + static_cast<int>(i));
    }
    if (is_done && !reader_) reader_.emplace(life_->store().read());
    return is_done;
  }
  void acknowledge(Version version, int commit) {
    auto& order = progress_.acknowledged;
    if (order.size() <= version.number) order.resize(version.number + 1, -1);
    order[version.number] = commit;
  }

  /// What the reader pinned when the store had been opened is kept.
  bool collect() {
    progress_.collected = reader_->version();
    return note(life_->run(life_->store().collect()));
  }
  bool save(const std::string& name) {
    const auto saved = life_->run(life_->store().make_savepoint(name));
    if (saved) progress_.savepoints.push_back(name);
    return note(saved ? Result<>() : Result<>(saved.error()));
  }

  FaultyDisk& disk_;
  const std::filesystem::path directory_;
  ScriptProgress progress_;
  std::optional<StoreLife> life_;
  std::optional<ReadTransaction> reader_;
};

}  // namespace

StoreLife::StoreLife(FaultyDisk& disk, const std::filesystem::path& directory)
    : simulation_({.preemption = 0, .blocking_time_max = {}}) {
  if (auto opened = open(disk, directory); !opened) error_ = opened.error();
}

Result<> StoreLife::open(FaultyDisk& disk, const std::filesystem::path& directory) {
  auto engine =
      disk.open({.directory = directory / "data", .memory_budget = rocksdb::memory_budget_min});
  if (!engine) return engine.error();
  auto core =
      internal::open_core_on(simulation_.system(), options_for(directory), *std::move(engine));
  if (!core) return core.error();
  store_.emplace(internal::StoreAccess::make(simulation_.system(), *std::move(core)));
  auto spaces = simulation_.run(open_spaces(&*store_));
  if (!spaces) return spaces.error();
  spaces_.emplace(*std::move(spaces));
  return {};
}

void make_fresh_store(const std::filesystem::path& directory) {
  Simulation simulation;
  Store store = Store::open(simulation.system(), options_for(directory)).value();
  ASSERT_TRUE(simulation.run(open_spaces(&store)));
  ASSERT_EQ(store.version().number, static_cast<std::uint64_t>(fresh_versions));
}

ScriptProgress run_script(FaultyDisk& disk, const std::filesystem::path& directory) {
  return ScriptRun(disk, directory).run();
}

}  // namespace weir::storage::test
