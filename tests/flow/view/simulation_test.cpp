// Random tables, views over views and transactions under simulation, with crashes at any point,
// operators and disks that fail, and workers that are late: at every version that can be read,
// every view equals its query evaluated from scratch. Transactional ones over the tables of that
// very version.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/exploring.hpp>
#include <weir/tests/flow/view/support/writer.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using operators::test::describe;
using operators::test::RandomTable;
using operators::test::Rows;

/// How often operators fail.
struct Mood {
  explicit Mood(std::uint64_t seed) : random(seed) {}
  data::test::RandomData random;
  std::uint64_t one_in = 0;  // never

  bool is_bad() { return one_in > 0 && random.one_in(one_in); }
};

/// Gives what it is given, if it is in the mood.
class Moody final : public operators::Operator {
 public:
  Moody(data::SchemaRef schema, Mood* mood) : Operator(std::move(schema)), mood_(mood) {}
  void open(operators::State& state) override { counts_ = &state.add_table(); }
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    // It has begun to change its state when it fails.
    auto slot = counts_->find("calls");
    if (!slot) return std::move(slot).error();
    slot->put(slot->exists() ? std::string(slot->value()) + "." : ".");
    if (mood_->is_bad()) {
      if (mood_->random.one_in(2)) throw std::runtime_error("a bad mood");
      return Error(operators::Errc::row_error, "a bad mood");
    }
    out.emit(input.batch);
    return {};
  }

 private:
  Mood* mood_;
  operators::StateTable* counts_ = nullptr;
};

/// What goes wrong, beside crashes.
struct Trouble {
  bool has_faults = false;
  /// Views may give more than the database takes at once, until the last time it is opened.
  bool has_limits = false;
};

class Scenario {
 public:
  explicit Scenario(Simulation& simulation, Trouble trouble = {})
      : simulation_(simulation),
        random_(simulation.random()),
        has_faults_(trouble.has_faults),
        has_limits_(trouble.has_limits),
        mood_(simulation.random()) {
    EXPECT_TRUE(registry_.add("moody", [this](const operators::OperatorRegistry::Arguments& of) {
      return Result<std::unique_ptr<operators::Operator>>(
          std::make_unique<Moody>(of.inputs[0], &mood_));
    }));
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    store_options_.retention = {.history = 100h, .log = 100h};
    tables_.push_back(RandomTable::make("left", 'l', 3, random_));
    tables_.push_back(RandomTable::make("right", 'r', 3, random_));
  }

