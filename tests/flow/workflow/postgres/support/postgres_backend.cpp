#include <weir/tests/flow/workflow/postgres/support/postgres_backend.hpp>

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/flow/workflow/postgres/internal/notices.hpp>
#include <weir/flow/workflow/postgres/internal/schema.hpp>
#include <weir/flow/workflow/postgres/internal/table.hpp>
#include <weir/tests/flow/workflow/support/board_store.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

ActorSystemOptions quiet_with(telemetry::Telemetry* telemetry) {
  ActorSystemOptions options = weir::testing::quiet();
  options.telemetry = telemetry;
  return options;
}

/// Runs commands in transactions, with nobody beside it who does what is due.
class PostgresBoard final : public testing::BoardStore {
 public:
  explicit PostgresBoard(TestServer* server) : server_(server) {
    drop_schema(*server, schema);
    const auto pool =
        storage::postgres::Pool::open(system_, options_for(*server, schema).database).value();
    system_.run(internal::prepare_schema(pool)).value();
    context_ = std::make_shared<internal::Context>(pool, options_for(*server, schema));
    context_->has_others = false;
    context_->clock = [this] { return now_; };
    batches_ =
        system_.spawn<internal::BatchActor>(context_, [](const internal::Effects&) {}, Time());
  }

  void clear() override {
    clear_schema(*server_, schema);
    told_ = 0;
  }
  void run(Time now, std::shared_ptr<workflow::internal::Command> command) override {
    now_ = now;
    auto job = std::make_shared<internal::CommandJob>(++seed_ * 0x9e3779b97f4a7c15U, command);
    auto done = system_.run(submit(batches_, job));
    if (!done) throw std::runtime_error(done.error().message());
  }
  std::vector<Notice> take_notices() override {
    std::vector<Notice> notices;
    for (;;) {
      auto more = system_.run(internal::read_notices(context_, told_ + 1, 1000)).value();
      if (more.empty()) break;
      told_ = more.back().first;
      for (auto& [number, notice] : more) notices.push_back(std::move(notice));
    }
    return notices;
  }

 private:
  static constexpr const char* schema = "board";

  static Task<Result<bool>> submit(internal::BatchRef batches, internal::JobRef job) {
    co_return co_await batches.ask<internal::Submit>(std::move(job)).within(forever);
  }

