// Views that depend on how rows came, under simulation with crashes at any point: at every version
// that can be read, they are what the commits before it, one by one, make of them.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/graph.hpp>
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
using operators::test::History;
using operators::test::RandomTable;
using operators::test::Rows;

class Scenario {
 public:
  explicit Scenario(Simulation& simulation)
      : simulation_(simulation), random_(simulation.random()) {
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    store_options_.retention = {.history = 100h, .log = 100h};
  }

  void run() {
    open();
    make_relations();
    for (int life = 0; life < 3 && !::testing::Test::HasFailure(); ++life) {
      begin_writing();
      simulation_.run_steps(random_.below(3'000));
      if (random_.one_in(3)) settle();
      crash();
      open();
    }
    if (::testing::Test::HasFailure()) return;
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
                            .cycle = {.records_max = 1 + random_.below(6)}};
    if (random_.one_in(2)) options.state_memory_max = 0;
    options.verifies_rows = random_.one_in(2);
    auto database = simulation_.run(Database::open(&*store_, options));
    ASSERT_TRUE(database) << database.error().message();
    database_.emplace(*std::move(database));
  }

  /// Before the first row, so that every view sees all that ever happens.
  void make_relations() {
    const RandomTable table = RandomTable::make("table", 't', 3, random_);
    const RandomTable lines = RandomTable::make("lines", 'l', 2, random_);
    sources_.push_back(simulation_.run(database_->create_table("table", table.schema())).value());
    const auto appended = operators::test::make_schema(lines.schema()->fields());
    sources_.push_back(
        simulation_.run(database_->create_ring_buffer("lines", appended, 1 + random_.below(10)))
            .value());
    sources_.push_back(simulation_.run(database_->create_series("series", appended, "id")).value());
    std::vector<RandomTable> known;
    std::vector<RandomTable> not_deferred;
    for (const Relation& source : sources_) known.emplace_back(source.name(), source.schema());
    not_deferred = known;
    for (std::size_t number = 0; number < 4; ++number) {
      const std::string name = "view" + std::to_string(number);
      const auto update = random_.one_in(2) ? ViewUpdate::transactional : ViewUpdate::deferred;
      const bool is_deferred = update == ViewUpdate::deferred;
      plans_.push_back(operators::test::RandomPlan(is_deferred ? known : not_deferred, random_,
                                                   operators::test::PlanKind::historical)
                           .make(1 + random_.below(4)));
      const auto view =
          simulation_.run(database_->create_view(name, plans_.back(), {.update = update}));
      ASSERT_TRUE(view) << view.error().message() << describe(plans_.back());
      known.emplace_back(name, view->schema());
      if (!is_deferred) not_deferred.emplace_back(name, view->schema());
    }
    settle();
  }

  void begin_writing() {
    std::vector<Relation> relations;
    for (const Relation& source : sources_)
      relations.push_back(simulation_.run(database_->relation(source.name())).value());
    for (std::uint64_t writers = 1 + random_.below(2); writers > 0; --writers) {
      simulation_.system()
          .spawn<test::Writer>(
              &*database_, relations, simulation_.random(),
              test::WriterOptions{.commits = 1 + static_cast<int>(random_.below(10)), .ids = 12})
          .send<test::Work>();
    }
  }

  void settle() {
    for (std::size_t number = 0; number < plans_.size(); ++number) {
      const Relation view =
          simulation_.run(database_->relation("view" + std::to_string(number))).value();
      const auto fresh = simulation_.run(database_->fresh(view, store_->version()));
      ASSERT_TRUE(fresh) << fresh.error().message() << describe(plans_[number]);
    }
  }

  void crash() {
    store_options_.disk->crash(random_.below(store_options_.disk->unsynced() + 1));
    simulation_.node().crash();
    database_.reset();
    store_.reset();
  }

  Rows rows_at(storage::Version version, const std::string& name) {
    const Relation relation = simulation_.run(database_->relation(name)).value();
    return simulation_.run(test::read_rows(database_->read_at(version).value(), relation)).value();
  }

  /// What each view is when it shows a version, commit by commit.
  std::vector<std::vector<Rows>> replay() {
    std::vector<History> histories(plans_.begin(), plans_.end());
    std::vector<std::vector<Rows>> expected(1);
    for (std::uint64_t number = 1; number <= store_->version().number; ++number) {
      std::map<std::string, Rows> sources;
      for (const Relation& source : sources_)
        sources.emplace(source.name(), rows_at(storage::Version{number}, source.name()));
      auto& views = expected.emplace_back();
      for (std::size_t view = 0; view < plans_.size(); ++view) {
        views.push_back(histories[view].next(sources));
        sources.emplace("view" + std::to_string(view), views.back());
      }
    }
    return expected;
  }

  void judge() {
    const auto expected = replay();
    std::uint64_t compared = 0;
    for (std::uint64_t number = 1; number <= store_->version().number; ++number) {
      const storage::Version version{number};
      const auto position =
          simulation_.run(database_->read_at(version).value().view_position()).value();
      for (std::size_t view = 0; view < plans_.size(); ++view) {
        const std::string name = "view" + std::to_string(view);
        const Relation relation = simulation_.run(database_->relation(name)).value();
        const storage::Version shown = relation.is_transactional() ? version : position;
        if (shown == storage::Version{}) continue;
        const auto found =
            simulation_.run(test::read_rows(database_->read_at(version).value(), relation));
        if (!found && found.error() == Errc::not_ready) continue;
        ASSERT_TRUE(found) << found.error().message();
        ASSERT_EQ(operators::test::to_string(*found),
                  operators::test::to_string(expected[shown.number][view]))
            << name << " at version " << number << ", which shows " << shown.number << ": "
            << describe(plans_[view]);
        ++compared;
      }
    }
    EXPECT_GE(compared, plans_.size());
  }

  Simulation& simulation_;
  data::test::RandomData random_;
  storage::StoreOptions store_options_;
  std::vector<Relation> sources_;
  std::vector<operators::Plan> plans_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
};

TEST(ViewSimulation, I12ViewsThatDependOnHistoryAreWhatEveryCommitMadeOfThem) {
  explore_in_test(test::exploring(80), [](Simulation& simulation) { Scenario(simulation).run(); });
}

}  // namespace
}  // namespace weir::flow::view