  void run() {
    for (int life = 0; life < 3 && !::testing::Test::HasFailure(); ++life) {
      open();
      make_relations();
      begin_writing();
      simulation_.run_steps(random_.below(random_.one_in(2) ? 500 : 4'000));
      make_relations();
      begin_writing();
      disturb();
      const bool is_failing = random_.one_in(4);
      if (is_failing) fail_disk();
      simulation_.run_steps(random_.below(4'000));
      if (!is_failing && !has_limits_ && random_.one_in(3)) settle();
      crash();
    }
    if (::testing::Test::HasFailure()) return;
    is_last_ = true;
    open();
    make_relations();
    settle();
    judge();
  }

 private:
  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto store = storage::Store::open(simulation_.system(), store_options_);
    ASSERT_TRUE(store) << store.error().message();
    store_.emplace(*std::move(store));
    DatabaseOptions options{.workers = 1 + random_.below(3),
                            .row_errors = operators::RowErrorPolicy::drop,
                            .library = {.operators = &registry_},
                            .backfill_rows = 1 + random_.below(12),
                            .cycle = {.records_max = 1 + random_.below(6)},
                            .retry_backoff = 1ms,
                            .failures_max = 1 + static_cast<unsigned>(random_.below(4))};
    if (random_.one_in(2)) options.state_memory_max = 0;
    options.verifies_rows = random_.one_in(2);
    if (has_faults_ && !is_last_ && random_.one_in(2)) options.cycle_deadline = 4ms;
    if (has_limits_ && !is_last_) options.batch_bytes_max = 100 + random_.below(800);
    mood_.one_in = has_faults_ && !is_last_ ? 2 + random_.below(20) : 0;
    auto database = simulation_.run(Database::open(&*store_, options));
    ASSERT_TRUE(database) << database.error().message();
    database_.emplace(*std::move(database));
  }

  /// Those that are missing, and sometimes a view more.
  void make_relations() {
    for (const RandomTable& table : tables_) {
      const auto made = simulation_.run(database_->create_table(table.name(), table.schema()));
      ASSERT_TRUE(made || made.error() == Errc::already_exists) << made.error().message();
    }
    if (plans_.size() < 5) {
      updates_.push_back(random_.one_in(2) ? ViewUpdate::transactional : ViewUpdate::deferred);
      plans_.push_back(random_plan(updates_.back()));
    }
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      // A transactional one that is in a bad mood refuses its writer: they are left in peace.
      const operators::Plan plan =
          is_transactional(number) ? plans_[number] : plans_[number].apply("moody");
      const auto made = simulation_.run(
          database_->create_view(name_of(number), plan, {.update = updates_[number]}));
      ASSERT_TRUE(made || made.error() == Errc::already_exists)
          << made.error().message() << describe(plans_[number]);
    }
  }

  static std::string name_of(std::size_t number) { return "view" + std::to_string(number); }
  bool is_transactional(std::size_t number) const {
    return updates_[number] == ViewUpdate::transactional;
  }

  /// Over tables, and over the views that there are. Transactional ones read no others.
  operators::Plan random_plan(ViewUpdate update) {
    std::vector<RandomTable> sources = tables_;
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      if (update == ViewUpdate::transactional && !is_transactional(number)) continue;
      sources.emplace_back(name_of(number),
                           operators::Graph::make(plans_[number]).value()->schema());
    }
    return operators::test::RandomPlan(sources, random_).make(1 + random_.below(3));
  }

  /// A view is built again, goes on, or is dropped and made again, while others write.
  void disturb() {
    if (plans_.empty() || !random_.one_in(2)) return;
    const std::size_t number = random_.below(plans_.size());
    if (has_faults_ && random_.one_in(3)) {
      // Whether there is something to resume depends on what has happened.
      static_cast<void>(simulation_.run(database_->resume(view_of(number))));
      return;
    }
    if (random_.one_in(2)) {
      const Relation view = simulation_.run(database_->relation(name_of(number))).value();
      const auto begun = simulation_.run(database_->rebuild(view));
      // The coordinator may not have seen a new one yet.
      const bool is_unseen = !begun && begun.error() == Errc::unknown_relation;
      ASSERT_TRUE(begun || (is_unseen && !view.is_transactional())) << begun.error().message();
    } else {
      const auto dropped = simulation_.run(database_->drop_view(name_of(number)));
      ASSERT_TRUE(dropped || dropped.error() == Errc::in_use) << dropped.error().message();
      make_relations();
    }
  }

  /// From some write or sync on, or whoever reads.
  void fail_disk() {
    const Error error(std::make_error_code(std::errc::io_error));
    using storage::engine::Family;
    if (has_faults_ && random_.one_in(2)) {
      store_options_.disk->fail_reads(random_.one_in(2) ? Family::log : Family::state, error);
    } else if (random_.one_in(2)) {
      store_options_.disk->fail_write(1 + random_.below(20), error);
    } else {
      store_options_.disk->fail_sync(1 + random_.below(20), error);
    }
  }

  void begin_writing() {
    std::vector<Relation> tables;
    for (const RandomTable& table : tables_)
      tables.push_back(simulation_.run(database_->relation(table.name())).value());
    for (std::uint64_t writers = random_.below(3); writers > 0; --writers) {
      simulation_.system()
          .spawn<test::Writer>(
              &*database_, tables, simulation_.random(),
              test::WriterOptions{.commits = 1 + static_cast<int>(random_.below(8)), .ids = 20})
          .send<test::Work>();
    }
  }

  Relation view_of(std::size_t number) {
    return simulation_.run(database_->relation(name_of(number))).value();
  }

  /// Everyone is in a good mood, and who had given up goes on.
  void settle() {
    mood_.one_in = 0;
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      const Relation view = view_of(number);
      auto fresh = simulation_.run(database_->fresh(view, store_->version()));
      for (int tries = 0; !fresh && fresh.error() == Errc::quarantined && tries < 100; ++tries) {
        static_cast<void>(simulation_.run(view.is_transactional() ? database_->rebuild(view)
                                                                  : database_->resume(view)));
        fresh = simulation_.run(database_->fresh(view, store_->version()));
      }
      ASSERT_TRUE(fresh) << fresh.error().message() << describe(plans_[number]);
    }
  }