  TestServer* const server_;
  ActorSystem system_{weir::testing::quiet()};
  Time now_ = {};
  std::shared_ptr<internal::Context> context_;
  internal::BatchRef batches_;
  std::uint64_t seed_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace

TestServer* shared_server() {
  // It must not end before those who use it.
  static const std::unique_ptr<TestServer> server = TestServer::start({.syncs = true});
  return server.get();
}

Options options_for(const TestServer& server, const std::string& schema) {
  Options options;
  options.database.connection = server.connection() + " options=-csearch_path=" + schema;
  options.database.connections = 3;
  options.database.reconnect_backoff = 1ms;
  options.database.reconnect_backoff_max = 20ms;
  options.database.on_notice = [](const storage::postgres::Notice&) {};
  options.ownership = 500ms;
  return options;
}

void drop_schema(const TestServer& server, const std::string& schema) {
  server.execute("drop schema if exists " + schema + " cascade; create schema " + schema);
}

void clear_schema(const TestServer& server, const std::string& schema) {
  server.execute("set search_path = " + schema + R"(;
    do $$ declare tables text; begin
      select string_agg(tablename, ', ') into tables from pg_tables
        where schemaname = current_schema()
        and tablename not in ('workflow_facts', 'workflow_counters', 'workflow_partitions',
                              'weir_workflow_migrations');
      if tables is not null then execute 'truncate ' || tables; end if;
    end $$;
    update workflow_counters set value = 0;
    update workflow_partitions set owner = null, expires_at = null;)");
}

PostgresBackend::PostgresBackend(TestServer* server, telemetry::Telemetry* telemetry)
    : server_(server),
      clock_(std::make_shared<std::atomic<std::int64_t>>(
          std::chrono::microseconds(std::chrono::hours(24 * 20'000)).count())),
      system_(quiet_with(telemetry)) {
  if (!server->is_running()) server->revive();
  drop_schema(*server);
}

PostgresBackend::~PostgresBackend() {
  engine_.reset();
  store_.reset();
}

void PostgresBackend::open(EngineOptions options) {
  Options chosen = options_for(*server_);
  chosen.cancels_max = options.cancels_max;
  chosen.retention = options.retention;
  chosen.dispatch_spaces = options.dispatch_spaces;
  auto opened = system_.run(internal::PostgresStore::open(&system_, chosen, [clock = clock_] {
    return Time(std::chrono::microseconds(clock->load()));
  }));
  ASSERT_TRUE(opened) << opened.error().message();
  store_ = *std::move(opened);
  engine_.emplace(store_, options.audit);
}

std::map<std::string, std::size_t> PostgresBackend::rows() {
  std::map<std::string, std::size_t> found;
  workflow::internal::PerRecord<workflow::internal::KeyList> kinds;
  kinds.each([&](const auto& kind) {
    using Record = typename std::remove_cvref_t<decltype(kind)>::Record;
    const std::string table = internal::table_of<Record>();
    const auto count = std::stoul(server_->query("select count(*) from test." + table));
    if (count > 0) found[table] = count;
  });
  for (const char* shared : {"lanes", "limits", "keyring", "notice_cursors"}) {
    found.erase(std::string("workflow_") + shared);
  }
  return found;
}

void PostgresBackend::reopen(EngineOptions options) {
  ASSERT_TRUE(system_.run(engine_->close()));
  engine_.reset();
  open(options);
}

void PostgresBackend::fail_commit(std::uint64_t nth) {
  failing_from_ = nth;
  // Each transaction that writes is counted once. Who owns what is not: that is by real time.
  server_->execute(R"(set search_path = test;
    create sequence test.commits;
    create function test.count_commit() returns trigger language plpgsql as $$ begin
      if current_setting('weir.counted', true) is distinct from pg_current_xact_id()::text then
        perform set_config('weir.counted', pg_current_xact_id()::text, true);
        if nextval('test.commits') >= )" +
                   std::to_string(nth) + R"( then raise exception 'the disk is gone'; end if;
      end if;
      return null; end $$;
    do $$ declare name text; begin
      for name in select tablename from pg_tables where schemaname = 'test'
        and tablename not in ('workflow_owners', 'workflow_partitions')
      loop execute 'create trigger count_commit before insert or update or delete on test.'
        || name || ' for each statement execute function test.count_commit()'; end loop;
    end $$;)");
}

void PostgresBackend::let_commit() {
  failing_from_ = 0;
  server_->execute("drop function test.count_commit cascade; drop sequence test.commits");
}

/// Others need not wait, by real time, until it is known that nobody is there.
void PostgresBackend::disown() {
  server_->execute(
      "update test.workflow_partitions set owner = null, expires_at = null;"
      " delete from test.workflow_owners");
}

bool PostgresBackend::has_failed() {
  if (failing_from_ == 0) return false;
  const std::string counted =
      server_->query("select case when is_called then last_value else 0 end from test.commits");
  return std::stoull(counted) >= failing_from_;
}

void PostgresBackend::crash(std::size_t) {
  store_->abandon();
  engine_.reset();
  if (failing_from_ > 0) {
    store_.reset();
    let_commit();
    disown();
    open({});
    return;
  }
  server_->kill();
  server_->revive();
  open({});
}

void PostgresBackend::vanish() {
  store_->abandon();
  engine_.reset();
  store_.reset();
  disown();
  open({});
}

/// As in life: step by step.
void PostgresBackend::pass(Duration time) {
  // Each step asks the database: long times in larger ones.
  const Duration step_max = std::max(Duration(1s), time / 100);
  while (time > Duration::zero()) {
    const Duration step = std::min(time, step_max);
    leap(step);
    time -= step;
  }
}

void PostgresBackend::leap(Duration time) {
  *clock_ += std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  auto settled = system_.run(store_->settle());
  if (!settled && has_failed()) return;
  ASSERT_TRUE(settled) << settled.error().message();
}

}  // namespace weir::flow::workflow::postgres::test

namespace weir::flow::workflow::testing {
namespace {

std::unique_ptr<postgres::test::PostgresBoard> shared_board;

/// Ends the threads of the board before the libraries that they have used are taken down.
class BoardEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override { shared_board.reset(); }
};
[[maybe_unused]] const ::testing::Environment* const board_environment =
    ::testing::AddGlobalTestEnvironment(new BoardEnvironment);

}  // namespace

std::unique_ptr<Backend> make_backend(telemetry::Telemetry* telemetry) {
  auto* server = postgres::test::shared_server();
  if (server == nullptr) return nullptr;
  return std::make_unique<postgres::test::PostgresBackend>(server, telemetry);
}

BoardStore* board_store() {
  auto* server = postgres::test::shared_server();
  if (server == nullptr) throw std::runtime_error("the package postgresql is not installed");
  if (!shared_board) shared_board = std::make_unique<postgres::test::PostgresBoard>(server);
  return shared_board.get();
}

}  // namespace weir::flow::workflow::testing