  void crash() {
    store_options_.disk->crash(random_.below(store_options_.disk->unsynced() + 1));
    store_options_.disk->repair();
    simulation_.node().crash();
    database_.reset();
    store_.reset();
  }

  Rows rows_at(storage::Version version, const std::string& name) {
    const Relation relation = simulation_.run(database_->relation(name)).value();
    return simulation_.run(test::read_rows(database_->read_at(version).value(), relation)).value();
  }

  /// What each view should be over the tables of a version.
  const std::map<std::string, Rows>& expected_at(storage::Version version) {
    const auto known = expected_.find(version);
    if (known != expected_.end()) return known->second;
    std::map<std::string, Rows> sources;
    for (const RandomTable& table : tables_)
      sources.emplace(table.name(), rows_at(version, table.name()));
    for (std::size_t number = 0; number < plans_.size(); ++number)
      sources.emplace(name_of(number), operators::test::evaluate(plans_[number], sources));
    return expected_.emplace(version, std::move(sources)).first->second;
  }

  /// Every version that there ever was.
  void judge() {
    std::vector<std::uint64_t> compared(plans_.size());
    for (std::uint64_t number = first_version(); number <= store_->version().number; ++number) {
      const storage::Version version{number};
      const auto position =
          simulation_.run(database_->read_at(version).value().view_position()).value();
      for (std::size_t view = 0; view < plans_.size(); ++view) {
        const Relation relation = simulation_.run(database_->relation(name_of(view))).value();
        const auto found =
            simulation_.run(test::read_rows(database_->read_at(version).value(), relation));
        if (!found && found.error() == Errc::not_ready) continue;
        ASSERT_TRUE(found) << found.error().message();
        const storage::Version shown = is_transactional(view) ? version : position;
        const Rows& expected = expected_at(shown).at(name_of(view));
        ASSERT_EQ(operators::test::to_string(*found), operators::test::to_string(expected))
            << name_of(view) << (is_transactional(view) ? ", transactional," : "") << " at version "
            << number << ", which shows " << shown.number << ": " << describe(plans_[view]);
        ++compared[view];
      }
    }
    for (const std::uint64_t count : compared) EXPECT_GE(count, 1u);
  }

  /// The first one whose tables can be read: they were made one by one.
  static std::uint64_t first_version() { return 1; }

  Simulation& simulation_;
  data::test::RandomData random_;
  bool has_faults_;
  bool has_limits_;
  bool is_last_ = false;
  Mood mood_;
  operators::OperatorRegistry registry_;
  storage::StoreOptions store_options_;
  std::vector<RandomTable> tables_;
  std::vector<operators::Plan> plans_;
  std::vector<ViewUpdate> updates_;  // of the plans
  std::map<storage::Version, std::map<std::string, Rows>> expected_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
};

TEST(ViewSimulation, I12EveryViewEqualsItsQueryAtEveryVersion) {
  explore_in_test(test::exploring(150), [](Simulation& simulation) { Scenario(simulation).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhenEverybodyIsSlow) {
  ExploreOptions slow = test::exploring(60);
  slow.simulation.blocking_time_max = 20ms;
  slow.simulation.faults = {.late_timer = 0.2, .message_time_max = 2ms};
  explore_in_test(slow, [](Simulation& simulation) { Scenario(simulation).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhenWorkersCrash) {
  ExploreOptions crashing = test::exploring(40);
  crashing.simulation.faults = {.actor_crash = 0.02,
                                .applies_to = [](std::string_view, std::string_view name) {
                                  return name.find("worker") != std::string_view::npos;
                                }};
  explore_in_test(crashing,
                  [](Simulation& simulation) { Scenario(simulation, {.has_faults = true}).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhenItGivesTooMuchAtOnce) {
  explore_in_test(test::exploring(50),
                  [](Simulation& simulation) { Scenario(simulation, {.has_limits = true}).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhateverFails) {
  explore_in_test(test::exploring(200),
                  [](Simulation& simulation) { Scenario(simulation, {.has_faults = true}).run(); });
}

TEST(ViewSimulation, I12EveryViewEqualsItsQueryWhateverFailsAndIsLate) {
  ExploreOptions slow = test::exploring(100);
  slow.simulation.blocking_time_max = 20ms;
  slow.simulation.faults = {.late_timer = 0.2, .message_time_max = 2ms};
  explore_in_test(slow,
                  [](Simulation& simulation) { Scenario(simulation, {.has_faults = true}).run(); });
}

}  // namespace
}  // namespace weir::flow::view
